"""What holds of a matching, whatever the runs did."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstline.merge.matching import match
from burstline.testing import trace_of
from effort import examples

OPERATIONS = ("Send", "Recv", "Barrier", "Allreduce", "Waitany", "Test")
thread = st.lists(st.sampled_from(OPERATIONS), min_size=1, max_size=20)
run = st.lists(thread, min_size=2, max_size=2)
methods = pytest.mark.parametrize("method", ["align", "seed"])


def trace(threads):
    """Make a run of ranks that call these operations one after the other."""
    text = [f"ranks {len(threads)}"]
    for rank, names in enumerate(threads):
        text.append(str(rank))
        for k, name in enumerate(("Init", *names)):
            text += [f"{10 * k} enter MPI_{name}", f"{10 * k + 4} leave"]
    return trace_of(" | ".join(text))


@methods
@examples(0.5)
@given(runs=st.lists(run, min_size=2, max_size=3))
def test_every_burst_of_every_run_stands_in_exactly_one_row(method, runs):
    traces = [trace(threads) for threads in runs]

    matching = match(traces, method=method)

    for number, one in enumerate(traces):
        named = matching.pairs.select(["rank", f"burst_{number}"]).drop_null()
        found = [tuple(row.values()) for row in named.to_pylist()]
        (rank,) = one.arrays("locations", "rank")
        location, burst = one.arrays("bursts", "location", "burst")
        assert sorted(found) == sorted(
            zip(rank[location].tolist(), burst.tolist(), strict=True)
        )


@methods
@examples(0.5)
@given(run)
def test_a_run_matched_with_itself_is_matched_whole_by_position(method, threads):
    one = trace(threads)

    pairs = match([one, one], method=method).pairs

    assert pairs["burst_0"].equals(pairs["burst_1"])
    assert set(pairs["stage"].to_pylist()) == {"direct"}
    assert set(pairs["similarity"].to_pylist()) == {0.0}
