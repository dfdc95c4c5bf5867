"""Tokens: numbers for the names of bursts, the same in every run.

A burst is named by the call before it: its operation, its place in the source and in loops,
its partner and its size. Which of several requests a call completed is known from the message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.columns import (
    NO_VALUE,
    UNKNOWN,
    Floats,
    Integers,
    Mask,
    begins_run,
    coded,
    prefix_sums,
    run_lengths,
    take,
)
from burstline.identity.call_paths import Paths, clean_paths
from burstline.identity.calls import SPAN_COLLECTIVES
from burstline.identity.communicators import communicator_labels
from burstline.identity.vocabulary import Vocabulary
from burstline.model import BLOCKING_SENDS, IMMEDIATE_SENDS, Trace

Codes = npt.NDArray[np.int32]
Hashes = npt.NDArray[np.uint64]

ANY_COMPLETION: Final = frozenset(
    f"MPI_{name}" for name in ("Waitany", "Waitsome", "Test", "Testany", "Testsome")
)
"""Operations whose order is not the program's."""
_SENDS: Final = frozenset({*BLOCKING_SENDS, *IMMEDIATE_SENDS})
WILDCARD: Final = frozenset(f"MPI_{name}" for name in ("Recv", "Mrecv", "Probe", "Mprobe"))
"""Operations whose partner may be the first that comes."""
NOTHING: Final = 0
"""Operation where there is none: its name is empty."""
LOOSE: Final = -2
"""Of bursts that the program may have put elsewhere, by what came first."""

_NUMBERED: Final = ("label", "kind", "matter", "pattern")
"""Columns of tokens whose numbers mean the same in all runs."""

_HALF: Final = 32
"""Bits of an operation in a pattern on its way to its number."""

_MIXERS: Final = (
    np.uint64(0x9E3779B97F4A7C15),
    np.uint64(0xBF58476D1CE4E5B9),
    np.uint64(0x94D049BB133111EB),
)


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """The bursts of one run, row after row of its table of bursts."""

    offsets: Integers  # (locations + 1,) where the bursts of each location begin
    # (bursts,) equal for bursts that are alike in everything but time; in everything but size
    # and time. The same number means the same in all runs that were read together.
    label: Codes
    kind: Codes
    # (bursts,) equal for bursts of one operation, tag and size, of any place and partner
    matter: Codes
    # (bursts,) operation before and after: index into the patterns of the :class:`Naming`
    pattern: Codes
    span: Integers  # (bursts,) collective operations of its thread before it
    place: Floats  # (bursts,) where in its span the burst begins, from 0 to 1
    # (bursts,) bytes that the call before, and the call after, sent or received
    sizes: tuple[Floats, Floats]
    # (bursts,) world rank that the call before, and the call after, reached; -1 if none or
    # several
    partners: tuple[Codes, Codes]
    divides: Mask  # (bursts,) whether the call before is a collective that ends a span
    sends: Mask  # (bursts,) whether the call before started a send
    # (bursts,) equal for neighbours whose order is not the program's; :data:`LOOSE` for what
    # may have the first partner that comes, and for neighbours of completions; else -1
    unordered: Integers
    # (bursts,) which iteration of the outermost loop around the burst, -1 outside of loops
    turn: Codes | None = None  # none if the traces do not have them all


@dataclass(frozen=True, slots=True, eq=False)
class LoopTurns:
    """The loop around each call of a trace."""

    # (calls,) position of the name of the innermost loop, -1 if there is none, or if loops
    # were detected in the trace
    number: Integers
    turn: Codes  # (calls,) which iteration of the outermost loop that iterates; -1 outside
    names: list[str]  # of the loops, the same in all runs


class Naming(NamedTuple):
    """The tokens of several runs, and what distinguishes their bursts."""

    tokens: list[Tokens]  # one for each run
    # operation before and after, by the number of the pattern; "" is none
    patterns: list[tuple[str, str]]
    # whether call paths distinguish bursts. They do not where most call paths of a run are in
    # no other: unresolved addresses differ from run to run.
    has_paths: bool
    # whether loops do, or their turns: all runs say which loop calls are in, and mostly the
    # same ones
    has_loops: bool


