"""What is found of each process of an application, in a whole trace or in a part of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Final, Literal, NamedTuple, TypeVar

import numpy as np

from burstline.columns import AnyIntegers, Integers, Mask, take
from burstline.errors import ParameterError
from burstline.model import Trace, last_until
from burstline.signature.cut import Near, places_near
from burstline.signature.events import Events, Occurrences, RunFacts, events_in, told_by
from burstline.signature.loops import loops
from burstline.signature.model import Process, Stamps
from burstline.signature.published import epas, pas2p
from burstline.signature.variation import unsteadiness
from burstline.signature.windows import ENOUGH, early_end, process_up_to
from burstline.structure import Parts, chosen_application
from burstline.waits import by_times_seen, functions_on

METHODS: Final = ("loops", "epas", "pas2p")
"""How phases can be found."""
Method = Literal["loops", "epas", "pas2p"]
_LEAST_WITHIN: Final = 0.001
_SLACK: Final = 0.05  # of the events, that a cut which nothing crosses may be later
_TABLES: Final = ("calls", "locations", "call_paths", "communicators")
_Made = TypeVar("_Made")


class Options(NamedTuple):
    """How phases are found, and which of their occurrences are measured."""

    method: Method
    similarity: float | None
    key: Literal["operation", "full"]
    min_share: float
    within: float
    windows: int

    def checked(self) -> Options:
        """The same; refused where something is outside of its domain."""
        if self.method not in METHODS:
            raise ParameterError(f"no method {self.method!r}; there are {', '.join(METHODS)}")
        for name in ("min_share", "within"):
            if not 0 <= (share := getattr(self, name)) <= 1:
                raise ParameterError(f"{name} is a share of the run, 0 to 1, got {share}")
        if self.similarity is not None and not 0 < self.similarity <= 1:
            raise ParameterError(f"similarity is above 0, at most 1, got {self.similarity}")
        if self.windows < 1:
            raise ParameterError(f"at least 1 window is measured, not {self.windows}")
        return self

    def facts(self, found: Sequence[Course]) -> dict[str, str]:
        """The choices that were made, for people; the least similarity that was compared by."""
        compared = [course.found.similarity for course in found]
        used = [each for each in compared if each is not None]
        made = self._asdict() | {"similarity": f"{min(used):.4g}" if used else None}
        return {name: str(value) for name, value in made.items() if value is not None}


class Course(NamedTuple):
    """What was found of a process: its phases, and when enough of these was met."""

    process: int  # its place in the application
    events: int
    full: bool  # whether their tokens tell partners
    found: Occurrences
    is_relevant: Mask  # (phases,)
    share: float  # of its time


class Signed(NamedTuple):
    """The signature of a process, and what that would have measured in the run it is of."""

    process: Process
    stamps: Stamps
    unsteadiness: float
    functions: tuple[str | None, ...]  # (phases,) the one that computes most in each, if seen


@dataclass(frozen=True, slots=True, eq=False)
class Processes:
    """Some processes of an application, with their events: those of a trace, or of a part."""

    trace: Trace
    events: Events
    numbers: Sequence[int]  # which processes of the application they are

    @classmethod
    def of(cls, trace: Trace, events: Events, locations: range | None = None) -> Processes:
        """The processes of some locations; of all by default."""
        if locations is None:
            return cls(trace, events, range(len(events.ranks)))
        process = events.processes_at(trace)[locations.start : locations.stop]
        return cls(trace, events, np.unique(process[process >= 0]).tolist())

    def courses(self, options: Options) -> list[Course]:
        """What is found of each of them."""
        spans = self.events.spans()
        courses = []
        for number, found in zip(self.numbers, self._found(options), strict=True):
            boundaries = self.events.boundaries(number)
            total = np.bincount(found.phase, found.durations(boundaries), len(found.names))
            is_relevant = total >= options.min_share * spans[number]
            end = early_end(found, boundaries, int(spans[number]), is_relevant, options.within)
            share = (end - int(boundaries[0])) / max(int(spans[number]), 1)
            count, full = self.events.count(number), self.events.full
            courses.append(Course(number, count, full, found, is_relevant, share))
        return courses

    def places(self, share: float, times: int) -> Near:
        """The places of their calls near a cut after a share of their time."""
        events, ends = self.events, {}
        moments = events.init_ns + np.ceil(share * events.spans()).astype(np.int64)
        for number in self.numbers:
            total = events.count(number)
            first = np.searchsorted(events.boundaries(number), moments[number])
            wanted, slack = int(np.clip(first, 1, total)), ceil(_SLACK * total)
            bound = min(wanted + times * slack, total) + 1
            ends[number] = wanted, min(wanted + slack, total), bound
        return places_near(self.trace, events, ends)

    def signed(
        self, courses: Mapping[int, Course], counts: Mapping[int, int], most: int
    ) -> list[Signed]:
        """Their signatures by what was found of them, if each stops after `counts` events."""
        events, made = self.events, []
        of_process, seen = events.processes_at(self.trace), SamplesOutsideCalls.of(self.trace)
        for number in self.numbers:
            found = courses[number].found
            process = process_up_to(
                events, number, found, courses[number].is_relevant, counts[number], most=most
            )
            boundaries = events.boundaries(number)
            ends = int(events.init_ns[number]), int(events.finalize_ns[number])
            stamps = Stamps(process.rank, process.counts, boundaries[process.counts], *ends)
            functions = seen.most(np.flatnonzero(of_process == number), found, boundaries)
            made.append(Signed(process, stamps, unsteadiness(found, boundaries), functions))
        return made

    def _found(self, options: Options) -> list[Occurrences]:
        if options.method == "epas":
            return [
                epas(self.events, process, similarity=options.similarity, key=options.key)
                for process in self.numbers
            ]
        if options.method == "pas2p":
            found, _ = pas2p(
                self.trace, self.events, similarity=options.similarity, key=options.key
            )
            return [_own_phases(each) for each in found]
        # A loop is opened if its early iterations would take longer than the early part.
        fewest = max(ceil(ENOUGH / max(options.within, _LEAST_WITHIN)), 2 * ENOUGH)
        # Of a store, each process would load all calls again.
        held = Trace(
            {name: self.trace.table(name) for name in ("calls", "locations", "call_paths")}
        )
        return [
            loops(
                held, self.events, process, min_share=options.min_share, min_iterations=fewest
            )
            for process in self.numbers
        ]


def _own_phases(found: Occurrences) -> Occurrences:
    """The same without the phases of other processes alone, which keep their names."""
    there, phase = np.unique(found.phase, return_inverse=True)
    names = tuple(found.names[number] for number in there.tolist())
    return replace(found, phase=phase, names=names)


@dataclass(frozen=True, slots=True)
class ProcessSource:
    """A run whose processes are asked, those of one part after the other."""

    trace: Trace
    work_counter: str
    count: int  # of parts
    # a method of Processes, its arguments for each part, and what events need for it
    ask: Callable[..., Iterable[Any]]

    def courses(self, options: Options) -> list[list[Course]]:
        """What is found of the processes of each part."""
        each = [{"options": options}] * self.count
        has_work = options.method != "loops"
        beside = ["bursts"] if has_work else []
        return list(self.ask(Processes.courses, each, beside=beside))

    def places(self, share: float, times: int) -> Near:
        """The places of calls near a cut after a share of the time."""
        each = [{"share": share, "times": times}] * self.count
        return Near.of_all(self.ask(Processes.places, each, full=False))

    def signed(
        self, found: Sequence[Sequence[Course]], counts: Integers, most: int
    ) -> list[Signed]:
        """The signatures of all processes, by what was found and where each stops."""
        full = all(course.full for part in found for course in part)
        each = [
            {
                "courses": {course.process: course for course in part},
                "counts": {course.process: int(counts[course.process]) for course in part},
                "most": most,
            }
            for part in found
        ]
        made: list[Signed] = []
        for part in self.ask(Processes.signed, each, full=full, beside=["samples"]):
            made += part
        return made


def source_of(trace: Trace, events: Events) -> ProcessSource:
    """A run in one part, whose events are known."""
    processes = Processes.of(trace, events)

    def ask(
        asked: Callable[..., _Made], each: Sequence[Mapping[str, Any]], **_: object
    ) -> Iterable[_Made]:
        return (asked(processes, **options) for options in each)

    return ProcessSource(trace, events.work_counter, 1, ask)


def source_in_parts(trace: Trace, parts: Parts, application: int | None) -> ProcessSource:
    """A run in parts, which each make their events when they are asked."""
    every = list(parts(told_by))
    told = RunFacts.of_all(every)
    how = {
        "application": chosen_application(told.applications, application),
        "counter": told.counter(),
    }

    def ask(
        asked: Callable[..., _Made],
        each: Sequence[Mapping[str, Any]],
        *,
        full: bool = True,
        beside: Sequence[str] = (),
    ) -> Iterable[_Made]:
        of_events = how | {"full": full, "has_work": "bursts" in beside}
        given = [
            {"of_events": of_events, "beside": beside, "asked": asked, "options": options}
            for options in each
        ]
        return parts(_asked_of_part, each=given)

    return ProcessSource(trace, told.counter(), len(every), ask)


def _asked_of_part(
    trace: Trace,
    *,
    locations: range | None,
    of_events: Mapping[str, Any],
    beside: Sequence[str],
    asked: Callable[..., _Made],
    options: Mapping[str, Any],
    **_: object,
) -> _Made:
    """What a method of :class:`Processes` tells of those of a part."""
    # A store loads a table whenever it is asked for it.
    held = Trace({name: trace.table(name) for name in (*_TABLES, *beside)})
    return asked(Processes.of(held, events_in(held, **of_events), locations), **options)


@dataclass(frozen=True, slots=True, eq=False)
class SamplesOutsideCalls:
    """Samples of call stacks that were taken in no call, and the functions they were in."""

    names: list[str]  # (call paths,)
    location: AnyIntegers  # (samples,)
    time_ns: AnyIntegers  # (samples,)
    periods: AnyIntegers  # (samples,)
    function: AnyIntegers  # (samples,) the call path of the function

    @classmethod
    def of(cls, trace: Trace) -> SamplesOutsideCalls:
        """Those of a trace, or of some locations of it."""
        location, time_ns, periods, path = trace.arrays(
            "samples", "location", "time_ns", "periods", "call_path"
        )
        if not len(location):
            return cls([], location, time_ns, periods, path)
        frames = trace.call_paths.to_pylist()
        function = take(functions_on(frames), path)
        told = np.flatnonzero((function >= 0) & ~_in_calls(trace, location, time_ns))
        names = [frame["function"] for frame in frames]
        return cls(names, *(each[told] for each in (location, time_ns, periods, function)))

    def most(
        self, locations: Integers, found: Occurrences, boundaries: Integers
    ) -> tuple[str | None, ...]:
        """The function of most samples in each phase of a process, of threads at locations."""
        names: list[str | None] = [None] * len(found.names)
        own = np.flatnonzero(np.isin(self.location, locations))
        if not len(own) or not len(found.phase):
            return tuple(names)
        time_ns = self.time_ns[own]
        place = np.searchsorted(boundaries[found.begin], time_ns, side="right") - 1
        inside = (place >= 0) & (time_ns < boundaries[found.end[place]])
        phase, function = found.phase[place[inside]], self.function[own[inside]]
        for row in by_times_seen(phase, function, self.periods[own[inside]]).tolist():
            names[int(phase[row])] = self.names[int(function[row])]
        return tuple(names)


def _in_calls(trace: Trace, where: AnyIntegers, time_ns: AnyIntegers) -> Mask:
    """Whether moments are in a call of their thread."""
    location, enter_ns, leave_ns = trace.arrays("calls", "location", "enter_ns", "leave_ns")
    row = last_until((location, enter_ns), (where, time_ns))
    inside: Mask = (row >= 0) & (time_ns < take(leave_ns, row))
    return inside
