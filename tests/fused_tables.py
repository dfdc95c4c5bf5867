"""Fused tables of bursts whose duration follows a known law."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from burstline.merge.tables.columns import table_schema

OPERATIONS = ("MPI_Send", "MPI_Recv", "MPI_Allreduce")
LAW_NS = 3


def fused_table(counters, duration_ns, *, ranks=4, operations=None, **columns):
    """Give a table as `burstline merge --dataset` writes it.

    `counters` maps columns to pairs of the runs they are from, counted from 1, and values;
    run 1 is the base. `columns` replace others.
    """
    rows = len(duration_ns)
    rank = np.arange(rows) * ranks // rows
    burst = np.arange(rows) - np.searchsorted(rank, rank)
    codes = np.arange(rows) % 3 if operations is None else operations
    values = {
        "rank": rank,
        "thread": np.zeros(rows, int),
        "burst": burst,
        "duration_ns": duration_ns,
        **{name: one for name, (runs, one) in counters.items() if runs.startswith("1")},
        "operation_before": [OPERATIONS[code] for code in codes],
        "operation_after": [OPERATIONS[(code + 1) % 3] for code in codes],
        "position": burst * ranks / rows,
        **columns,
    }
    plain = table_schema()
    fields = [
        plain.field(name) if name in plain.names else pa.field(name, pa.int64())
        for name in values
    ]
    arrays = [pa.array(one) for one in values.values()]
    table = pa.table(arrays, names=list(values)).cast(pa.schema(fields))
    for name, (runs, one) in counters.items():
        field = pa.field(name, pa.int64(), metadata={"runs": runs})
        if name in values:
            at = table.schema.get_field_index(name)
            table = table.set_column(at, field, table.column(name))
        else:
            table = table.append_column(field, pa.array(one, pa.int64()))
    stage = pa.array(["direct"] * rows).dictionary_encode()
    return table.append_column("stage", stage).append_column("burst_0", pa.array(burst))


def work_of(rows, seed=0):
    """Give numbers of a counter, over two decades."""
    return (10 ** np.random.default_rng(seed).uniform(2, 4, rows)).astype(np.int64)


def law_of_merged(rows=400, *, noise=0.0, seed=0, **options):
    """Give a table in which the duration follows a counter that only run 2 has."""
    work = work_of(rows, seed)
    away = np.exp(noise * np.random.default_rng(seed + 1).normal(size=rows))
    duration_ns = (LAW_NS * work * away).astype(np.int64) + 1
    counters = {"IR_TOT_INS": ("1,2", work_of(rows, seed + 2)), "IR_LD_INS": ("2", work)}
    return fused_table(counters, duration_ns, **options)


def law_of_base(rows=400, seed=0):
    """Give one in which it follows the base's counter; what run 2 has means nothing."""
    work = work_of(rows, seed)
    away = np.exp(0.05 * np.random.default_rng(seed + 1).normal(size=rows))
    duration_ns = (LAW_NS * work * away).astype(np.int64) + 1
    counters = {"IR_TOT_INS": ("1,2", work), "IR_LD_INS": ("2", work_of(rows, seed + 2))}
    return fused_table(counters, duration_ns)


def law_of_each_rank(rows=400, seed=0):
    """Give one in which it follows the base's counter, on every other rank the other way."""
    work = work_of(rows, seed)
    turned = np.arange(rows) * 4 // rows % 2 == 1
    counters = {"IR_TOT_INS": ("1,2", work), "IR_LD_INS": ("2", work_of(rows, seed + 2))}
    return fused_table(counters, LAW_NS * np.where(turned, 1_000_000 // work, work) + 1)
