"""Merging: the bursts of several runs of one program, with what lies around each.

::

    Trace  --burst_table-->  BurstTable: a row per burst, its texts written out
    traces --match-->  Matching: which bursts are the same
    tables, Matching  --fuse-->  Fusion: the bursts of one run with the counters of all
"""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
