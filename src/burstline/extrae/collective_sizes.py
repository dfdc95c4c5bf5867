"""Bytes that collectives send, in Extrae's traces and in the tables.

Of MPI_Alltoall, Extrae writes one block, for one peer, and the tables have all; of MPI_Reduce,
0 and the root's own part, as of MPI_Gather. Bytes received mean the same on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from burstline.columns import AnyIntegers, Integers, Mask

_PER_PEER: Final = ("MPI_Alltoall", "MPI_Ialltoall")
_REDUCTIONS: Final = ("MPI_Reduce", "MPI_Ireduce")
SIZED_OTHERWISE: Final = (*_PER_PEER, *_REDUCTIONS)
"""The operations whose sizes differ from those that Paraver shows."""


def _each(names: Sequence[str], code: AnyIntegers) -> tuple[Mask, Mask]:
    """Whether each call exchanges blocks, and whether it is a reduction to a root."""
    blocks = [position for position, name in enumerate(names) if name in _PER_PEER]
    reductions = [position for position, name in enumerate(names) if name in _REDUCTIONS]
    return np.isin(code, blocks), np.isin(code, reductions)


def sent_in_all(
    names: Sequence[str],
    code: AnyIntegers,
    *,
    root: AnyIntegers,
    sent: Integers,
    received: Integers,
) -> Integers:
    """The bytes that calls sent in all, from those that Extrae wrote, shape (calls,).

    `code` is each call's place in `names`; `root` is negative for calls that are no root.
    """
    # MPI wants both sides to be of one size: such calls sent as much as they received.
    blocks, reductions = _each(names, code)
    blocks &= (sent > 0) & (received % np.maximum(sent, 1) == 0)
    reductions &= (root >= 0) & (sent == 0) & (received > 0)
    return np.where(blocks | reductions, received, sent)


def sent_as_written(
    names: Sequence[str],
    code: AnyIntegers,
    *,
    root: AnyIntegers,
    sent: Integers,
    peers: AnyIntegers,
) -> Integers:
    """The bytes that Extrae would write, from those sent in all, shape (calls,).

    `peers` are the members of each call's communicator, 0 where unknown.
    """
    blocks, reductions = _each(names, code)
    peers = np.where(blocks, np.maximum(peers, 1), 1)
    return np.where(reductions & (root >= 0), 0, sent // peers)
