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
    """Tell the calls that exchange blocks, and the reductions to a root."""
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
    """Give the bytes that calls sent in all, from those that Extrae wrote.

    Parameters
    ----------
    names : sequence of str
        The operations.
    code : ndarray of integer, shape (calls,)
        Which of them each call is.
    root : ndarray of integer, shape (calls,)
        Not negative where a call is the root.
    sent, received : ndarray of int64, shape (calls,)
        As written; negative where unknown.

    Returns
    -------
    ndarray of int64, shape (calls,)
        As much as it received where a call exchanged blocks or is the root of a reduction:
        MPI wants both sides to be of one size. What was written in all others.

    Examples
    --------
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
    """Give the bytes that Extrae would write, from those sent in all.

    Parameters
    ----------
    names, code, root
        As of :func:`sent_in_all`.
    sent : ndarray of int64, shape (calls,)
        Bytes sent in all.
    peers : ndarray of integer, shape (calls,)
        Members of each call's communicator; 0 where they are not known.

    Returns
    -------
    ndarray of int64, shape (calls,)
        One block of those that exchange blocks, 0 at the root of a reduction.

    Examples
    --------
    >>> one = {"root": np.array([-1]), "sent": np.array([32]), "peers": np.array([4])}
    >>> sent_as_written(["MPI_Alltoall"], np.array([0]), **one).tolist()
    [8]
    """
    blocks, reductions = _each(names, code)
    peers = np.where(blocks, np.maximum(peers, 1), 1)
    return np.where(reductions & (root >= 0), 0, sent // peers)
