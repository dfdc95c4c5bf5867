"""Features of bursts: which columns of fused tables they are, and these columns as numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from burstline.columns import Floats, Integers, coded, take
from burstline.errors import ParameterError, printable
from burstline.identity import SIDES
from burstline.merge import FIXED

DURATION: Final = "duration_ns"
TEXTS: Final = ("operation", "communicator", "call_path")
SIZES: Final = ("bytes_sent", "bytes_received")
PARTNER: Final = "partner"
BY_ACCIDENT: Final = frozenset({"position", "concurrency"})
"""Features in which even twins differ."""

_CONTEXT: Final = tuple(
    f"{name}_{side}" for side in SIDES for name in (*TEXTS, PARTNER, *SIZES)
)
_FIGURES: Final = ("concurrency", "position", "ipc", "frequency", DURATION)
_ORIGIN: Final = re.compile(r"stage|similarity|burst_\d+")
_ORDINAL: Final = re.compile(r"burst_(\d{1,9})", re.ASCII)
_SHARE: Final = re.compile(r"\d(?:\.\d+)?(?:e-\d{1,3})?", re.ASCII)
_RUN: Final = re.compile(r"^(?:run\d+\.)+")
_OF_BURSTS: Final = ("polling_ns", "waiting_ns", "gap_ns", "frequency", "ipc")
_CYCLES: Final = ("papi_tot_cyc", "papi_ref_cyc", "cycles", "cpu-cycles", "ref-cycles")
_CLOCKS: Final = ("bus-cycles", "cpu", "cpu-clock", "task-clock")
_TIMES: Final = frozenset({DURATION, *_OF_BURSTS, *_CYCLES, *_CLOCKS})
"""What measures how long a burst lasted, or is made of it."""

_INSTRUCTIONS: Final = frozenset({"papi_tot_ins", "instructions"})
_SAYS_IT: Final = "it is the target, or a part of it"
_SAYS_IT_AGAIN: Final = "another run's measurement of the target, or of a part of it"


@dataclass(frozen=True, slots=True)
class Roles:
    """What the columns of a fused table are to a predictor."""

    # features that the base run alone gives: context, figures, its counters
    base: tuple[str, ...]
    merged: tuple[str, ...]  # counters of other runs
    # further columns that could have been features, and why they are none
    left_out: dict[str, str]

    def without(self, left_out: Mapping[str, str]) -> Roles:
        """The same without some features, and why."""
        base, merged = (
            tuple(name for name in names if name not in left_out)
            for names in (self.base, self.merged)
        )
        return Roles(base, merged, {**self.left_out, **left_out})


def counter_of(field: pa.Field) -> str:
    """The counter that a column holds, without the run it is from."""
    return _RUN.sub("", field.name) if runs_of(field) else str(field.name)


def runs_of(field: pa.Field) -> tuple[int, ...]:
    """The runs, from 1, that a counter's column is from; none if it does not say."""
    runs = _metadata_text(field.metadata, b"runs")
    return tuple(int(run) for run in runs.split(",") if run.strip().isdecimal())


def _metadata_text(metadata: Mapping[bytes, bytes] | None, key: bytes) -> str:
    """What a schema or field says under a key, in ASCII; empty if it says nothing."""
    return (metadata or {}).get(key, b"").decode("ascii", "replace")


def base_run(schema: pa.Schema) -> int | None:
    """The run, from 1, whose bursts a fused table holds."""
    base = _metadata_text(schema.metadata, b"base")
    if base.isdecimal():
        return int(base)
    last = max(
        (position for position, name in enumerate(schema.names) if name in FIXED), default=-1
    )
    runs_before = [runs_of(schema.field(position)) for position in range(last)]
    return next((runs[0] for runs in runs_before if runs), None)


def match_rates(schema: pa.Schema) -> list[tuple[int, float, bool]]:
    """Each run of a fused table, from 1, what of it the base has, and whether it is that."""
    rates = []
    for field in schema:
        rate = _SHARE.fullmatch(_metadata_text(field.metadata, b"match_rate"))
        if rate and (column := _ORDINAL.fullmatch(field.name)):
            run = int(column[1]) + 1
            rates.append((run, float(rate[0]), run == base_run(schema)))
    return rates


def counters_of(schema: pa.Schema) -> tuple[list[pa.Field], list[pa.Field]]:
    """The counters of the base run, and those of other runs."""
    base_counters: list[pa.Field] = []
    merged: list[pa.Field] = []
    base = base_run(schema)
    for field in schema:
        if field.name in FIXED or _ORIGIN.fullmatch(field.name) or not _is_number(field.type):
            continue
        runs = runs_of(field)
        (merged if runs and base not in runs else base_counters).append(field)
    return base_counters, merged


def roles(
    schema: pa.Schema, target: str, *, without: Sequence[str] = (), repeats: bool = False
) -> Roles:
    """Which columns are features, for a target."""
    _require_columns(schema, target, without)
    base_counters, merged_counters = counters_of(schema)
    target_kinds = parts_of(counter_of(schema.field(target)))
    numbers = {field.name: field for field in (*base_counters, *merged_counters)}
    merged = {field.name for field in merged_counters}
    left_out: dict[str, str] = {}
    chosen: list[str] = []
    for name in (*_CONTEXT, *_FIGURES, *numbers):
        if name not in schema.names or name == target:
            continue
        quantity = counter_of(numbers[name]) if name in numbers else name
        if name in without:
            left_out[name] = "as asked for"
        elif _base_name(quantity) in target_kinds and not (repeats and name in merged):
            left_out[name] = _SAYS_IT_AGAIN if name in merged else _SAYS_IT
        else:
            chosen.append(name)
    return Roles(
        tuple(name for name in chosen if name not in merged),
        tuple(name for name in chosen if name in merged),
        left_out,
    )


