"""Merging: the bursts of several runs of one program, with what lies around each.

::

    Trace  --burst_table-->  BurstTable: a row per burst
    traces --match-->  Matching: which bursts are the same
    tables, Matching  --fuse-->  Fusion: the bursts of one run with the counters of all

A burst table holds no ids of its trace: operations, communicators and call paths are
written out, so tables of different runs can be compared.
"""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
