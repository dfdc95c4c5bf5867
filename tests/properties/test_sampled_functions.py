"""What samples tell of computing: as a loop over calls finds it, and nothing gets lost."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from burstline import wait_states
from halo import HALO, halo

PATHS = HALO + "path 4 assemble under 1 file a.c line 4\npath 5 solve under 1\n"
NAMES = {1: "main", 4: "assemble", 5: "main"}  # solve has no source: it is main's
SAMPLES = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.sampled_from([9, 10, 109, 110, 111, 112, 309, 310, 311, 319, 320])
        | st.integers(1, 1300),
        st.sampled_from(sorted(NAMES)),
        st.integers(1, 9),
    ),
    max_size=40,
)


def computing(trace, rank, time_ns):
    """Whether a rank is between two of its calls: one call after the other is looked at."""
    calls = [call for call in trace.calls.to_pylist() if call["location"] == rank]
    return any(
        before["leave_ns"] <= time_ns < after["enter_ns"] for before, after in pairwise(calls)
    )


@given(SAMPLES)
def test_each_sample_between_calls_counts_once_for_its_function_and_rank(samples):
    lines = [f"{r} | {at} sample path {path} periods {n}" for r, at, path, n in samples]
    trace = halo((100, 300), text=PATHS + "\n".join(lines))
    wanted = Counter()
    for rank, at, path, periods in samples:
        if computing(trace, rank, at):
            wanted[NAMES[path], rank] += periods

    found = Counter()
    for seen in wait_states(trace).places.functions.values():
        for each in seen:
            for rank, periods in each.periods.items():
                found[each.function, rank] += periods

    assert found == wanted
