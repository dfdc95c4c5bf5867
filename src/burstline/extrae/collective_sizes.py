"""Bytes that collectives send: as Extrae writes them, and as the tables say them.

::

    MPI_Alltoall    Extrae: one block, for one peer     tables: all blocks
    MPI_Reduce      Extrae: 0 at the root               tables: its own part, as of MPI_Gather

The non-blocking kinds alike. The bytes that are received mean the same on both sides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burstline.columns import AnyIntegers, Integers, Mask


_PER_PEER: Final = ("MPI_Alltoall", "MPI_Ialltoall")
_REDUCTIONS: Final = ("MPI_Reduce", "MPI_Ireduce")


def _each(names: Sequence[str], code: AnyIntegers) -> tuple[Mask, Mask]:
    """Which calls exchange blocks, and which are reductions to a root."""
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

    `code` is each call's place in `names`; `root` is negative where a call is no root, sizes
    where they are unknown. MPI wants both sides to be of one size: a call that exchanges
    blocks, or is the root of a reduction, sent as much as it received.

    >>> one = {"root": np.array([-1]), "sent": np.array([8]), "received": np.array([32])}
    >>> sent_in_all(["MPI_Alltoall"], np.array([0]), **one).tolist()
    [32]
    """
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

    `peers` are the members of each call's communicator, 0 where they are unknown. One block
    of those that exchange blocks, 0 at the root of a reduction.

    >>> one = {"root": np.array([-1]), "sent": np.array([32]), "peers": np.array([4])}
    >>> sent_as_written(["MPI_Alltoall"], np.array([0]), **one).tolist()
    [8]
    """
    blocks, reductions = _each(names, code)
    peers = np.where(blocks, np.maximum(peers, 1), 1)
    return np.where(reductions & (root >= 0), 0, sent // peers)
