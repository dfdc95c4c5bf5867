"""Matching: messages and collectives from halves that were recorded separately.

It needs no clock: MPI orders what happens on a channel and on a communicator by program
order, so skewed clocks are matched exactly as well as perfect ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from burstline.columns import (
    UNKNOWN,
    AnyIntegers,
    Integers,
    Mask,
    begins_run,
    coded,
    distinct,
    ordinal_within,
    to_numpy,
)
from burstline.model.operations import FINALIZES, INITS
from burstline.model.trace import Trace


def match_messages(send_channel: Integers, receive_channel: Integers) -> Integers:
    """The send that each receive completed, -1 where there is none, shape (receives,).

    >>> match_messages(np.array([7, 8, 7]), np.array([7, 9, 7]))
    array([ 0, -1,  2])
    """
    # The k-th receive *posted* on a channel completes its k-th send: MPI 4.1, section 3.5.
    # Where a trace is cut at its start, a lost send shifts every later pair of its channel,
    # and nothing shows it.
    send_order = np.argsort(send_channel, kind="stable")
    receive_order = np.argsort(receive_channel, kind="stable")
    sent, received = send_channel[send_order], receive_channel[receive_order]
    first_of_channel = np.searchsorted(received, received, side="left")
    ordinal = np.arange(len(received)) - first_of_channel
    candidate = np.searchsorted(sent, received, side="left") + ordinal
    partner = np.full(len(received), UNKNOWN, np.int64)
    if len(sent):
        inside = np.minimum(candidate, len(sent) - 1)
        is_sent = (candidate < len(sent)) & (sent[inside] == received)
        partner[receive_order[is_sent]] = send_order[candidate[is_sent]]
    return partner


@dataclass(frozen=True, slots=True)
class Instances:
    """The instances of collective operations that some parts belong to."""

    # (parts,) the parts sorted by communicator, sequence and rank in the communicator
    order: Integers
    instance: Integers  # (parts,) instance of each part, in the order of the arguments
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
    """The instances of the parts of collective operations."""
    # Every process calls the collectives of one communicator in the same order (MPI 4.1,
    # section 6.14), so the k-th part of each, counted by `sequence` where it was started, is
    # in the k-th instance. Where a trace is cut at its start, members may begin with different
    # instances: mixed operations show it, equal ones hide it.
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
    is_member = (communicator >= 0) & (communicator < len(sizes)) & (comm_rank >= 0)
    new_rank = first.copy()
    new_rank[1:] |= comm_rank[1:] != comm_rank[:-1]
    ranks = np.add.reduceat(new_rank.astype(np.int64), starts)
    lowest, highest = (
        extreme.reduceat(operation, starts) for extreme in (np.minimum, np.maximum)
    )
    all_known = np.logical_and.reduceat(is_member, starts)
    size = np.append(sizes, 0)[np.where(all_known, communicator[starts], len(sizes))]
    return all_known & (lowest == highest) & (ranks == size)


@dataclass(frozen=True, slots=True)
class WorldCalls:
    """MPI_Init and MPI_Finalize as instances over all ranks of an application."""

    # (instances,) by application: each, whether it is Finalize, and whether no rank is missing
    application: Integers
    is_finalize: Mask
    complete: Mask
    # (members,) by instance and location: the instance of each, and the call that it is
    instance: Integers
    location: Integers
    call: Integers


def init_finalize(trace: Trace) -> WorldCalls:
    """The instances of MPI_Init, or Init_thread, and of MPI_Finalize, from the calls alone."""
    # Some sources have a collective in them, which is the recorder's; most have none.
    parts = [np.zeros((3, 0), np.int64)]
    for calls in trace.batches("calls", ["location", "call", "operation"]):
        codes, names = coded(calls["operation"])
        initial, final = (
            np.isin(codes, [code for code, name in enumerate(names) if name in wanted])
            for wanted in (INITS, FINALIZES)
        )
        rows = np.flatnonzero(initial | final)
        location, call = (to_numpy(calls[name])[rows] for name in ("location", "call"))
        parts.append(np.stack([location, call, final[rows]]).astype(np.int64))
    location, call, is_final = np.concatenate(parts, axis=1)
    applications, process = (
        column.astype(np.int64)
        for column in trace.arrays("locations", "application", "process")
    )
    numbers, application = np.unique(applications, return_inverse=True)
    # A process makes each of them once; if it says otherwise, its k-th is in the k-th instance.
    turn = ordinal_within(process[location], is_final)
    first, instance = distinct(application[location], is_final, turn)
    ranks = np.bincount(application[distinct(process)[0]], minlength=1)
    order = np.lexsort((location, instance))
    return WorldCalls(
        application=numbers[application[location[first]]],
        is_finalize=is_final[first] == 1,
        complete=np.bincount(instance, minlength=len(first))
        == ranks[application[location[first]]],
        instance=instance[order],
        location=location[order],
        call=call[order],
    )
