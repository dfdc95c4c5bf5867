"""Parts of a run add up to the whole, to the nanosecond, whatever they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import burstline
from burstline.errors import NotEnoughDataError, ParameterError
from burstline.testing import trace_of
from golden.oracle_events import as_text
from hybrid_programs import hybrid_programs

OF_THE_WHOLE = "critical", "performance_impact", "imbalance", "intra_", "inter_", "non_critical"
DIVIDED = "delay", "mpi_wait_", "waitstates", "omp_limited", "omp_idle", "time"
"""What is rounded in each part, and hence not in two halves of it as in the whole part."""


def assert_sums(waits):
    """Every metric that can be divided is, and is the sum of its parts."""
    for name in waits.profile.stored:
        if name.startswith(OF_THE_WHOLE) and name not in waits.by[0].metrics:
            continue
        values = [part.metrics[name] for part in waits.by if part.parent is None]
        assert sum(values) == waits.profile.total(name), name
        # Defined as a difference, of the whole, too.
        assert min(values) >= 0 or name == "intra_partition_imbalance", name


@given(hybrid_programs(), st.integers(1, 60))
def test_windows_add_up_to_the_whole(program, width):
    waits = burstline.wait_states(trace_of(as_text(program)), by=width)

    assert_sums(waits)
    assert [part.key % width for part in waits.by] == [0] * len(waits.by)


@given(hybrid_programs(), st.integers(1, 30))
def test_a_window_of_twice_the_length_is_two_windows(program, width):
    trace = trace_of(as_text(program))
    halves, wholes = (burstline.wait_states(trace, by=k * width).by for k in (1, 2))

    for whole in wholes:
        parts = [half for half in halves if half.key // (2 * width) * 2 * width == whole.key]
        for name, value in whole.metrics.items():
            if not name.startswith(DIVIDED):
                assert sum(part.metrics[name] for part in parts) == value, name


def time_in(program, wanted, window):
    """The time in a window in which a thread's innermost region is one of some."""
    names = {region["id"]: region["name"] for region in program["regions"]}
    spent, stacks, last = 0, {}, {}
    for letters, location, now, *rest in program["events"]:
        stack = stacks.setdefault(location, [])
        if stack and names[stack[-1]] in wanted:
            begin, end = max(last[location], window[0]), min(now, window[1])
            spent += max(0, end - begin)
        last[location] = now
        if letters == "E":
            stack.append(rest[0])
        elif letters == "L":
            stack.pop()
    return spent


@given(hybrid_programs(), st.integers(2, 40))
def test_time_in_calls_is_that_of_their_window(program, width):
    of_mpi = {
        region["name"] for region in program["regions"] if region["name"].startswith("MPI")
    }

    for part in burstline.wait_states(trace_of(as_text(program)), by=width).by:
        window = part.key, part.key + width
        for metric, wanted in (
            ("mpi", of_mpi),
            ("omp_ibarrier", {"!$omp implicit barrier"}),
            ("omp_ebarrier", {"!$omp barrier"}),
            ("omp_critical", {"!$omp critical"}),
        ):
            assert part.metrics.get(metric, 0) == time_in(program, wanted, window), metric


@given(hybrid_programs(), st.sampled_from(["rank", "node"]))
def test_ranks_and_nodes_add_up_to_the_whole(program, by):
    waits = burstline.wait_states(trace_of(as_text(program)), by=by)

    assert_sums(waits)
    assert set(waits.by[0].metrics) == set(waits.profile.stored)


@given(hybrid_programs(), st.sampled_from(["iteration", "loop"]))
def test_iterations_and_loops_add_up_to_the_whole(program, by):
    trace = trace_of(as_text(program))
    try:
        waits = burstline.wait_states(trace, by=by)
    except NotEnoughDataError:
        return
    assert_sums(waits)
    assert waits.by[-1].key == "outside"


LATE = (
    "ranks 2 | 0 | 10 enter MPI_Send | 10 send to 1 bytes 8 | 11 leave "
    "| 1 | 6 enter MPI_Recv | 12 receive from 0 bytes 8 | 12 leave"
)


def test_a_wait_is_divided_where_a_window_begins():
    by = burstline.wait_states(trace_of(LATE), by=8).by

    assert [(part.key, part.metrics["mpi_latesender"]) for part in by] == [(0, 2), (8, 2)]
    assert [part.metrics["comms_recv"] for part in by] == [1, 0]
    assert [part.metrics["mpi"] for part in by] == [2, 5]


def test_each_iteration_has_its_wait():
    sends = receives = ""
    for k, wait in enumerate((3, 5, 9, 2)):
        start = 100 * k
        sends += (
            f"| {start + 20 + wait} enter MPI_Send | {start + 20 + wait} send to 1 bytes 8 "
            f"| {start + 50} leave "
        )
        receives += (
            f"| {start + 20} enter MPI_Recv | {start + 50} receive from 0 bytes 8 "
            f"| {start + 50} leave "
        )
    trace = trace_of(f"ranks 2 | 0 {sends} | 1 {receives}")

    by = burstline.wait_states(trace, by="iteration").by

    assert [part.key for part in by] == [1, 2, 3, 4, "outside"]
    assert [part.metrics["mpi_latesender"] for part in by] == [3, 5, 9, 2, 0]


