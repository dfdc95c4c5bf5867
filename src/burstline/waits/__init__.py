"""Where time is lost, and who causes it: wait states, costs of delays, the critical path."""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
