"""What each location of a trace did, told as events of an archive.

Messages and collectives are in no order of locations on both their sides: they are kept
whole, and sorted once. All else is taken a location at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from burstline import operations
from burstline._core import Written
from burstline.columns import distinct, to_numpy
from burstline.formats.otf2.writing.definitions import counters_read
from burstline.formats.otf2.writing.halves import Halves
from burstline.formats.otf2.writing.messages import Collectives, Messages
from burstline.formats.otf2.writing.order import Happened, Turn
from burstline.formats.otf2.writing.other_events import OtherEvents
from burstline.formats.otf2.writing.parameters import Parameters
from burstline.formats.walking import Walk
from burstline.schema import GAP_KINDS, NO_VALUE

if TYPE_CHECKING:
    import pyarrow as pa

    from burstline.columns import Integers
    from burstline.formats.otf2.writing.definitions import Defining
    from burstline.trace import Trace


_ON, _OFF = 1, 2
_FLUSH: Final = GAP_KINDS.index("flush")
_NEVER_THERE: Final = GAP_KINDS.index("not_created")
_CALL: Final = ("location", "operation", "enter_ns", "leave_ns", "enter_seq", "leave_seq")
_REGION: Final = ("location", "region", *_CALL[2:])
_LARGEST_LOCK: Final = 0xFFFFFFFF


class Telling:
    """The events of all locations, asked for in their order.

    Parameters
    ----------
    trace : Trace
        The trace.
    defining : Defining
        What its archive defines; operations and metrics are added as they come up.
    """

    def __init__(self, trace: Trace, defining: Defining) -> None:
        self._defining = defining
        born, died = trace.arrays("locations", "born_ns", "died_ns")
        self._start = min(int(born.min(initial=0)), 0)
        self._length = max(int(died.max(initial=0)) - self._start, 0) + 1
        self._application, self._process = (
            column.astype(np.int64)
            for column in trace.arrays("locations", "application", "process")
        )
        roles = trace.region_defs["role"].to_pylist()
        self._is_team = np.array([role == "team" for role in roles], bool)
        self._calls, self._regions = (
            Walk(trace, "calls", _CALL),
            Walk(trace, "regions", _REGION),
        )
        self._readings = Walk(trace, "readings")
        self._gaps, self._locks = Walk(trace, "gaps"), Walk(trace, "locks")
        self._counters = trace.counter_names
        self._absolute = [mode == "absolute" for mode in trace.counters["mode"].to_pylist()]
        who = (self._application, self._process)
        self._messages = Messages(trace, defining.communicators, *who)
        self._collectives = Collectives(trace, defining.communicators, *who)
        self._forks = _by_location(trace, "teams", "fork_location")
        self._halves = Halves(trace, defining.communicators, self._application)
        self._others = OtherEvents(trace, defining)
        self._parameters = Parameters(trace, defining)
        self._lock_numbers: dict[int, int] = {}

    @property
    def length_ns(self) -> int:
        """Length of the trace, so that no event is behind it."""
        return self._length

    def of(self, location: int) -> tuple[Happened, Integers]:
        """Give what a location did, and the values of its metrics.

        Parameters
        ----------
        location : int
            Not before one that was asked for already.

        Returns
        -------
        happened : Happened
            Its events; no time is before 0.
        values : ndarray of int64
            That its metrics and programs refer to.
        """
        happened = Happened(self._start)
        calls = _columns(self._calls.of(location), _CALL[1:])
        self._spans(happened, location, calls)
        self._teams(happened, location)
        self._messages.tell(happened, location, calls)
        self._halves.tell(happened, location)
        self._collectives.tell(happened, location, calls)
        self._tell_locks(happened, location)
        self._tell_gaps(happened, location)
        self._parameters.tell(happened, location)
        values = self._others.tell(happened, location, self._metrics(happened, location))
        self._length = max(self._length, happened.last_ns + 1)
        return happened, values

    def _spans(self, happened: Happened, location: int, calls: dict[str, Integers]) -> None:
        names = self._calls.names("operation") or list(operations.NAMES)
        used, place = np.unique(calls["operation"], return_inverse=True)
        mapped = [self._defining.operation(int(code), names) for code in used]
        regions = _columns(self._regions.of(location), _REGION[1:])
        is_team = np.append(self._is_team, False)[regions["region"]]
        team = np.where(is_team, self._defining.teams[location], -1)
        spans = {name: np.concatenate([calls[name], regions[name]]) for name in _CALL[2:]}
        what = np.concatenate(
            [
                np.array(mapped, np.int64)[place.reshape(-1)],
                self._defining.regions[regions["region"]],
            ]
        )
        team = np.concatenate([np.full(len(place), -1), team])
        # Regions that begin together with a call are around it, if they end later.
        order = np.lexsort(
            (
                -spans["leave_seq"],
                -spans["leave_ns"],
                spans["enter_seq"],
                spans["enter_ns"],
            )
        )
        spans = {name: column[order] for name, column in spans.items()}
        happened.add_spans(
            (spans["enter_ns"], spans["enter_seq"]),
            (spans["leave_ns"], spans["leave_seq"]),
            what[order],
            team[order],
        )

    def _teams(self, happened: Happened, location: int) -> None:
        mine = self._forks.get(location)
        if mine is None:
            return
        happened.add(
            Written.FORK, mine["fork_ns"], mine["fork_seq"], Turn.FORK, mine["threads"]
        )
        happened.add(Written.JOIN, mine["join_ns"], mine["join_seq"], Turn.JOIN)

    def _tell_locks(self, happened: Happened, location: int) -> None:
        names = ("lock", "order", "acquire_ns", "acquire_seq", "release_ns", "release_seq")
        locks = _columns(self._locks.of(location), names)
        number = self._numbered(locks["lock"])
        happened.add(
            Written.ACQUIRE,
            locks["acquire_ns"],
            locks["acquire_seq"],
            Turn.START,
            number,
            locks["order"],
        )
        ended = (locks["release_seq"] != NO_VALUE) & (locks["release_ns"] != NO_VALUE)
        happened.add(
            Written.RELEASE,
            locks["release_ns"][ended],
            locks["release_seq"][ended],
            Turn.COMPLETION,
            number[ended],
            locks["order"][ended],
        )

    def _numbered(self, locks: Integers) -> Integers:
        """Give locks the numbers they have, or others where these do not fit."""
        if ((locks >= 0) & (locks <= _LARGEST_LOCK)).all() and not self._lock_numbers:
            return locks
        known = self._lock_numbers
        return np.array(
            [known.setdefault(lock, len(known)) for lock in locks.tolist()], np.int64
        )

    def _tell_gaps(self, happened: Happened, location: int) -> None:
        gaps = _columns(self._gaps.of(location), ("start_ns", "end_ns", "kind"))
        some = gaps["start_ns"] < gaps["end_ns"]
        gaps = {name: column[some] for name, column in gaps.items()}
        first = np.full(len(gaps["kind"]), -1, np.int64)
        flush = gaps["kind"] == _FLUSH
        start, end = gaps["start_ns"][flush], gaps["end_ns"][flush]
        happened.add(Written.FLUSH, start, first[flush], Turn.METRIC, end - self._start)
        off = ~flush & (gaps["kind"] != _NEVER_THERE)
        happened.add(Written.MEASUREMENT, gaps["start_ns"][off], first[off], Turn.LEAVE, _OFF)
        happened.add(Written.MEASUREMENT, gaps["end_ns"][off], first[off], Turn.METRIC, _ON)

    def _metrics(self, happened: Happened, location: int) -> Integers:
        readings = self._readings.of(location)
        if not self._counters or not readings.num_rows:
            return np.empty(0, np.int64)
        read = counters_read(readings, self._counters)
        values = np.zeros(read.shape, np.int64)
        for place, name in enumerate(self._counters):
            column = np.where(read[:, place], to_numpy(readings[name]), 0)
            values[:, place] = column if self._absolute[place] else np.cumsum(column)
        count = read.sum(axis=1)
        patterns, which = distinct(*np.packbits(read, axis=1).T)
        metrics = [
            self._defining.metric(tuple(np.flatnonzero(one).tolist())) if one.any() else 0
            for one in read[patterns]
        ]
        metric = np.array(metrics, np.int64)[which]
        kept = count > 0
        time, seq = (to_numpy(readings[name])[kept] for name in ("time_ns", "seq"))
        first = 2 * (np.cumsum(count) - count)
        happened.add(
            Written.METRIC, time, seq, Turn.METRIC, metric[kept], first[kept], count[kept]
        )
        types = np.broadcast_to(self._defining.value_types, read.shape)
        return np.hstack([values, types])[np.hstack([read, read])]


def _columns(rows: pa.Table, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: to_numpy(rows[name]).astype(np.int64) for name in names}


def _by_location(trace: Trace, name: str, key: str) -> dict[int, dict[str, Integers]]:
    """Give the rows of a small table by the location they are about."""
    table = trace.table(name)
    names = ("fork_ns", "fork_seq", "join_ns", "join_seq", "threads")
    columns = _columns(table, names)
    where = to_numpy(table[key])
    order = np.argsort(where, kind="stable")
    locations, starts = np.unique(where[order], return_index=True)
    parts = np.split(order, starts[1:]) if len(starts) else []
    return {
        location: {name: column[part] for name, column in columns.items()}
        for location, part in zip(locations.tolist(), parts, strict=True)
    }