def tokens_of(traces: Sequence[Trace], loops: Sequence[LoopTurns | None]) -> Naming:
    """The bursts of runs of one program, named alike; `loops` are those around their calls."""
    words = _Words()
    paths = [words.path(trace) for trace in traces]
    has_paths = any(len(np.unique(path)) > 1 for path in paths) and _are_common(paths)
    around = [(words.loop(each), each.turn) for each in loops if each is not None]
    # mostly the same loops, or none of them has a name
    has_loops = len(around) == len(traces) and _are_common(
        [loop[loop >= 0] for loop, _ in around]
    )
    hashed = [
        _hashed_bursts(
            trace, words, path if has_paths else None, around[run] if has_loops else None
        )
        for run, (trace, path) in enumerate(zip(traces, paths, strict=True))
    ]
    columns = {
        name: _number_values([getattr(run, name) for run in hashed]) for name in _NUMBERED
    }
    tokens = []
    for run, each in enumerate(hashed):
        numbers: dict[str, Any] = {name: codes[run] for name, (codes, _) in columns.items()}
        tokens.append(replace(each, **numbers))
    names = words.operations.names
    halves = (divmod(pattern, 1 << _HALF) for pattern in columns["pattern"][1].tolist())
    patterns = [(names[before], names[after]) for before, after in halves]
    return Naming(tokens, patterns, has_paths, has_loops)


class _Words:
    """The vocabularies of several runs, and the numbers of their calls in them."""

    def __init__(self) -> None:
        self.operations = Vocabulary([""])
        self._paths = Paths()
        self._communicators: Vocabulary[str] = Vocabulary()
        self._loops: Vocabulary[str] = Vocabulary()

    def operation(self, trace: Trace) -> Integers:
        """The operation of each call, shape (calls,)."""
        codes, names = coded(trace.table("calls")["operation"])
        return self.operations.numbers(names)[codes]

    def path(self, trace: Trace) -> Integers:
        """The place in the source of each call, shape (calls,)."""
        number, paths = clean_paths(trace)
        (path,) = trace.arrays("calls", "call_path")
        return np.array(self._paths.merged(paths), np.int64)[number][path]

    def communicator(self, trace: Trace) -> Integers:
        """The communicator of each call, -1 where it has none, shape (calls,)."""
        (communicator,) = trace.arrays("calls", "communicator")
        return take(self._communicators.numbers(communicator_labels(trace)), communicator)

    def loop(self, loops: LoopTurns) -> Integers:
        """The loop around each call, -1 where it has none, shape (calls,)."""
        return take(self._loops.numbers(loops.names), loops.number)


def _are_common(codes: Sequence[Integers]) -> bool:
    """Whether at least half of each run's codes are found in all others."""
    shared = np.unique(codes[0])
    for other in codes[1:]:
        shared = np.intersect1d(shared, other)
    return all(np.isin(run, shared).sum() * 2 >= len(run) for run in codes)


def _hashed_bursts(
    trace: Trace, words: _Words, path: Integers | None, loop: tuple[Integers, Codes] | None
) -> Tokens:
    """The bursts of a run, with hashes in place of the numbers that mean the same in all."""
    location, start_ns, *calls = trace.arrays(
        "bursts", "location", "start_ns", "call_before", "call_after"
    )
    location = location.astype(np.int64)
    offsets, first = trace.offsets("bursts"), trace.offsets("calls")[location]
    before, after = (np.where(call >= 0, first + call, UNKNOWN) for call in calls)
    operation = words.operation(trace)
    peer, tag, sent, received = trace.arrays(
        "calls", "peer", "tag", "sent_bytes", "received_bytes"
    )
    completed = _Completed(trace, len(operation))
    single = completed.count == 1
    peer = np.where((peer == UNKNOWN) & single, completed.partner, peer).astype(np.int32)
    tag = np.where((tag == UNKNOWN) & single, completed.tag, tag)
    size = np.maximum(_or_zero(sent) + _or_zero(received), completed.bytes)
    site = _row_hashes(
        operation, *(place for place in (path, loop and loop[0]) if place is not None)
    )
    is_any = words.operations.among(operation, ANY_COMPLETION)
    which = np.where(is_any, completed.all, np.uint64(0))
    kind = _row_hashes(site, words.communicator(trace), peer, tag, which)
    label = _row_hashes(kind, size, completed.all)
    matter = _row_hashes(operation, tag, size)
    pattern = take(operation, before, NOTHING) << _HALF | take(operation, after, NOTHING)
    is_any, divides, serves, sends = (
        take(words.operations.among(operation, names), before, missing=False)
        for names in (ANY_COMPLETION, SPAN_COLLECTIVES, WILDCARD, _SENDS)
    )
    passed = prefix_sums(divides)
    span = passed[1:] - passed[offsets[:-1]][location]
    return Tokens(
        offsets=offsets,
        label=take(label, before, 0),
        kind=take(kind, before, 0),
        matter=take(matter, before, 0),
        pattern=pattern,
        span=span,
        place=_places_in_spans(start_ns, span, location),
        sizes=(take(size, before, 0).astype(float), take(size, after, 0).astype(float)),
        partners=(take(peer, before), take(peer, after)),
        divides=divides,
        sends=sends,
        unordered=_completion_runs(is_any, serves, take(site, before, 0), location),
        turn=None if loop is None else take(loop[1], before),
    )


