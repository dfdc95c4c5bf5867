"""Learning: how well the bursts of a program predict their duration, from which counters.

It reads fused tables, as ``burstline merge --dataset`` writes them: the bursts of the base run
with the counters of all runs.
"""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
