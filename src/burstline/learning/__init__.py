"""Learning: how well the bursts of a program predict their duration, from which counters.

::

    fused tables  --roles-->  base and merged features  --folds, forests-->  Learned
                              what says the target itself is left out

A fused table is what ``burstline merge --dataset`` writes: the bursts of the base run with
the counters of all runs.
"""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
