"""What a trace is: its tables, their columns, types, units and order.

Importing this package costs nothing: Arrow is loaded by the functions that need it.
"""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
