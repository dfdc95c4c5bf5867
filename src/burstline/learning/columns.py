"""Which columns of a fused table are features, and which are the target in other words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

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


def counter_of(field: pa.Field) -> str:
    """The counter that a column holds, without the run it is from."""
    return _RUN.sub("", field.name) if runs_of(field) else str(field.name)


def runs_of(field: pa.Field) -> tuple[int, ...]:
    """The runs, from 1, that a counter's column is from; none if it does not say."""
    runs = _said(field.metadata, b"runs")
    return tuple(int(run) for run in runs.split(",") if run.strip().isdecimal())


def _said(metadata: Mapping[bytes, bytes] | None, key: bytes) -> str:
    """What a schema or field says under a key, in ASCII; empty if it says nothing."""
    return (metadata or {}).get(key, b"").decode("ascii", "replace")


def base_run(schema: pa.Schema) -> int | None:
    """The run, from 1, whose bursts a fused table holds."""
    base = _said(schema.metadata, b"base")
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
        rate = _SHARE.fullmatch(_said(field.metadata, b"match_rate"))
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
    _require(schema, target, without)
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
        elif _kind(quantity) in target_kinds and not (repeats and name in merged):
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
    kind = _kind(target)
    if kind == "ipc":
        return _TIMES | _INSTRUCTIONS
    if kind in _TIMES:
        return _TIMES
    if kind in _INSTRUCTIONS:
        return _INSTRUCTIONS | {"ipc"}
    return frozenset({kind})


def _kind(quantity: str) -> str:
    return quantity.rpartition(":")[2].lower()


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _require(schema: pa.Schema, target: str, without: Sequence[str]) -> None:
    missing = [name for name in (target, *without) if name not in schema.names]
    if missing:
        raise ParameterError(
            f"no column {', '.join(map(printable, missing))}; "
            f"there are {', '.join(map(printable, schema.names))}"
        )
    if not _is_number(schema.field(target).type):
        raise ParameterError(f"{printable(target)} is no number, and cannot be predicted")
