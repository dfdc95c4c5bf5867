"""Everything that synchronises, as columns: built once from a trace, for all that replays it."""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
