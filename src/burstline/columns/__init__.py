"""Array verbs: what NumPy and Arrow lack for columns of integers.

Nothing here knows what a trace is: types of arrays, missing values, groups of equal rows,
rows found by what names them, intervals, and the step from arrays to Arrow.
"""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
