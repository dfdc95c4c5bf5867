"""Analyses asked of one run: declared in a table, computed once each, within a budget."""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
