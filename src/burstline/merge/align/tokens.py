"""What each burst is called, in words that mean the same in every run.

::

    Trace  --tokens_of-->  Tokens: a label, a kind, a place … per burst

A burst is what a program does after the call before it, so it is called after that call:
its operation, where in the source it stands and in which loop, whom it reached, how much it
moved. Of a call that completes one of several requests, which one it was is known from the
message alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from burstline.columns import begins_run
from burstline.merge.align.words import NOTHING, Words
from burstline.merge.context import SPAN_COLLECTIVES
from burstline.operations import BLOCKING_SENDS, IMMEDIATE_SENDS
from burstline.schema import NO_VALUE, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from burstline.columns import Floats, Integers, Mask
    from burstline.trace import Trace

    Codes = npt.NDArray[np.int32]
    Hashes = npt.NDArray[np.uint64]

ANY_COMPLETION: Final = frozenset(
    f"MPI_{name}" for name in ("Waitany", "Waitsome", "Test", "Testany", "Testsome")
)
"""Operations whose order is not the program's."""
WILDCARD: Final = frozenset(f"MPI_{name}" for name in ("Recv", "Mrecv", "Probe", "Mprobe"))
"""Operations that may serve whoever comes first."""
LOOSE: Final = -2
"""Of bursts that the program may have put elsewhere, by what came first."""

GAP: Final = 0.15
"""What it costs to leave out a burst: two together are as dear as a match may be."""
DIVIDING_GAP: Final = 0.5
"""The same for one that a collective is before: all ranks would have to miss it."""

_ODD: Final = (
    np.uint64(0x9E3779B97F4A7C15),
    np.uint64(0xBF58476D1CE4E5B9),
    np.uint64(0x94D049BB133111EB),
)


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """The bursts of one run, row after row of its table of bursts.

    Attributes
    ----------
    offsets : ndarray of int64, shape (locations + 1,)
        Where the bursts of each location begin.
    label, kind : ndarray of int32, shape (bursts,)
        Equal for bursts that are alike in everything but time; in everything but size and
        time. The same number means the same in all runs that were read together.
    matter : ndarray of int32, shape (bursts,)
        Equal for bursts of one operation, tag and size, wherever it stands and whoever it
        reached.
    pattern : ndarray of int32, shape (bursts,)
        Operation before and after: index into the patterns that :func:`tokens_of` gives.
    span : ndarray of int64, shape (bursts,)
        Collective operations of its thread before it.
    place : ndarray of float64, shape (bursts,)
        Where in its span the burst begins, from 0 to 1.
    sizes : tuple of two ndarray of float64, shape (bursts,)
        Bytes that the call before, and the call after, sent or received.
    partners : tuple of two ndarray of int32, shape (bursts,)
        World rank that the call before, and the call after, reached; -1 if none or several.
    gap : ndarray of float64, shape (bursts,)
        What it costs an alignment to leave the burst out.
    sends : ndarray of bool, shape (bursts,)
        Whether the call before started a send.
    unordered : ndarray of int64, shape (bursts,)
        Equal for neighbours whose order is not the program's; :data:`LOOSE` for what may
        serve whoever comes first, and for neighbours of completions; -1 for all others.
    turn : ndarray of int32, shape (bursts,), optional
        Which iteration of the outermost loop around the burst, -1 outside of loops; none if
        nobody knows.
    """

    offsets: Integers
    label: Codes
    kind: Codes
    matter: Codes
    pattern: Codes
    span: Integers
    place: Floats
    sizes: tuple[Floats, Floats]
    partners: tuple[Codes, Codes]
    gap: Floats
    sends: Mask
    unordered: Integers
    turn: Codes | None = None


class Told(NamedTuple):
    """The bursts of several runs, in common words, and what told them apart.

    Attributes
    ----------
    tokens : list of Tokens
        One for each run.
    patterns : list of tuple of str
        Operation before and after, by the number of the pattern; "" is none.
    has_paths : bool
        Whether call paths tell bursts apart. They do not where most of what one run calls
        stands nowhere in another: addresses that nobody resolved differ from run to run.
    has_loops : bool
        Whether loops do, or their turns: all runs say which loop calls are in, and mostly
        the same ones.
    """

    tokens: list[Tokens]
    patterns: list[tuple[str, str]]
    has_paths: bool
    has_loops: bool


