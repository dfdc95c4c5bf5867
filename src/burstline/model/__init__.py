"""What a trace is: its tables, their columns, and what is counted from them once for all."""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
