"""Signatures: what repeats in a run, and the short run that predicts a long one by it."""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
