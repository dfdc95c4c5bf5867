"""The browser: a structure in a terminal, to be folded, filtered and looked into."""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
