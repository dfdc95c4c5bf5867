"""Matching: from halves that a source recorded apart to messages and collectives.

::

    send halves ────┐
                    ├─ channels ─► integers ─ match_messages ─► the send of each receive
    receive halves ─┘
    parts of collectives ─ collective_instances ─► the instance of each part

Matching needs no clock: MPI orders what happens on a channel and on a communicator
by program order, so skewed clocks are matched exactly as well as perfect ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from burstline.columns import UNKNOWN, begins_run, codes
from burstline.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burstline.columns import AnyIntegers, Integers, Mask


def channels(
    sends: Sequence[AnyIntegers], receives: Sequence[AnyIntegers]
) -> tuple[Integers, Integers]:
    """Name the channel of every send and receive by one integer, shape (sends,).

    A channel is what MPI keeps in order: communicator, source, destination and tag.
    Two halves get the same name if and only if all their columns agree.

    Exact. O(halves) time where the columns' ranges fit into 62 bits together, which is
    usual; else O(halves · log halves).

    >>> import numpy as np
    >>> channels([np.array([0, 0]), np.array([5, 6])], [np.array([0]), np.array([6])])
    (array([0, 1]), array([1]))
    """
    if len(sends) != len(receives):
        raise ParameterError(f"{len(sends)} columns of sends, {len(receives)} of receives")
    of_sends, of_receives = codes(sends, receives)
    return of_sends, of_receives


def match_messages(send_channel: Integers, receive_channel: Integers) -> Integers:
    """Find the send that each receive completed, shape (receives,).

    Messages of one channel (same communicator, source, destination and tag) do not
    overtake each other [1]_: the k-th receive *posted* on a channel completes the k-th
    send of that channel. Wildcards need nothing extra where the source recorded whom
    the message really came from.

    O(n log n) time for n halves, exact. The names of the channels do not matter.
    The answer is wrong, and nothing shows it, where a trace is cut at its *start*: if a
    send was lost and its receive was not, every later pair of that channel shifts by one
    although the counts may still agree. Where receives are taken in the order of their
    completion instead of their posting, receives of one channel that were completed out
    of order (``MPI_Waitany``, ``MPI_Test``) get each other's message.

    Two messages on channel 7 arrive in order; nobody sent on channel 9.

    .. [1] Message Passing Interface Forum, "MPI: A Message-Passing Interface Standard,
       Version 4.1", section 3.5 "Semantics of Point-to-Point Communication", 2023.

    >>> import numpy as np
    >>> match_messages(np.array([7, 8, 7]), np.array([7, 9, 7]))
    array([ 0, -1,  2])
    """
    send_order = np.argsort(send_channel, kind="stable")
    receive_order = np.argsort(receive_channel, kind="stable")
    sent, received = send_channel[send_order], receive_channel[receive_order]
    first_of_channel = np.searchsorted(received, received, side="left")
    ordinal = np.arange(len(received)) - first_of_channel
    candidate = np.searchsorted(sent, received, side="left") + ordinal
    partner = np.full(len(received), UNKNOWN, np.int64)
    if len(sent):
        inside = np.minimum(candidate, len(sent) - 1)
        found = (candidate < len(sent)) & (sent[inside] == received)
        partner[receive_order[found]] = send_order[candidate[found]]
    return partner


@dataclass(frozen=True, slots=True)
class Instances:
    """The instances of collective operations that some parts belong to."""

    # (parts,) the parts sorted by communicator, sequence and rank in the communicator
    order: Integers
    instance: Integers  # (parts,) instance of each part, in the order the parts were given
    # (instances,) communicator of each instance, and its ordinal on it; sorted by both
    communicator: Integers
    sequence: Integers
    complete: Mask  # (instances,) whether every member took part, in one operation


def collective_instances(
    communicator: AnyIntegers,
    sequence: Integers,
    location: AnyIntegers,
    comm_rank: AnyIntegers,
    operation: AnyIntegers,
    *,
    sizes: AnyIntegers,
) -> Instances:
    """Group the parts of collective operations into instances.

    Every process calls the collectives of one communicator in the same order [1]_, so
    the k-th part of each process on a communicator belongs to its k-th instance.
    Non-blocking collectives count where they were started: `sequence` is that ordinal.

    O(parts · log parts) time. Where a trace is cut at its start, members may begin with
    different instances, and every instance is put together wrongly; mixed operations
    show it, equal ones hide it. A communicator that stands for several (two duplicates
    under one id) is sound only while they are not in use at the same time.

    Two locations take part in a first operation, only one in a second.

    .. [1] Message Passing Interface Forum, "MPI: A Message-Passing Interface Standard,
       Version 4.1", section 6.14 "Correctness", 2023.

    >>> import numpy as np
    >>> found = collective_instances(
    ...     np.array([0, 0, 0]),
    ...     np.array([0, 1, 0]),
    ...     np.array([0, 0, 1]),
    ...     np.array([0, 0, 1]),
    ...     np.array([4, 5, 4]),
    ...     sizes=np.array([2]),
    ... )
    >>> found.instance, found.complete
    (array([0, 1, 0]), array([ True, False]))
    """
    parts = len(communicator)
    order = np.lexsort((location, comm_rank, sequence, communicator))
    sorted_communicator, sorted_sequence = communicator[order], sequence[order]
    first = begins_run(sorted_communicator, sorted_sequence)
    instance = np.empty(parts, np.int64)
    instance[order] = np.cumsum(first) - 1
    starts = np.flatnonzero(first)
    return Instances(
        order=order,
        instance=instance,
        communicator=sorted_communicator[starts].astype(np.int64),
        sequence=sorted_sequence[starts],
        complete=_complete(
            first, sorted_communicator, comm_rank[order], operation[order], sizes
        ),
    )


def _complete(
    first: Mask,
    communicator: AnyIntegers,
    comm_rank: AnyIntegers,
    operation: AnyIntegers,
    sizes: AnyIntegers,
) -> Mask:
    starts = np.flatnonzero(first)
    if not len(starts):
        return np.zeros(0, bool)
    known = (communicator >= 0) & (communicator < len(sizes)) & (comm_rank >= 0)
    new_rank = first.copy()
    new_rank[1:] |= comm_rank[1:] != comm_rank[:-1]
    ranks = np.add.reduceat(new_rank.astype(np.int64), starts)
    lowest, highest = (
        extreme.reduceat(operation, starts) for extreme in (np.minimum, np.maximum)
    )
    all_known = np.logical_and.reduceat(known, starts)
    size = np.append(sizes, 0)[np.where(all_known, communicator[starts], len(sizes))]
    return all_known & (lowest == highest) & (ranks == size)
