"""Lanes of one kind: those that make the same calls, equal where their order tells all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, repeat

import numpy as np
import numpy.typing as npt

from burstline.columns import AnyIntegers, Integers, placed, prefix_sums, stable_order

Sequences = npt.NDArray[np.int32]


def alike_lanes(
    sequence: Sequences, lane_begin: Integers, beside: Sequence[bytes] = ()
) -> tuple[Integers, Integers]:
    """The first lane of each sequence of calls, and what is `beside`; each lane's number."""
    numbers: dict[tuple[bytes, bytes], int] = {}
    calls = (sequence[a:b].tobytes() for a, b in pairwise(lane_begin.tolist()))
    keys = zip(calls, beside or repeat(b""), strict=False)
    of_lane = np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)
    return np.unique(of_lane, return_index=True)[1], of_lane


def lanes_of(sequence: Sequences, lane_begin: Integers, lanes: Integers) -> Sequences:
    """The calls of some lanes, one after the other."""
    bounds = zip(lane_begin[lanes].tolist(), lane_begin[lanes + 1].tolist(), strict=True)
    return np.concatenate([sequence[:0], *(sequence[begin:end] for begin, end in bounds)])


def in_first_order(sequence: AnyIntegers, size: int) -> Integers:
    """Different numbers below a size, in the order in which they are first there."""
    first = placed(np.arange(len(sequence))[::-1], sequence[::-1], size, len(sequence))
    occurring = np.flatnonzero(first < len(sequence))
    return occurring[np.argsort(first[occurring], kind="stable")]


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """The calls of each kind of lanes.

    A moment is the place of a time among those of its lane, from 0: what is asked of times by
    comparing them has the same answer, and it is that of all lanes of a kind.
    """

    of_lane: Integers  # (lanes,) the kind of each
    sequences: Sequence[Sequences]  # (kinds,) the site of each call
    # (kinds,) the moment at which each call is entered; None where each has one of its own
    moments: Sequence[Integers | None]
    known: dict[int, list[Integers]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, sequence: Sequences, lane_begin: Integers, enter_ns: Integers) -> Kinds:
        """The kinds of lanes whose calls are these."""
        bounds = lane_begin.tolist()
        moments = [_moments(enter_ns[begin:end]) for begin, end in pairwise(bounds)]
        beside = [b"" if each is None else each.tobytes() for each in moments]
        first, of_lane = alike_lanes(sequence, lane_begin, beside)
        sequences = [sequence[bounds[k] : bounds[k + 1]] for k in first.tolist()]
        return cls(of_lane, sequences, [moments[k] for k in first.tolist()])

    @classmethod
    def of_all(cls, parts: Iterable[tuple[Kinds, Sequences]]) -> Kinds:
        """The kinds of the lanes of all parts, with what each calls a site in the whole."""
        numbers: dict[tuple[bytes, bytes], int] = {}
        sequences: list[Sequences] = []
        moments: list[Integers | None] = []
        of_lane = [np.zeros(0, np.int64)]
        for part, sites in parts:
            number = np.zeros(len(part.sequences), np.int64)
            for kind, (own, moment) in enumerate(
                zip(part.sequences, part.moments, strict=True)
            ):
                calls = sites[own]
                key = calls.tobytes(), b"" if moment is None else moment.tobytes()
                if key not in numbers:
                    numbers[key] = len(sequences)
                    sequences.append(calls)
                    moments.append(moment)
                number[kind] = numbers[key]
            of_lane.append(number[part.of_lane])
        return cls(np.concatenate(of_lane), sequences, moments)

    def at(self, sequence: Sequences, lane_begin: Integers) -> Kinds:
        """The same kinds where all calls are at other sites."""
        first = np.unique(self.of_lane, return_index=True)[1]
        bounds = zip(lane_begin[first].tolist(), lane_begin[first + 1].tolist(), strict=True)
        own = [sequence[begin:end] for begin, end in bounds]
        return Kinds(self.of_lane, own, self.moments)

    def of_lanes(self, lanes: slice) -> Kinds:
        """Those of some lanes."""
        used, number = np.unique(self.of_lane[lanes], return_inverse=True)
        chosen = used.tolist()
        sequences = [self.sequences[kind] for kind in chosen]
        moments = [self.moments[kind] for kind in chosen]
        return Kinds(number.reshape(-1), sequences, moments)

    def sequence(self) -> Sequences:
        """The site of every call, lane after lane."""
        own = [self.sequences[kind] for kind in self.of_lane.tolist()]
        return np.concatenate([np.zeros(0, np.int32), *own])

    def executions(self, kind: int, site: int) -> Integers:
        """The moments at which a kind of lanes makes the calls of a site."""
        if kind not in self.known:
            calls, moment = self.sequences[kind], self.moments[kind]
            count = int(calls.max(initial=-1)) + 1
            order = stable_order(calls.astype(np.int64), count)
            bounds = prefix_sums(np.bincount(calls, minlength=count))[1:-1]
            self.known[kind] = np.split(order if moment is None else moment[order], bounds)
        return self.known[kind][site]

    def entered_at(self, kind: int) -> Integers:
        """The moment at which each call of a kind is entered."""
        moment = self.moments[kind]
        return np.arange(len(self.sequences[kind])) if moment is None else moment

    def calls_at(self, kind: int, moments: Integers) -> Integers:
        """A call of a kind that is entered at each moment, counted on its lane."""
        moment = self.moments[kind]
        if moment is None:
            return moments
        return np.unique(moment, return_index=True)[1][moments]


def _moments(times: Integers) -> Integers | None:
    if (times[1:] > times[:-1]).all():
        return None
    return np.unique(times, return_inverse=True)[1].reshape(-1).astype(np.int64)
