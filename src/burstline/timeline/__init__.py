"""What each thread did at every moment: pieces of one kind each, and why it waited."""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
