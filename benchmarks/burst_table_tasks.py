"""What children measure of burst tables: each function prepares, and returns the work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import polars as pl
import pyarrow as pa

import burstline
from benchmarks.conjugate import in_memory
from burstline.model import schema

Task = Callable[[], dict[str, Any]]

__all__ = ["burst_rows", "burst_rows_by_joins"]

_RANKS_PER_NODE: Final = 8
_CONTEXT: Final = ("operation", "peer", "tag", "sent_bytes", "received_bytes", "label")


def burst_rows(ranks: int, iterations: int) -> Task:
    """Make the burst table, all columns."""
    trace = whole(ranks, iterations)
    burstline.burst_table(whole(2, 1))

    def run() -> dict[str, Any]:
        table = burstline.burst_table(trace)
        (together,) = table.arrays("concurrency")
        bytes_of_row = table.table.nbytes / len(table)
        return {"bursts": len(table), "check": _check(together), "row_bytes": bytes_of_row}

    return run


def burst_rows_by_joins(ranks: int, iterations: int) -> Task:
    """Make the same of joins and sorts of a data frame library, the columns that matter."""
    trace = whole(ranks, iterations)
    frames = [trace.to_frame(name) for name in ("bursts", "calls", "locations", "call_paths")]
    _joined(*(frame.head(10) for frame in frames))

    def run() -> dict[str, Any]:
        table = _joined(*frames)
        return {"bursts": len(table), "check": _check(table["concurrency"].to_numpy())}

    return run


def whole(ranks: int, iterations: int) -> burstline.Trace:
    """Give the trace of :mod:`benchmarks.conjugate` with every column the schema knows."""
    part = in_memory(ranks, iterations)
    places = np.arange(ranks)
    (after,) = part.arrays("bursts", "call_after")
    told = {
        "locations": {
            "process": places,
            "kind": ["cpu"] * ranks,
            "node": [f"node{rank // _RANKS_PER_NODE}" for rank in places],
        },
        "bursts": {"burst": after - 1, "call_before": after - 1},
    }
    tables = {}
    for name in ("locations", "calls", "bursts", "call_paths", "counters"):
        table, columns = part.table(name), told.get(name, {})
        counters = part.counter_names if schema.TABLES[name].counters else ()
        target = schema.arrow_schema(name, counters)
        arrays = []
        for field in target:
            if field.name in table.column_names:
                arrays.append(table[field.name].cast(field.type))
            elif field.name in columns:
                arrays.append(pa.array(columns[field.name]).cast(field.type))
            else:
                arrays.append(_blank(field, table.num_rows))
        tables[name] = pa.Table.from_arrays(arrays, schema=target)
    return burstline.Trace(tables)


def _blank(field: pa.Field, rows: int) -> pa.Array:
    """Give nulls, or zeros and empty texts where there may be none."""
    if field.nullable:
        return pa.nulls(rows, field.type)
    if pa.types.is_integer(field.type):
        return pa.array(np.zeros(rows, np.int64)).cast(field.type)
    return pa.array([""] * rows).cast(field.type)


def _check(concurrency: Any) -> int:
    return round(float(np.nansum(concurrency)))


def _joined(
    bursts: pl.DataFrame, calls: pl.DataFrame, locations: pl.DataFrame, paths: pl.DataFrame
) -> pl.DataFrame:
    place = pl.format("{}@{}:{}", "function", "file", "line")
    paths = paths.with_columns(label=place.fill_null("").cast(pl.Categorical))
    parents = paths.select(parent="call_path", above="label")
    labels = paths.join(parents, on="parent", how="left").select("call_path", "label", "above")
    calls = calls.join(labels, on="call_path", how="left")
    table = bursts.join(locations.select("location", "rank", "thread", "node"), on="location")
    for side in ("before", "after"):
        around = calls.select(
            "location", "call", *(pl.col(name).alias(f"{name}_{side}") for name in _CONTEXT)
        )
        table = table.join(
            around,
            left_on=["location", f"call_{side}"],
            right_on=["location", "call"],
            how="left",
        )
    table = table.with_columns(
        duration_ns=pl.col("end_ns") - pl.col("start_ns"),
        position=pl.int_range(pl.len()).over("location") / pl.len().over("location"),
        ipc=pl.col("PAPI_TOT_INS") / pl.col("PAPI_TOT_CYC"),
        frequency=pl.col("PAPI_TOT_CYC") / (pl.col("end_ns") - pl.col("start_ns")),
    )
    return _with_concurrency(table)


def _with_concurrency(table: pl.DataFrame) -> pl.DataFrame:
    begins = table.select("node", time="start_ns", step=pl.lit(1))
    ends = table.select("node", time="end_ns", step=pl.lit(-1))
    running = pl.col("step").cum_sum().over("node")
    since = (pl.col("time") - pl.col("time").shift(1).over("node")).fill_null(0)
    spent = (running.shift(1).over("node").fill_null(0) * since).cum_sum().over("node")
    steps = pl.concat([begins, ends]).sort("node", "time").select("node", "time", spent=spent)
    steps = steps.unique(["node", "time"], keep="last", maintain_order=True)
    for side in ("start", "end"):
        times = steps.rename({"time": f"{side}_ns", "spent": f"spent_{side}"})
        table = table.join(times, on=["node", f"{side}_ns"], how="left")
    spent = pl.col("spent_end") - pl.col("spent_start")
    return table.with_columns(concurrency=spent / pl.col("duration_ns"))
