"""What every reader does with what it reads: calls, messages and collectives put together."""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