def tokens_of(traces: Sequence[Trace]) -> Told:
    """Name the bursts of several runs in common words.

    Parameters
    ----------
    traces : sequence of Trace
        Runs of one program.

    Returns
    -------
    Told
        Tokens of each run, with patterns.

    Notes
    -----
    O(calls + messages + bursts) time. Labels are numbered hashes of 64 bits: among 16
    million different ones, two are taken for the same with a probability of 1e-5.

    Examples
    --------
    >>> from burstline.testing import trace_of
    >>> run = trace_of(
    ...     "ranks 1 | 0 | 1 enter MPI_Init | 2 leave | 4 enter MPI_Barrier | 5 leave"
    ... )
    >>> told = tokens_of([run, run])
    >>> told.patterns, [one.label.tolist() for one in told.tokens], told.has_loops
    ([('MPI_Init', 'MPI_Barrier')], [[0], [0]], False)
    """
    words = Words()
    paths = [words.paths_of(trace) for trace in traces]
    has_paths = _are_shared(paths)
    if not has_paths:
        paths = [np.zeros_like(path) for path in paths]
    loops = [words.loops_of(trace) for trace in traces]
    known = [one for one in loops if one is not None]
    has_loops = len(known) == len(loops) and _agree([loop for loop, _ in known])
    if not has_loops:
        loops = [None for _ in traces]
    named = [
        _Named(trace, words, path, loop)
        for trace, path, loop in zip(traces, paths, loops, strict=True)
    ]
    labels = _numbered([one.label for one in named])
    kinds = _numbered([one.kind for one in named])
    matters = _numbered([one.matter for one in named])
    pairs = [
        one.before_operation * len(words.operations) + one.after_operation for one in named
    ]
    patterns = _numbered(pairs)
    texts: dict[int, tuple[str, str]] = {}
    for pair, pattern in zip(pairs, patterns, strict=True):
        numbers, rows = np.unique(pattern, return_index=True)
        for number, code in zip(numbers.tolist(), pair[rows].tolist(), strict=True):
            before, after = divmod(code, len(words.operations))
            texts[number] = (words.operations[before], words.operations[after])
    rest = zip(named, labels, kinds, matters, patterns, strict=True)
    tokens = [one.tokens(*codes) for one, *codes in rest]
    ordered = [texts[number] for number in range(len(texts))]
    return Told(tokens, ordered, has_paths, has_loops)


def _are_shared(paths: Sequence[Integers]) -> bool:
    """Tell whether at least half of each run's calls stand where others have calls, too."""
    return any(len(np.unique(path)) > 1 for path in paths) and _are_common(paths)


def _are_common(codes: Sequence[Integers]) -> bool:
    """Tell whether at least half of each run's codes are found in all others."""
    shared = np.unique(codes[0])
    for other in codes[1:]:
        shared = np.intersect1d(shared, other)
    return all(np.isin(one, shared).sum() * 2 >= len(one) for one in codes)


def _agree(loops: Sequence[Integers]) -> bool:
    """Tell whether loops are mostly the same, or none of them has a name."""
    return _are_common([loop[loop >= 0] for loop in loops])


class _Named:
    """The bursts of one run on their way to tokens."""

    def __init__(
        self,
        trace: Trace,
        words: Words,
        path: Integers,
        loop: tuple[Integers, Codes] | None,
    ) -> None:
        location, start, before, after = trace.arrays(
            "bursts", "location", "start_ns", "call_before", "call_after"
        )
        self._location, self._start = location.astype(np.int64), start
        self._offsets = trace.offsets("bursts")
        first = trace.offsets("calls")[self._location]
        self._before = np.where(before >= 0, first + before, -1)
        self._after = np.where(after >= 0, first + after, -1)
        operation = words.operations_of(trace)
        self._is_any = words.are(operation, ANY_COMPLETION)
        self._divides = words.are(operation, SPAN_COLLECTIVES)
        self._sends = words.are(operation, {*BLOCKING_SENDS, *IMMEDIATE_SENDS})
        self._serves = words.are(operation, WILDCARD)
        self.before_operation = _at(operation, self._before, NOTHING)
        self.after_operation = _at(operation, self._after, NOTHING)
        peer, tag, sent, received = trace.arrays(
            "calls", "peer", "tag", "sent_bytes", "received_bytes"
        )
        told = _Completed(trace, len(operation))
        single = told.count == 1
        self._peer = np.where((peer == UNKNOWN) & single, told.partner, peer).astype(np.int32)
        tag = np.where((tag == UNKNOWN) & single, told.tag, tag)
        sent, received = _known(sent), _known(received)
        self._size = np.maximum(sent + received, told.bytes)
        place = (path,) if loop is None else (path, loop[0])
        self._turn = None if loop is None else loop[1]
        self._site = _mixed(operation, *place)
        which = np.where(self._is_any, told.all, np.uint64(0))
        kind = _mixed(self._site, words.communicators_of(trace), self._peer, tag, which)
        label = _mixed(kind, self._size, told.all)
        self.kind, self.label = _at(kind, self._before, 0), _at(label, self._before, 0)
        self.matter = _at(_mixed(operation, tag, self._size), self._before, 0)

    def tokens(self, label: Codes, kind: Codes, matter: Codes, pattern: Codes) -> Tokens:
        """Give the tokens, now that labels, kinds and patterns have their numbers."""
        divides = _at(self._divides, self._before, 0).astype(bool)
        span = self._in_location(np.cumsum(divides))
        is_any = _at(self._is_any, self._before, 0).astype(bool)
        site = _at(self._site, self._before, 0)
        size, peer = self._size, self._peer
        return Tokens(
            offsets=self._offsets,
            label=label,
            kind=kind,
            matter=matter,
            pattern=pattern,
            span=span,
            place=self._places(span),
            sizes=(
                _at(size, self._before, 0).astype(float),
                _at(size, self._after, 0).astype(float),
            ),
            partners=(_at(peer, self._before, -1), _at(peer, self._after, -1)),
            gap=np.where(divides, DIVIDING_GAP, GAP),
            sends=_at(self._sends, self._before, 0).astype(bool),
            unordered=_runs(is_any, self._are_loose(is_any), site, self._location),
            turn=None if self._turn is None else _at(self._turn, self._before, -1),
        )

    def _are_loose(self, is_any: Mask) -> Mask:
        """Tell which bursts may be elsewhere next time: what came first decides."""
        loose = _at(self._serves, self._before, 0).astype(bool)
        if len(is_any):
            beside, first = self._location[1:] == self._location[:-1], loose | is_any
            loose[1:] |= beside & first[:-1]
            loose[:-1] |= beside & first[1:]
        return loose

    def _in_location(self, counted: Integers) -> Integers:
        """Count from 0 in each location."""
        before = np.concatenate([[0], counted])[self._offsets[:-1]]
        return counted - before[self._location]

    def _places(self, span: Integers) -> Floats:
        """Place each burst between the first and the last of its span."""
        if not len(span):
            return np.zeros(0)
        new = begins_run(span, self._location)
        begins = np.flatnonzero(new)
        number = np.cumsum(new) - 1
        ends = np.append(begins[1:], len(span)) - 1
        start, length = self._start[begins], (self._start[ends] - self._start[begins])
        return (self._start - start[number]) / np.maximum(length, 1)[number]


