"""How results and progress look; what they are is decided elsewhere."""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
