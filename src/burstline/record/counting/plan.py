"""Sets of counters, one per run: the fewest that can be counted together, and their file.

A part of a set that fits is taken to fit, too.

::

    [sets]
    work = ["PAPI_TOT_INS", "PAPI_TOT_CYC"]
    memory = ["PAPI_TOT_INS", "PAPI_L2_DCM"]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from burstline.errors import FormatError, printable
from burstline.formats.documents import read_toml

MOST_EXACT: Final = 25
"""Up to so many events the fewest sets are searched for; beyond, sets are filled greedily."""

_MOST_QUESTIONS: Final = 100_000
_MOST_BYTES: Final = 1 << 18  # of a file of sets
"""After so many questions the search ends: a question takes up to 0.1 ms."""


@dataclass(frozen=True, slots=True)
class CounterPlan:
    """Sets of counters to record together, one per run."""

    # one per run. The reference is first in each; each other event is in one of them.
    sets: tuple[tuple[str, ...], ...]
    # events that cannot be counted at all, or not beside the reference
    unavailable: tuple[str, ...]
    # what is counted in each set; None if that cannot be counted, or none was wanted
    reference: str | None
    fewest: bool  # whether it is certain that fewer sets are not enough


def plan_sets(
    events: Sequence[str],
    fits: Callable[[tuple[str, ...]], bool],
    *,
    reference: str | None = None,
    most_questions: int = _MOST_QUESTIONS,
) -> CounterPlan:
    """The plan with the fewest sets; it depends only on the order of events and on `fits`."""
    # The search takes the event that goes with the fewest others, tries every largest set
    # around it and goes on with the rest. It leaves branches that need as many sets as the best
    # plan so far: at least as many as events of which no two go together, and as the events
    # divided by the size of the largest set.
    wanted = list(dict.fromkeys(events))
    shared_event = reference if reference is not None and fits((reference,)) else None
    missing = [reference] if reference is not None and shared_event is None else []
    shared = () if shared_event is None else (shared_event,)
    usable: list[str] = []
    for event in wanted:
        if event == reference:
            continue
        (usable if fits((*shared, event)) else missing).append(event)
    unavailable = tuple(
        event for event in dict.fromkeys([*wanted, *missing]) if event in missing
    )
    if not usable:
        alone = (shared,) if shared and (reference in wanted or not wanted) else ()
        return CounterPlan(alone, unavailable, shared_event, fewest=True)
    search = _Search(usable, shared, fits, most_questions)
    cover, fewest = search.cover()
    place = {event: number for number, event in enumerate(wanted)}
    covered = sorted(map(search.names, cover), key=lambda names: [place[n] for n in names])
    sets = tuple((*shared, *names) for names in covered)
    return CounterPlan(sets, unavailable, shared_event, fewest=fewest)


class _TooManyQuestionsError(Exception):
    """The search has asked too often."""


@dataclass(slots=True)
class _Search:
    """The fewest sets that cover all events; sets are masks of bits, one per event."""

    events: list[str]
    shared: tuple[str, ...]
    fits: Callable[[tuple[str, ...]], bool]
    questions_left: int
    _answers: dict[int, bool] = field(default_factory=dict)
    _hopeless: set[tuple[int, int]] = field(default_factory=set)
    _beside: list[int] = field(default_factory=list)
    _largest: int = 1

    def names(self, mask: int) -> tuple[str, ...]:
        return tuple(self.events[number] for number in _members(mask))

    def cover(self) -> tuple[list[int], bool]:
        """A cover, and whether it is one of the smallest."""
        everything = (1 << len(self.events)) - 1
        budget, self.questions_left = self.questions_left, 1 << 60
        best = self._greedy(everything)
        self.questions_left = budget
        if len(best) == 1:
            return best, True
        if len(self.events) > MOST_EXACT:
            return best, False
        try:
            self._beside = [
                sum(
                    1 << other for other in range(len(self.events)) if self._pair(number, other)
                )
                for number in range(len(self.events))
            ]
            helpful = -(-len(self.events) // (len(best) - 1))
            self._largest = self._largest_size(everything, helpful)
            for size in range(self._at_least(everything), len(best)):
                cover = self._within(everything, size)
                if cover is not None:
                    return cover, True
        except _TooManyQuestionsError:
            return best, False
        return best, True

    def _fits(self, mask: int) -> bool:
        answer = self._answers.get(mask)
        if answer is None:
            if not self.questions_left:
                raise _TooManyQuestionsError
            self.questions_left -= 1
            answer = self._answers[mask] = self.fits((*self.shared, *self.names(mask)))
        return answer

    def _pair(self, number: int, other: int) -> bool:
        return number != other and self._fits(1 << number | 1 << other)

    def _greedy(self, rest: int) -> list[int]:
        cover = []
        while rest:
            mask = 0
            for number in _members(rest):
                if not mask or self._fits(mask | 1 << number):
                    mask |= 1 << number
            cover.append(mask)
            rest &= ~mask
        return cover

    def _largest_size(self, rest: int, helpful: int) -> int:
        """The size of the largest set that fits; one less than `helpful` if no more."""
        best = helpful - 1
        stack = [(0, rest)]
        while stack:
            mask, candidates = stack.pop()
            if mask.bit_count() + candidates.bit_count() <= best:
                continue
            for number in _members(candidates):
                candidates &= ~(1 << number)
                grown = mask | 1 << number
                rest_of_it = candidates & self._beside[number]
                if grown.bit_count() + rest_of_it.bit_count() > best and self._fits(grown):
                    best = max(best, grown.bit_count())
                    stack.append((grown, rest_of_it))
        return best

    def _at_least(self, rest: int) -> int:
        """A number of sets below which `rest` cannot be covered."""
        strangers, candidates = 0, rest
        while candidates:
            number = self._loneliest(candidates)
            candidates &= ~(self._beside[number] | 1 << number)
            strangers += 1
        return max(strangers, -(-rest.bit_count() // self._largest))

    def _loneliest(self, rest: int) -> int:
        return min(_members(rest), key=lambda number: (self._beside[number] & rest).bit_count())

    def _within(self, rest: int, sets: int) -> list[int] | None:
        """A cover of `rest` with so many sets, None if there is none."""
        if not rest:
            return []
        if (rest, sets) in self._hopeless or self._at_least(rest) > sets:
            return None
        first = 1 << self._loneliest(rest)
        for mask in self._largest_around(first, rest):
            others = self._within(rest & ~mask, sets - 1)
            if others is not None:
                return [mask, *others]
        self._hopeless.add((rest, sets))
        return None

    def _largest_around(self, start: int, rest: int) -> Iterator[int]:
        """Yield every set in `rest` that holds `start` and to which nothing can be added."""
        stack = [(start, rest & ~start, 0)]
        while stack:
            mask, candidates, passed = stack.pop()
            candidates = sum(
                1 << event for event in _members(candidates) if self._fits(mask | 1 << event)
            )
            if not candidates:
                if not any(self._fits(mask | 1 << event) for event in _members(passed)):
                    yield mask
                continue
            number = candidates & -candidates
            stack.append((mask, candidates & ~number, passed | number))
            stack.append((mask | number, candidates & ~number, passed))


def _members(mask: int) -> Iterator[int]:
    """The numbers of the bits that are set, from the lowest."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def sets_text(plan: CounterPlan) -> str:
    """The sets as the TOML file that ``record --counters-set`` reads."""
    lines = ["# One run for each set.", "[sets]"]
    for number, names in enumerate(plan.sets, 1):
        quoted = ", ".join(f'"{name}"' for name in names)
        lines.append(f"set{number} = [{quoted}]")
    return "\n".join(lines) + "\n"


def read_sets(path: Path) -> dict[str, list[str]]:
    """The counters of each set in a file."""
    sets = read_toml(path, _MOST_BYTES).get("sets")
    if isinstance(sets, list):
        sets = {str(number): counters for number, counters in enumerate(sets, start=1)}
    if not isinstance(sets, dict) or not sets or not all(map(_is_set, sets.items())):
        raise FormatError(
            path,
            None,
            expected="a table [sets] whose entries are lists of counters",
            found=printable(str(sets)),
            way_out='For instance: [sets] work = ["PAPI_TOT_INS", "PAPI_TOT_CYC"]',
        )
    return sets


def _is_set(entry: tuple[str, object]) -> bool:
    name, counters = entry
    return (
        re.fullmatch(r"[\w.-]{1,100}", name) is not None
        and isinstance(counters, list)
        and bool(counters)
        and all(isinstance(counter, str) and "," not in counter for counter in counters)
    )
