"""What holds for every set of samples, whatever the program."""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import loop_programs
from burstline.structure import Call, detect, walk
from burstline.structure.computation import inside
from effort import examples

RANKS = 2
PROGRAM = (
    loop_programs.Do("Bcast", 2),
    loop_programs.loop(
        3,
        loop_programs.loop(2, loop_programs.Do("Sendrecv", 4)),
        loop_programs.Do("Allreduce", 6, when=lambda k: k > 0),
    ),
)
TRACE = loop_programs.run(*PROGRAM, ranks=RANKS)
STRUCTURES = {method: detect(TRACE, method=method) for method in ("seed", "exact")}
END_NS = max(TRACE.calls["leave_ns"].to_pylist()) + 50

points = st.tuples(
    st.integers(0, RANKS - 1),
    st.integers(0, END_NS),
    st.sampled_from(["f", "g"]),
    st.none() | st.integers(1, 5),
)


def table(drawn):
    """Make samples out of tuples; a sort keeps those of one moment in order."""
    rows = sorted(drawn, key=lambda row: row[:2])
    location, time_ns, function, line = zip(*rows, strict=True) if rows else ((),) * 4
    return rows, pa.table(
        {
            "location": pa.array(location, pa.int32()),
            "time_ns": pa.array(time_ns, pa.int64()),
            "function": pa.array(function, pa.string()),
            "file": pa.array([None] * len(rows), pa.string()),
            "line": pa.array(line, pa.int32()),
        }
    )


def operation_after(location, time_ns):
    """Find the operation of the call that ends the burst of a moment, by looking at all."""
    calls = [row for row in TRACE.calls.to_pylist() if row["location"] == location]
    for before, after in pairwise(calls):
        if before["leave_ns"] <= time_ns < after["enter_ns"]:
            return after["operation"]
    return None


@pytest.mark.parametrize("method", ["seed", "exact"])
@examples(0.4)
@given(drawn=st.lists(points, max_size=60))
def test_every_sample_in_a_burst_is_counted_once_and_none_outside(method, drawn):
    rows, samples = table(drawn)
    structure = STRUCTURES[method]
    found = inside(TRACE, structure, samples)

    expected = [operation_after(*row[:2]) for row in rows]
    assert found.elsewhere == expected.count(None)
    assert found.samples == len(rows) - expected.count(None)
    calls = [item for item, _ in walk(structure.items) if isinstance(item, Call)]
    calls += structure.left_out
    for operation in {call.operation for call in calls}:
        own = [call for call in calls if call.operation == operation]
        assert sum(map(found.samples_in, own)) == expected.count(operation)


@examples(0.4)
@given(drawn=st.lists(points, max_size=60))
def test_the_loops_of_a_burst_share_no_sample(drawn):
    _, samples = table(drawn)
    structure = STRUCTURES["exact"]
    found = inside(TRACE, structure, samples)

    for item, _ in walk(structure.items):
        places, loops = found.places(item), found.loops(item)
        assert sum(place.samples for place in places) == found.samples_in(item)
        assert sum(loop.samples for loop in loops) <= found.samples_in(item)
        assert all(loop.samples >= 2 for loop in loops)
        assert all(0 < loop.share <= 1 for loop in loops)
