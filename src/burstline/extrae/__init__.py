"""Extrae's vocabulary: what event types, values, states and labels of its traces mean."""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