class _Completed:
    """What the messages say of the calls that completed them: a value for each call.

    Receives come first: of a call that completes both, its receives are the reason why the
    program goes on as it does.
    """

    def __init__(self, trace: Trace, calls: int) -> None:
        self.count = np.zeros(calls, np.int64)
        self.all = np.zeros(calls, np.uint64)
        self.partner = np.full(calls, UNKNOWN, np.int32)
        self.tag = np.full(calls, UNKNOWN, np.int64)
        self.bytes = np.zeros(calls, np.int64)
        (rank,) = trace.arrays("locations", "rank")
        first = trace.offsets("calls")[:-1]
        for here, there, call, size in (
            ("receiver_location", "sender_location", "receive_call", "received_bytes"),
            ("sender_location", "receiver_location", "send_done_call", "sent_bytes"),
        ):
            columns = trace.arrays("messages", here, there, call, "tag", size)
            location, other, done, tag, moved = (column for column in columns)
            known = (done >= 0) & (location >= 0)
            row = np.where(known, first[location] + done, 0)
            known &= self.count[row] == 0
            end = np.full(np.count_nonzero(known), call == "receive_call")
            found = _mixed(end, rank[other[known]], tag[known])
            np.add.at(self.all, row[known], found)
            self._add(row[known], rank[other[known]], tag[known], _known(moved)[known])

    def _add(self, row: Integers, partner: Codes, tag: Codes, moved: Integers) -> None:
        np.add.at(self.count, row, 1)
        np.add.at(self.bytes, row, moved)
        self.partner[row] = partner
        self.tag[row] = tag


def _at(values: npt.NDArray[Any], rows: Integers, nothing: int) -> npt.NDArray[Any]:
    """Take values by row, and something else where there is no row."""
    if not len(values):
        return np.full(len(rows), nothing, values.dtype)
    return np.where(rows >= 0, values[rows], values.dtype.type(nothing))


def _known(column: Integers) -> Integers:
    return np.where(column == NO_VALUE, 0, column)


def _mixed(*columns: npt.NDArray[Any]) -> Hashes:
    """Hash rows of columns; splitmix64's mixer, once for each column."""
    hashed = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        hashed = hashed * _ODD[0] + column.astype(np.uint64) + _ODD[0]
        hashed = (hashed ^ (hashed >> np.uint64(30))) * _ODD[1]
        hashed = (hashed ^ (hashed >> np.uint64(27))) * _ODD[2]
        hashed ^= hashed >> np.uint64(31)
    return hashed


def _numbered(columns: list[npt.NDArray[Any]]) -> list[Codes]:
    """Give the values of several columns numbers, equal ones the same."""
    whole = pa.chunked_array([pa.array(column) for column in columns])
    encoded = whole.combine_chunks().dictionary_encode()
    numbers = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    return np.split(numbers, np.cumsum([len(column) for column in columns])[:-1])


def _runs(
    chosen: Mask,
    loose: Mask,
    site: Hashes,
    location: Integers,
) -> Integers:
    """Give runs of chosen neighbours of one site and place a number; others, how loose."""
    if not len(chosen):
        return np.zeros(0, np.int64)
    new = np.ones(len(chosen), bool)
    new[1:] = (np.diff(location) != 0) | (site[1:] != site[:-1]) | ~chosen[:-1]
    return np.where(chosen, np.cumsum(new), np.where(loose, LOOSE, -1))