class _Completed:
    """What is known of each call from the messages that it completed, each shape (calls,)."""

    def __init__(self, trace: Trace, calls: int) -> None:
        self.count = np.zeros(calls, np.int64)
        self.all = np.zeros(calls, np.uint64)
        self.partner = np.full(calls, UNKNOWN, np.int32)
        self.tag = np.full(calls, UNKNOWN, np.int64)
        self.bytes = np.zeros(calls, np.int64)
        (rank,) = trace.arrays("locations", "rank")
        first = trace.offsets("calls")[:-1]
        # Receives come first: of a call that completes both, its receives are the reason why
        # the program goes on as it does.
        for near, far, call, size in (
            ("receiver_location", "sender_location", "receive_call", "received_bytes"),
            ("sender_location", "receiver_location", "send_done_call", "sent_bytes"),
        ):
            location, other, done, tag, moved = trace.arrays(
                "messages", near, far, call, "tag", size
            )
            is_first = (done >= 0) & (location >= 0)
            row = np.where(is_first, first[location] + done, 0)
            is_first &= self.count[row] == 0
            row, partner, tag = row[is_first], rank[other[is_first]], tag[is_first]
            end = np.full(len(row), call == "receive_call")
            np.add.at(self.all, row, _row_hashes(end, partner, tag))
            np.add.at(self.count, row, 1)
            np.add.at(self.bytes, row, _or_zero(moved)[is_first])
            self.partner[row], self.tag[row] = partner, tag


def _or_zero(column: Integers) -> Integers:
    return np.where(column == NO_VALUE, 0, column)


def _row_hashes(*columns: npt.NDArray[Any]) -> Hashes:
    """A hash of each row of some columns; splitmix64's mixer, once for each column."""
    # among 16 million different rows, two have the same 64 bits with a probability of 1e-5
    hashed = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        hashed = hashed * _MIXERS[0] + column.astype(np.uint64) + _MIXERS[0]
        hashed = (hashed ^ (hashed >> np.uint64(30))) * _MIXERS[1]
        hashed = (hashed ^ (hashed >> np.uint64(27))) * _MIXERS[2]
        hashed ^= hashed >> np.uint64(31)
    return hashed


def _number_values(columns: Sequence[npt.NDArray[Any]]) -> tuple[list[Codes], npt.NDArray[Any]]:
    """The numbers of the values of several columns, and the value of each number."""
    whole = pa.chunked_array([pa.array(column) for column in columns])
    encoded = whole.combine_chunks().dictionary_encode()
    numbers = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    ends = np.cumsum([len(column) for column in columns])
    return np.split(numbers, ends[:-1]), encoded.dictionary.to_numpy()


def _places_in_spans(start_ns: Integers, span: Integers, location: Integers) -> Floats:
    """Where each burst begins between the first and the last of its span, 0 to 1."""
    begins = np.flatnonzero(begins_run(span, location))
    lengths = run_lengths(begins, len(span))
    first, last = (
        np.repeat(start_ns[rows], lengths) for rows in (begins, begins + lengths - 1)
    )
    return (start_ns - first) / np.maximum(last - first, 1)


def _completion_runs(is_any: Mask, serves: Mask, site: Hashes, location: Integers) -> Integers:
    """The number of each run of completions of one site, and how loose all others are."""
    new = begins_run(location, site)
    new[1:] |= ~is_any[:-1]
    # what came first may be elsewhere next time, and with it what is beside it
    decides, loose = serves | is_any, serves | is_any
    beside = location[1:] == location[:-1]
    loose[1:] |= beside & decides[:-1]
    loose[:-1] |= beside & decides[1:]
    return np.where(is_any, np.cumsum(new), np.where(loose, LOOSE, UNKNOWN))
