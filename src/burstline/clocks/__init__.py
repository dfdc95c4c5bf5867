"""Logical clocks: stamps that tell what the program did, without the noise of the machine."""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