def parts_of(target: str) -> frozenset[str]:
    """The kinds of columns that are a target: itself, and what it is made of."""
    kind = _base_name(target)
    if kind == "ipc":
        return _TIMES | _INSTRUCTIONS
    if kind in _TIMES:
        return _TIMES
    if kind in _INSTRUCTIONS:
        return _INSTRUCTIONS | {"ipc"}
    return frozenset({kind})


def _base_name(quantity: str) -> str:
    return quantity.rpartition(":")[2].lower()


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _require_columns(schema: pa.Schema, target: str, without: Sequence[str]) -> None:
    missing = [name for name in (target, *without) if name not in schema.names]
    if missing:
        raise ParameterError(
            f"no column {', '.join(map(printable, missing))}; "
            f"there are {', '.join(map(printable, schema.names))}"
        )
    if not _is_number(schema.field(target).type):
        raise ParameterError(f"{printable(target)} is no number, and cannot be predicted")


_UNKNOWN: Final = np.nan


@dataclass(frozen=True, slots=True, eq=False)
class FeatureMatrix:
    """Features of bursts."""

    names: tuple[str, ...]  # of the features
    # (rows, features) NaN where unknown; partners are distances from the rank of the burst
    values: Floats
    # features whose numbers stand for names: which is larger means nothing
    is_name: tuple[bool, ...]

    def of(self, names: Sequence[str]) -> FeatureMatrix:
        """Some of the features."""
        places = [self.names.index(name) for name in names]
        flags = tuple(self.is_name[place] for place in places)
        return FeatureMatrix(tuple(names), self.values[:, places], flags)

    def rows(self, rows: Integers) -> FeatureMatrix:
        """Some of the bursts."""
        return self.holding(self.values[rows])

    def holding(self, values: Floats) -> FeatureMatrix:
        """The same features of other bursts."""
        return FeatureMatrix(self.names, values, self.is_name)

    def shuffled(self, names: Sequence[str], generator: np.random.Generator) -> FeatureMatrix:
        """The features, with the values of some dealt out at random, each row's together."""
        places = [self.names.index(name) for name in names]
        values = self.values.copy()
        order = generator.permutation(len(values))
        values[:, places] = values[order][:, places]
        return self.holding(values)

    def known_to(self, learnt: FeatureMatrix) -> FeatureMatrix:
        """The features, NaN for each name that is not among those learnt from."""
        values = self.values.copy()
        for place, is_name in enumerate(self.is_name):
            if is_name:
                is_new = ~np.isin(values[:, place], learnt.values[:, place])
                values[is_new, place] = _UNKNOWN
        return self.holding(values)

    def kinds(self) -> Integers:
        """A number per burst, shared by those equal in all but position and concurrency."""
        places = [place for place, name in enumerate(self.names) if name not in BY_ACCIDENT]
        if not places:
            return np.zeros(len(self.values), np.int64)
        plain = np.nan_to_num(self.values[:, places], nan=-np.inf)
        return np.asarray(np.unique(plain, axis=0, return_inverse=True)[1]).ravel()


def matrix(tables: Sequence[pa.Table], names: Sequence[str]) -> FeatureMatrix:
    """Columns of tables as features, the rows of one table after another."""
    columns = [column_values(tables, name) for name in names]
    size = sum(table.num_rows for table in tables)
    values = np.column_stack(columns) if columns else np.zeros((size, 0))
    return FeatureMatrix(
        tuple(names), values, tuple(_is_text(tables[0].schema.field(name)) for name in names)
    )


def column_values(tables: Sequence[pa.Table], name: str) -> Floats:
    """One column as numbers, NaN where nothing is known; see :func:`matrix`, shape (rows,)."""
    if _is_text(tables[0].schema.field(name)):
        columns = [table[name] for table in tables]
        names = {name for column in columns for name in pc.unique(column).to_pylist()}
        numbers = {name: number for number, name in enumerate(sorted(names - {None}))}
        return np.concatenate([_text_numbers(column, numbers) for column in columns])
    values = np.concatenate([_float_values(table[name]) for table in tables])
    if name.startswith(f"{PARTNER}_"):
        values -= np.concatenate([_float_values(table["rank"]) for table in tables])
    return values


def _text_numbers(column: pa.ChunkedArray, numbers: Mapping[str | None, int]) -> Floats:
    is_coded = pa.types.is_dictionary(column.type)
    codes, names = coded(column if is_coded else column.dictionary_encode())
    values = np.array([numbers.get(name, _UNKNOWN) for name in names], np.float64)
    return take(values, codes, _UNKNOWN)


def _float_values(column: pa.ChunkedArray) -> Floats:
    values = column.cast(pa.float64(), safe=False).to_numpy()
    return np.asarray(values, np.float64)


def _is_text(field: pa.Field) -> bool:
    return bool(
        pa.types.is_dictionary(field.type)
        or pa.types.is_string(field.type)
        or pa.types.is_large_string(field.type)
    )
