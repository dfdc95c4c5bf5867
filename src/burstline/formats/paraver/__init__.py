"""Paraver traces: ``.prv`` or ``.prv.gz``, with ``.pcf`` and ``.row`` beside it."""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
