"""Records as Extrae writes them, for traces that have none: events, states, links, labels."""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
