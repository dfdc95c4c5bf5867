"""Where detection gets what it asks of calls: of a whole trace, or of its parts.

What looks across processes needs the site of each call, what its unique calls are like, and how
long the stretches of calls took that it found. The columns of all calls stay with the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from burstline.identity import SiteKeys, Sites, site_keys
from burstline.model import StoredOverlay, Trace
from burstline.progress import SILENCE, Progress
from burstline.structure.calls import Calls, Told
from burstline.structure.exchanges import Received
from burstline.structure.kinds import Kinds
from burstline.structure.reduction import Reduced, UniqueCalls, reduced_of
from burstline.structure.stretches import Stretches, Times

_COLUMNS: Final = (
    "location", "call", "operation", "enter_ns", "leave_ns", "communicator", "peer", "root",
    "sent_bytes", "received_bytes", "call_path",
)  # fmt: skip
_Made = TypeVar("_Made")


class Parts(Protocol):
    """What a fold makes of each part of a trace, in order; `each` has what it takes of each."""

    def __call__(
        self, fold: Callable[..., _Made], each: Sequence[Mapping[str, Any]] | None = None
    ) -> Iterable[_Made]:
        """What it makes of each."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """The calls of one application, and who tells more of them."""

    trace: Trace
    calls: Calls
    sites: Sites  # of all calls
    kinds: Kinds  # of lanes, by these
    reduced: Reduced  # their unique calls
    parts: Parts | None  # None of a trace that is looked at as a whole
    asked: Sequence[_Part]

    @classmethod
    def of(
        cls,
        trace: Trace,
        application: int | None,
        parts: Parts | None = None,
        progress: Progress = SILENCE,
    ) -> Source:
        """Those of a trace as a whole, or of parts of it, each of whole processes."""
        progress.step("call sites", 0, "")
        ask = partial(_of_whole, _with_calls(trace), progress) if parts is None else parts
        tellings = list(ask(_telling))
        told = Told.of_all([each.told for each in tellings])
        calls = Calls(trace, application, told)
        asked = _parts_of(calls, told, tellings)
        del tellings
        found = list(ask(_found, each=[{"part": part} for part in asked]))
        keys = np.concatenate([each.keys.keys for each in found])
        distinct, number = np.unique(keys, axis=0, return_inverse=True)
        numbers = np.split(
            number.reshape(-1), np.cumsum([len(each.keys.keys) for each in found])[:-1]
        )
        named = max((each.keys for each in found), key=lambda own: len(own.operations))
        named = named._replace(keys=distinct)
        kinds = Kinds.of_all(
            (each.kinds, own.astype(np.int32)) for each, own in zip(found, numbers, strict=True)
        )
        sites = Sites(kinds.sequence(), named.named(trace), named.has_paths)
        unique = [each.unique.at_sites(own) for each, own in zip(found, numbers, strict=True)]
        reduced = reduced_of(trace, calls, sites, kinds, unique)
        return cls(trace, calls, sites, kinds, reduced, parts, asked)

    def reduced_at(self, sites: Sites) -> Reduced:
        """The unique calls, by any sites of the calls."""
        if sites is self.sites:
            return self.reduced
        kinds = self.kinds.at(sites.of_call, self.calls.lane_begin)
        each = [
            {"part": part, "kinds": kinds.of_lanes(part.lanes), "sites": len(sites)}
            for part in self.asked
        ]
        unique = list(self._ask(_reduced_at, each))
        return reduced_of(self.trace, self.calls, sites, kinds, unique)

    def times(self, stretches: Sequence[Stretches]) -> list[Times]:
        """How long some stretches of calls took on each lane."""
        if self.parts is None:  # whose columns are held for who looks at the calls next
            calls = self.calls
            return [
                each.times(calls.lane_begin, calls.enter_ns, calls.leave_ns)
                for each in stretches
            ]
        asked = [
            {
                "part": part._replace(received=None),  # nobody asks for messages
                "stretches": [each.of_lanes(part.lanes) for each in stretches],
            }
            for part in self.asked
        ]
        of_parts = zip(*self._ask(_times, asked), strict=True)
        return [Times.of_all(each) for each in of_parts]

    def _ask(
        self, fold: Callable[..., _Made], each: Sequence[Mapping[str, Any]]
    ) -> Iterable[_Made]:
        if self.parts is not None:
            return self.parts(fold, each=each)
        return _of_whole(_with_calls(self.trace), SILENCE, fold, each=each)


class _Part(NamedTuple):
    """What a part of a trace is asked with."""

    told: Told
    application: int
    lanes: slice
    received: Received | None  # from all parts; None of a trace as a whole

    def calls(self, trace: Trace) -> Calls:
        """The calls in it."""
        return Calls(trace, self.application, self.told)


class _Telling(NamedTuple):
    """What a part tells first."""

    told: Told
    locations: range | None
    sent: Received | None


class _Found(NamedTuple):
    """The sites that are in a part, who makes which calls, and the unique ones."""

    keys: SiteKeys
    kinds: Kinds
    unique: UniqueCalls


def _of_whole(
    trace: Trace,
    progress: Progress,
    fold: Callable[..., _Made],
    each: Sequence[Mapping[str, Any]] | None = None,
) -> Iterator[_Made]:
    for options in each or [{}]:
        yield fold(trace, locations=None, progress=progress, **options)


def _with_calls(trace: Trace) -> Trace:
    """The same, with its calls: a store would load them each time anew."""
    if not trace.is_stored:
        return trace
    parts = [*trace.batches("calls", _COLUMNS)]
    table = pa.concat_tables(parts) if parts else trace.table("calls").slice(0, 0)
    return Trace(StoredOverlay(trace, {"calls": table}), sources=trace.sources)


def _parts_of(calls: Calls, told: Told, tellings: Sequence[_Telling]) -> list[_Part]:
    ranges = [each.locations for each in tellings if each.locations is not None]
    sent = [each.sent for each in tellings if each.sent is not None]
    if not ranges:
        return [_Part(told, calls.application, slice(0, len(calls.locations)), None)]
    received = Received.shared_out(sent, ranges)
    ends = np.searchsorted(calls.locations, [0, *(own.stop for own in ranges)]).tolist()
    return [
        _Part(told.within(own), calls.application, slice(*lanes), messages)
        for own, lanes, messages in zip(ranges, pairwise(ends), received, strict=True)
    ]


def _telling(trace: Trace, *, locations: range | None, **_: object) -> _Telling:
    sent = None if locations is None else Received.of_part(trace)
    return _Telling(Told.of(trace), locations, sent)


def _found(trace: Trace, *, part: _Part, progress: Progress = SILENCE, **_: object) -> _Found:
    held = _with_calls(trace)
    calls = part.calls(held)
    keys = site_keys(held, calls.row, calls.world_size, has_paths=calls.has_paths)
    kinds = Kinds.of(keys.of_call, calls.lane_begin, calls.enter_ns)
    progress.step("reduction", 0, "")
    unique = UniqueCalls.of(held, calls, keys.of_call, len(keys.keys), part.received)
    return _Found(keys._replace(of_call=keys.of_call[:0]), kinds, unique)


def _reduced_at(
    trace: Trace, *, part: _Part, kinds: Kinds, sites: int, **_: object
) -> UniqueCalls:
    held = _with_calls(trace)
    calls = part.calls(held)
    return UniqueCalls.of(held, calls, kinds.sequence(), sites, part.received)


def _times(
    trace: Trace, *, part: _Part, stretches: Sequence[Stretches], **_: object
) -> list[Times]:
    calls = part.calls(trace)
    return [each.times(calls.lane_begin, calls.enter_ns, calls.leave_ns) for each in stretches]
