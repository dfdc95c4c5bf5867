"""Merging: the bursts of several runs of one program, with what lies around each.

::

    Trace  --burst_table-->  BurstTable: a row per burst  --signatures-->  comparable codes

A burst table holds no ids of its trace: operations, communicators and call paths are
written out, so tables of different runs can be compared.
"""

from burstline.merge.signatures import Signatures, signatures
from burstline.merge.table import BurstTable, burst_parts, burst_table

__all__ = ["BurstTable", "Signatures", "burst_parts", "burst_table", "signatures"]
