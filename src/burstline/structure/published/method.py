"""The published method: loops out of mean values, nested by when they iterate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from burstline.columns import UNKNOWN, Integers, Mask, begins_run
from burstline.progress import SILENCE, Progress
from burstline.structure.assembly import Draft, DraftTimes, FoundProgram, assembly
from burstline.structure.program.iterations import Spans
from burstline.structure.published.clustering import (
    SeedOptions,
    cluster_calls,
    merged,
    split_aliased,
)
from burstline.structure.published.nesting import draft, join_split, nest
from burstline.structure.reduction import Reduced
from burstline.structure.source import Source
from burstline.structure.stretches import Stretches

_NOWHERE: Final = np.zeros(0, np.int64)


def by_means(source: Source, limits: SeedOptions, progress: Progress = SILENCE) -> FoundProgram:
    """The loops of a program, by how often, and how far apart, its calls return."""
    reduced = source.reduced
    repeated, enough = _repeated_and_long_enough(reduced, limits)
    progress.step("clustering", 0, "")
    clusters = cluster_calls(reduced, np.flatnonzero(repeated & enough), limits)
    loops = [
        draft(reduced, calls)
        for cluster in clusters
        for calls in split_aliased(reduced, cluster)
    ]
    progress.step("nesting", 0, "")
    top = nest(reduced, join_split(reduced, loops), eps=limits.eps)
    progress.step("assembly", 0, "")
    drafts = list(_with_outer(top, None))
    entries = DraftEntries(reduced)
    times = iter(source.times([each for own in drafts for each in entries.stretches(*own)]))
    of_drafts = {
        id(one): DraftTimes(*own)
        for (one, _), own in zip(drafts, zip(times, times, strict=True), strict=True)
    }
    build = assembly(source.trace, reduced, of_drafts)
    items = build.items(top, np.flatnonzero(~repeated).tolist())
    return FoundProgram(
        method="seed",
        parameters=asdict(limits),
        reduced=reduced,
        items=items,
        left_out=build.calls(np.flatnonzero(repeated & ~enough).tolist()),
        steps=DraftSteps(entries, build.numbered),
        times={
            number: of_drafts[id(one)].inside for number, (one, _) in build.numbered.items()
        },
        unique_calls=len(reduced.lane),
    )


def _with_outer(
    drafts: Iterable[Draft], outer: Draft | None
) -> Iterator[tuple[Draft, Draft | None]]:
    """Each draft with the one around it, and those in it."""
    for one in drafts:
        yield one, outer
        yield from _with_outer(one.children, one)


def _repeated_and_long_enough(reduced: Reduced, limits: SeedOptions) -> tuple[Mask, Mask]:
    """Which unique calls are repeated, and which of them span enough of the run."""
    features = np.stack([reduced.repetitions, reduced.shares()], axis=1)
    if limits.rank_merge == "early":
        point, means = merged(reduced.site, features)
        features = means[point]
    return features[:, 0] > 1, features[:, 1] >= limits.min_share


class _Iterations(NamedTuple):
    """The iterations of a loop on a lane: their entries, and their calls, counted there."""

    entry: Integers
    first: Integers
    last: Integers


@dataclass(frozen=True, slots=True, eq=False)
class DraftEntries:
    """The calls of the iterations of loops that were found by when they begin."""

    reduced: Reduced  # the unique calls

    def stretches(self, loop: Draft, outer: Draft | None) -> tuple[Stretches, Stretches]:
        """From the first begin of an iteration to the last of each entry; and all its calls."""
        kinds = self.reduced.kinds
        around = {} if outer is None else outer.begins
        numbers: dict[tuple[int, int, int], int] = {}
        of_lane = np.full(len(self.reduced.ranks), UNKNOWN)
        iterating: list[tuple[Integers, Integers]] = []
        inside: list[tuple[Integers, Integers]] = []
        for lane, key, own in self.iterations(loop, outer):
            if key not in numbers:
                numbers[key] = len(inside)
                begins = loop.begins[lane]
                calls = kinds.calls_at(key[0], begins)
                entry = np.searchsorted(around.get(lane, _NOWHERE), begins, side="right")
                iterating.append(_ends_of_entries(entry, calls, calls))
                inside.append(_ends_of_entries(own.entry, own.first, own.last))
            of_lane[lane] = numbers[key]
        return (
            Stretches(of_lane, iterating, to_leave=False),
            Stretches(of_lane, inside, to_leave=True),
        )

    def iterations(
        self, loop: Draft, outer: Draft | None
    ) -> Iterator[tuple[int, tuple[int, int, int], _Iterations]]:
        """The iterations on each lane; what they are by, which is alike on lanes of a kind."""
        reduced = self.reduced
        around = {} if outer is None else outer.begins
        masks = np.zeros((2, len(reduced.sites)), np.bool_)
        for mask, uniques in zip(masks, (_calls_with_subloops(loop), loop.calls), strict=True):
            mask[reduced.site[uniques]] = True
        known: dict[tuple[int, int, int], _Iterations] = {}
        for lane, begins in sorted(loop.begins.items()):
            kind = int(reduced.kinds.of_lane[lane])
            key = kind, id(begins), id(around.get(lane))
            if key not in known:
                known[key] = self._of_kind(kind, begins, around.get(lane), masks)
            yield lane, key, known[key]

    def _of_kind(
        self, kind: int, begins: Integers, around: Integers | None, masks: npt.NDArray[np.bool_]
    ) -> _Iterations:
        kinds = self.reduced.kinds
        sequence, moments = kinds.sequences[kind], kinds.entered_at(kind)
        members, direct = (np.flatnonzero(mask[sequence]) for mask in masks)
        first = _calls_that_begin(begins, direct if len(direct) else members, moments)
        until = np.append(first[1:], len(moments))
        if members[0] < first[0] and len(direct):
            # the body begins with a loop: an iteration ends with the last call outside of that
            last = direct[np.searchsorted(direct, until) - 1]
            behind = np.append(0, last[:-1] + 1)
            first = members[np.searchsorted(members, behind)]
        else:
            last = members[np.searchsorted(members, until) - 1]
        entry = np.zeros(len(first), np.int64)
        if around is not None:
            inside = np.searchsorted(around, begins, side="right")
            entry = np.unique(inside, return_inverse=True)[1].ravel()
        return _Iterations(entry, first, last)


def _ends_of_entries(
    entry: Integers, first: Integers, last: Integers
) -> tuple[Integers, Integers]:
    """The first call of each entry and the last one, by those of its iterations."""
    begin = np.flatnonzero(begins_run(entry))
    return first[begin], last[np.append(begin[1:], len(entry)) - 1]


@dataclass(frozen=True, slots=True, eq=False)
class DraftSteps:
    """The iterations of loops that were found by when they begin."""

    entries: DraftEntries
    # each loop by its number, and the number of the loop around it
    numbered: dict[int, tuple[Draft, int | None]]

    @property
    def sequence(self) -> npt.NDArray[np.int32]:
        """Site of every call."""
        return self.entries.reduced.sequence

    def spans(self, loop: int) -> Spans:
        """The calls of each iteration of a loop."""
        body, outer = self.numbered[loop]
        around = None if outer is None else self.numbered[outer][0]
        begin = self.entries.reduced.lane_begin
        parts = [
            (
                np.full(len(own.first), lane),
                own.entry,
                own.first + begin[lane],
                own.last + begin[lane],
            )
            for lane, _, own in self.entries.iterations(body, around)
        ]
        return Spans(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _calls_that_begin(begins: Integers, members: Integers, moments: Integers) -> Integers:
    """The calls with which iterations begin, among `members`: of equal moments one each."""
    ordinal = np.arange(len(begins)) - np.searchsorted(begins, begins)
    return members[np.searchsorted(moments[members], begins) + ordinal]


def _calls_with_subloops(loop: Draft) -> list[int]:
    return loop.calls + [
        call for child in loop.children for call in _calls_with_subloops(child)
    ]
