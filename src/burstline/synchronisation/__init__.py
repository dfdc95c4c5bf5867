"""Everything that synchronises, as columns: built once from a trace, for every replay."""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
