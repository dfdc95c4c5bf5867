"""Studies: what tells loops apart, and how well bursts can be predicted from counters.

Loops are studied in a trace, bursts in fused tables, as ``burstline merge`` writes
them: those of the base run with the counters of all runs.
"""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
