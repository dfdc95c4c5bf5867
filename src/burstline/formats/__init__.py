"""Readers and writers: one module or package per format, one function that picks among them."""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