def nested():
    """Four times a barrier that rank 1 waits 6 in, and some messages it waits 3 for each."""
    lines = {0: [], 1: []}
    for base, messages in zip(range(0, 400, 100), (3, 2, 4, 3), strict=True):
        for events, enter in zip(lines.values(), (base + 10, base + 4), strict=True):
            meets = f"{enter} begin | {base + 12} end sent 0 received 0"
            events.append(f"{enter} enter MPI_Barrier | {meets} | {base + 12} leave")
        for now in range(base + 20, base + 20 + 20 * messages, 20):
            sent = f"{now + 3} send to 1 bytes 8"
            lines[0].append(f"{now + 3} enter MPI_Send | {sent} | {now + 4} leave")
            received = f"{now + 8} receive from 0 bytes 8"
            lines[1].append(f"{now} enter MPI_Recv | {received} | {now + 8} leave")
        for events in lines.values():
            events.append(f"{base + 90} enter MPI_Comm_rank | {base + 90} leave")
    ranks = " | ".join(f"{rank} | {' | '.join(events)}" for rank, events in lines.items())
    return trace_of(f"ranks 2 | {ranks}")


def test_a_loop_has_what_lies_in_the_loops_in_it():
    waits = burstline.wait_states(nested(), by="loop")

    assert_sums(waits)
    by = {part.key: part for part in waits.by}
    assert [(part.key, part.parent) for part in waits.by] == [
        (1, None), (2, 1), (3, 1), ("outside", None),
    ]  # fmt: skip
    receives, sends = sorted((by[2], by[3]), key=lambda part: -part.waits_ns)
    assert [part.waits_ns for part in (by[1], receives, sends, by["outside"])] == [
        4 * 6 + 12 * 3, 12 * 3, 0, 0,
    ]  # fmt: skip
    # Of the 8 times between two messages, 20 pass; each rank is in a loop of its own.
    assert receives.metrics["time"] == 8 * 20 + 4 * 8
    assert receives.metrics["comp"] == 192 - 12 * 8
    assert receives.efficiency == {
        "parallel": pytest.approx(96 / 192), "load_balance": 1, "communication": 96 / 192,
    }  # fmt: skip
    assert by[1].metrics["time"] == (390 - 10) + (390 - 4)
    # Rank 0 computes without 4 barriers of 2 and 12 sends of 1, rank 1 without more.
    mean = (380 - 4 * 2 - 12 * 1 + 386 - 4 * 8 - 12 * 8) / 2
    assert by[1].efficiency == {
        "parallel": pytest.approx(mean / 386),
        "load_balance": pytest.approx(mean / 360),
        "communication": pytest.approx(360 / 386),
    }


def test_threads_are_in_the_loops_of_their_process():
    step = (
        "| {0} enter MPI_Barrier | {1} leave | {2} fork 2 | {2} team begin 0 "
        '| {2} enter "!$omp parallel" | {3} leave | {3} team end 0 | {3} join '
    )
    part = '| {2} team begin 0 | {2} enter "!$omp parallel" | {3} leave | {3} team end 0 '
    steps, parts = (
        "".join(text.format(k, k + 9, k + 10, k + 40) for k in range(0, 400, 100))
        for text in (step, part)
    )
    region = 'region "!$omp parallel" paradigm openmp role parallel'
    trace = trace_of(f"ranks 1 threads 2 | {region} | 0 {steps} | 0.1 {parts}")

    loop, outside = burstline.wait_states(trace, by="loop").by

    # The last iteration ends with its last call, before the team.
    assert (loop.metrics["omp_idle_threads"], outside.metrics["omp_idle_threads"]) == (
        3 * (100 - 30) + 9, 1,
    )  # fmt: skip
    assert (loop.metrics["comp"], outside.metrics["comp"]) == (3 * (91 + 30), 1 + 60)


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"by": "region"}, "by iteration, loop, node, rank or window"),
        ({"by": 0}, "1 ns long"),
        ({"by": "rank", "loop": 1}, "for its iterations alone"),
        ({"by": "iteration", "loop": 7}, "7"),
    ],
)
def test_what_cannot_be_told_is_refused(asked, reason):
    text = "ranks 1 | 0 " + "".join(
        f"| {9 * k} enter MPI_Barrier | {9 * k + 5} leave " for k in range(5)
    )
    with pytest.raises(ParameterError, match=reason):
        burstline.wait_states(trace_of(text), by=asked["by"], loop=asked.get("loop"))


def test_windows_are_refused_where_they_are_too_many():
    text = "ranks 1 | 0 | 0 enter MPI_Barrier | 90000000 leave"
    with pytest.raises(ParameterError, match="too many"):
        burstline.wait_states(trace_of(text), by=1)
