"""Laws of reading OTF2 archives, for programs of any shape."""

from __future__ import annotations

import tempfile
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import given

import burstline
from burstline.formats import otf2
from burstline.model import schema
from effort import examples
from otf2_archives import archive

NAMES = ("main", "f", "g", "MPI_Barrier", "MPI_Wait")
STEPS = st.lists(
    st.tuples(st.sampled_from(["enter", "leave"]), st.sampled_from(NAMES), st.integers(0, 3)),
    max_size=30,
)


def write(place, programs):
    with archive(place, len(programs)) as made:
        made.begin()
        for rank, steps in enumerate(programs):
            thread, time = made.thread(rank).writer, 0
            for step, name, pause in steps:
                time += pause
                getattr(thread, step)(time, made.region(name))


def by_stack(steps):
    """Give (name, enter, leave, calls around) as a stack has them, in order of entering."""
    rows, stack, time = [], [], 0
    for step, name, pause in steps:
        time += pause
        if step == "enter":
            stack.append(len(rows))
            inside = any(rows[row][0].startswith("MPI_") for row in stack[:-1])
            rows.append([name, time, None, inside])
        elif any(rows[row][0] == name for row in stack):
            while rows[stack[-1]][0] != name:
                rows[stack.pop()][2] = time
            rows[stack.pop()][2] = time
    for row in stack:
        rows[row][2] = time
    return rows


@examples(0.4)
@given(st.lists(STEPS, min_size=1, max_size=3))
def test_calls_and_regions_are_what_a_stack_says(programs):
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "run", programs)
        trace = burstline.read(Path(folder) / "run")

    for name in schema.TABLES:
        schema.check(name, trace.table(name))
    names = trace.region_defs["name"].to_pylist()
    calls, regions = trace.calls.to_pylist(), trace.regions.to_pylist()
    for rank, steps in enumerate(programs):
        expected = by_stack(steps)
        mpi = [row for row in expected if row[0].startswith("MPI_") and not row[3]]
        rest = [row for row in expected if row not in mpi or row[3]]
        assert [row[:3] for row in mpi] == [
            [row["operation"], row["enter_ns"], row["leave_ns"]]
            for row in calls
            if row["location"] == rank
        ]
        assert [row[:3] for row in rest if row[3] or not row[0].startswith("MPI_")] == [
            [names[row["region"]], row["enter_ns"], row["leave_ns"]]
            for row in regions
            if row["location"] == rank
        ]


@examples(0.2)
@given(st.lists(STEPS, min_size=2, max_size=3))
def test_neither_groups_nor_threads_change_the_trace(programs):
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "run", programs)
        whole = otf2.read(Path(folder) / "run", threads=1)
        parts = otf2.read(Path(folder) / "run", threads=2, bytes_at_once=1)

    for name in schema.TABLES:
        assert whole.table(name).equals(parts.table(name)), name
