"""Fused tables: which counter of which run stands in which column."""

from __future__ import annotations

import pytest

from burstline.errors import NotEnoughDataError, ParameterError
from burstline.merge import burst_table
from burstline.merge.fusion import fuse, values_of
from burstline.merge.matching import match
from burstline.model import NO_VALUE
from burstline.testing import trace_of

CALLS = ("MPI_Init", "MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Finalize")


def run(values, calls=CALLS, ranks=1, scale=1):
    """Give a run whose counters have a value per burst, by name; None: not read."""
    lines = [f"ranks {ranks}"]
    lines += [
        f'counter {name} unit "" mode delta type {k + 1}' for k, name in enumerate(values)
    ]
    for rank in range(ranks):
        lines.append(str(rank))
        for k, call in enumerate(calls):
            read = {name: own[k - 1] if k else 0 for name, own in values.items()}
            told = " ".join(f"{name}={it}" for name, it in read.items() if it is not None)
            zeros = " ".join(f"{name}=0" for name in values)
            lines += [
                f"{10 * k * scale} enter {call} {told}",
                f"{10 * k * scale + 5} leave {zeros}",
            ]
    return trace_of(" | ".join(lines))


def fused_of(*traces):
    tables = [burst_table(trace) for trace in traces]
    return fuse(tables, match(traces)), tables


def columns(fused, *names):
    return [fused.table[name].to_pylist() for name in names]


def test_a_counter_that_all_runs_count_alike_is_one_column():
    fused, tables = fused_of(run({"A": [1, 2, 3, 4]}), run({"A": [1, 2, 3, 4]}, scale=3))

    assert [one.runs for one in fused.counters] == [(0, 1)]
    assert (
        fused.table.column_names[: tables[0].table.num_columns] == tables[0].table.column_names
    )
    assert not fused.is_divergent("A")
    assert fused.added == ()


def test_a_counter_that_differs_is_kept_of_each_run_that_differs():
    traces = run({"A": [1, 2, 3, 4]}), run({"A": [1, 2, 3, 5]}), run({"A": [1, 2, 3, 4]})
    fused, tables = fused_of(*traces)

    columns_of = [(one.column, one.runs) for one in fused.counters]
    assert columns_of == [("A", (0, 2)), ("run2.A", (1,))]
    assert columns(fused, "A", "run2.A") == [[1, 2, 3, 4], [1, 2, 3, 5]]
    assert fused.is_divergent("A")
    assert fused.runs_with("A") == [0, 1, 2]
    assert values_of(tables, fused, "A")[3].tolist() == [4, 5, 4]


def test_a_column_of_a_merged_run_keeps_its_name_where_its_counter_differs_again():
    merged = run({"A": [1, 2, 3, 4], "run2.A": [1, 2, 3, 5]})
    fused, _ = fused_of(merged, run({"A": [1, 2, 3, 6]}))

    assert [(one.column, one.runs) for one in fused.counters] == [
        ("A", (0,)),
        ("run2.run2.A", (1,)),
        ("run2.A", (0,)),
    ]
    assert columns(fused, "run2.A", "run2.run2.A") == [[1, 2, 3, 5], [1, 2, 3, 6]]


def test_a_counter_of_other_runs_alone_has_its_own_name_and_they_fill_in_for_each_other():
    fused, _ = fused_of(run({"A": [1, 2, 3, 4]}), run({"B": [5, 6, 7, 8]}))
    assert columns(fused, "A", "B") == [[1, 2, 3, 4], [5, 6, 7, 8]]
    assert [fused.table.schema.field(name).metadata[b"runs"] for name in "AB"] == [b"1", b"2"]

    traces = run({"A": [1, 2, 3, 4]}), run({"B": [5, 6, 7, None]}), run({"B": [5, None, 7, 8]})
    fused, _ = fused_of(*traces)
    assert columns(fused, "B") == [[5, 6, 7, 8]]
    assert fused.table.schema.field("B").metadata[b"runs"] == b"2,3"


def test_every_burst_of_the_base_says_where_it_is_from():
    calls = [*CALLS[:2], "MPI_Scan", *CALLS[2:]]
    fused, _ = fused_of(run({"A": [1, 2, 3, 4]}), run({"B": [5, 6, 7, 8, 9]}, calls))

    assert fused.base == 0
    assert columns(fused, "burst_0", "burst") == [[0, 1, 2, 3]] * 2
    stages, partners, values = columns(fused, "stage", "burst_1", "B")
    assert all(
        (stage == "none") == (other is None)
        for stage, other in zip(stages, partners, strict=True)
    )
    assert [None if k is None else k + 5 for k in partners] == values
    whole = fused.matched_only()
    assert whole.num_rows == len([stage for stage in stages if stage != "none"])


def test_threads_that_only_the_base_has_are_kept_without_a_match():
    calls = "0 enter MPI_Init | 5 leave | 9 enter MPI_Bcast | 12 leave"
    two, one = (
        trace_of(
            " | ".join(["ranks 1 threads 2", *(f"0.{k} | {calls}" for k in range(threads))])
        )
        for threads in (2, 1)
    )
    tables = [burst_table(two), burst_table(one)]
    matching = match([two, one])
    fused = fuse(tables, matching)

    assert fused.table.num_rows == len(tables[matching.base])
    assert [part.tolist().count(-1) for part in fused.partners] == [0, len(fused.table) - 1]


def test_runs_that_have_nothing_in_common_and_tables_without_bursts_are_refused():
    traces = run({}, ["MPI_Init", "MPI_Barrier"]), run({}, ["MPI_Bcast", "MPI_Reduce"])
    with pytest.raises(NotEnoughDataError, match="not runs of one program"):
        fused_of(*traces)

    traces = run({"A": [1, 2, 3, 4]}), run({"B": [5, 6, 7, 8]})
    tables = [burst_table(traces[0]), burst_table(traces[1], columns=["B"])]
    with pytest.raises(ParameterError, match="lacks application"):
        fuse(tables, match(traces))
    with pytest.raises(ParameterError, match="1 tables"):
        fuse(tables[:1], match(traces))


def test_what_was_not_read_is_absent():
    fused, tables = fused_of(run({"A": [1, None, 3, 4]}), run({"B": [5, 6, 7, 8]}))

    assert columns(fused, "A") == [[1, None, 3, 4]]
    assert values_of(tables, fused, "A")[1].tolist() == [NO_VALUE]


@pytest.mark.parametrize(
    ("more", "expected"), [(" B=7", {"A": [3, 4], "B": [7, None]}), ("", {"A": [3, None]})]
)
def test_a_counter_once_read_where_a_burst_begins_must_always_be(more, expected):
    """One that is read only where bursts end is that of the burst."""
    left, last = ("leave A=0", "leave A=0") if more else ("leave A=0", "leave")
    calls = f"0 enter MPI_Init | 5 {left} | 9 enter MPI_Bcast A=3{more} | 12 {last}"
    counters = " | ".join(f'counter {name} unit "" mode delta type 1' for name in expected)
    trace = trace_of(f"ranks 1 | {counters} | 0 | {calls} | 20 enter MPI_Reduce A=4 | 30 leave")

    table = burst_table(trace).table
    assert {name: table[name].to_pylist() for name in expected} == expected
