"""Merging: the bursts of several runs of one program, with what lies around each.

::

    Trace  --burst_table-->  BurstTable: a row per burst  --signatures-->  comparable codes
    traces --match-->  Matching: which bursts are the same
    tables, Matching  --fuse-->  Fusion: the bursts of one run with everybody's counters

A burst table holds no ids of its trace: operations, communicators and call paths are
written out, so tables of different runs can be compared.
"""

from burstline.merge.fusion import Fusion, fuse
from burstline.merge.matching import match
from burstline.merge.model import Alignment, Matching, Published, Weights
from burstline.merge.signatures import Signatures, signatures
from burstline.merge.table import BurstTable, burst_parts, burst_table

__all__ = [
    "Alignment",
    "BurstTable",
    "Fusion",
    "Matching",
    "Published",
    "Signatures",
    "Weights",
    "burst_parts",
    "burst_table",
    "fuse",
    "match",
    "signatures",
]
