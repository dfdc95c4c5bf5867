"""Metrics of an archive as counters, and their readings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.columns import Columns, Integers, begins_run
from burstline.extrae import counter_types
from burstline.formats.intake import Defects
from burstline.formats.otf2.reading.archive import ArchiveDefinitions, Member
from burstline.model import NO_VALUE, VALUE_TYPES, arrow_table, row_table, schema

_ACCUMULATED: Final = 0
_MODES: Final = {1: "absolute"}
_PROPERTY: Final = 0xF
_FLOAT, _DOUBLE = VALUE_TYPES.index("float"), VALUE_TYPES.index("double")
_UINT64: Final = VALUE_TYPES.index("uint64")
_LARGEST: Final = float(1 << 62)
_BASES: Final = {0: 2, 1: 10}
# A count that is estimated falls now and then; one of a hundred steps down makes a gauge.
_OFTEN: Final = 0.01


class Metrics:
    """The metrics of an archive that events may read; `names` are those of their columns."""

    def __init__(self, defined: ArchiveDefinitions, gauges: Collection[str] = ()) -> None:
        self.names: list[str] = []
        self._gauges = gauges
        self._steps: Counter[str] = Counter()
        self._falls: Counter[str] = Counter()
        self._members: list[Member] = []
        self._units: list[str] = []
        place: dict[int, int] = {}
        for members in defined.metrics.values():
            for number in members:
                if number in place or number not in defined.metric_members:
                    continue
                member = defined.metric_members[number]
                place[number] = len(self.names)
                self.names.append(self._fresh(defined.text(member.name) or f"metric {number}"))
                self._members.append(member)
                self._units.append(_scaled_unit(member, defined.text(member.unit)))
                defined.account.charge_row("counters", (self.names[-1], self._units[-1]))
        self._columns = {
            metric: [place.get(number, -1) for number in members]
            for metric, members in defined.metrics.items()
        }

    def _fresh(self, name: str) -> str:
        base = f"{name}_counter" if name in schema.BESIDE_COUNTERS else name
        fresh, number = base, 1
        while fresh in self.names:
            number += 1
            fresh = f"{base}_{number}"
        return fresh

    def table(self) -> pa.Table:
        """The table `counters`."""
        types = counter_types(self.names)
        listed = zip(self.names, self._units, self._members, strict=True)
        rows = (
            (name, unit, self._mode(name, member.mode & _PROPERTY), types[name])
            for name, unit, member in listed
        )
        return row_table("counters", rows)

    def _mode(self, name: str, declared: int) -> str:
        return "absolute" if name in self._gauges else _MODES.get(declared, "delta")

    def falling(self) -> frozenset[str]:
        """The accumulated metrics that fell too often, in what was read, to be counts."""
        often = (
            name for name, falls in self._falls.items() if falls > _OFTEN * self._steps[name]
        )
        return frozenset(often)

    def readings(self, readings: Columns, values: Columns, defects: Defects) -> pa.Table:
        """The table `readings`."""
        location, seq = readings["location"], readings["seq"]
        new = begins_run(seq, location)
        first = np.flatnonzero(new)
        row = np.cumsum(new) - 1
        columns: dict[str, npt.NDArray[Any]] = {
            "location": location[first],
            "seq": seq[first],
            "time_ns": readings["time_ns"][first],
        }
        columns |= {name: np.full(len(first), NO_VALUE) for name in self.names}
        count = readings["count"]
        start = np.cumsum(count, dtype=np.int64) - count
        for metric in np.unique(readings["metric"]).tolist():
            of_metric = np.flatnonzero(readings["metric"] == metric)
            members = self._columns.get(metric & 0xFFFFFFFF, [])
            if not members or -1 in members:
                defects.note("metric_not_defined", "loss", f"metric {metric}", len(of_metric))
            for position, column in enumerate(members):
                if column >= 0:
                    chosen = of_metric[count[of_metric] > position]
                    places, name = start[chosen] + position, self.names[column]
                    columns[name][row[chosen]] = _rounded_values(
                        values["value"][places], values["type"][places], name, defects
                    )
        for name, member in zip(self.names, self._members, strict=True):
            if member.mode & _PROPERTY == _ACCUMULATED and name not in self._gauges:
                columns[name] = self._differences(
                    columns["location"], columns[name], name, defects
                )
        return arrow_table("readings", columns, counters=self.names)

    def _differences(
        self, location: npt.NDArray[Any], value: Integers, name: str, defects: Defects
    ) -> Integers:
        """Each recorded value's difference to the one before on its location."""
        recorded = np.flatnonzero(value != NO_VALUE)
        if not len(recorded):
            return value
        # The first value counts from 0, as measurement does.
        first = np.append(True, np.diff(location[recorded]) != 0)
        step = np.where(first, value[recorded], np.diff(value[recorded], prepend=0))
        back = (step < 0) & ~first
        if back.any():
            text = f"location {location[recorded[int(back.argmax())]]}: {name}"
            defects.note("counter_runs_backwards", "info", text, np.count_nonzero(back))
        self._steps[name] += int(np.count_nonzero(step))
        self._falls[name] += int(np.count_nonzero(back))
        result = value.copy()
        result[recorded] = step
        return result


def _scaled_unit(member: Member, unit: str) -> str:
    plain = "" if unit == "#" else unit
    if not member.exponent:
        return plain
    return f"{_BASES.get(member.base, 10)}^{member.exponent} {plain}".strip()


def _rounded_values(
    value: Integers, kind: npt.NDArray[np.uint8], name: str, defects: Defects
) -> Integers:
    """Values as integers, fractions rounded."""
    single, double = kind == _FLOAT, kind == _DOUBLE
    wide = np.zeros(len(value))
    wide[single] = value[single].astype(np.uint64).astype(np.uint32).view(np.float32)
    wide[double] = value[double].view(np.float64)
    is_finite = np.isfinite(wide)
    is_large = is_finite & (np.abs(wide) >= _LARGEST)
    is_large |= ~(single | double) & (value == NO_VALUE)
    is_large |= (kind == _UINT64) & (value < 0)
    nearest = np.rint(np.where(is_finite & ~is_large, wide, 0))
    defects.note("metric_not_finite", "loss", name, np.count_nonzero(~is_finite))
    defects.note("metric_too_large", "loss", name, np.count_nonzero(is_large))
    is_rounded = is_finite & ~is_large & (nearest != wide)
    defects.note("metric_rounded", "loss", name, np.count_nonzero(is_rounded))
    integers = np.where(single | double, nearest.astype(np.int64), value)
    return np.where(is_finite & ~is_large, integers, NO_VALUE)
