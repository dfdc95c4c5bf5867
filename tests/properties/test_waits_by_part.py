"""Parts of a run add up to the whole, to the nanosecond, whatever they are."""

from __future__ import annotations

from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

import burstline
from burstline.efficiency import ideal_of
from burstline.errors import NotEnoughDataError, ParameterError
from burstline.synchronisation import graph_of
from burstline.testing import trace_of
from burstline.waits.factors import ideal_in
from burstline.waits.parts import windows_of
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
        # If sends took no time, 19 would pass between two, and rank 1 wait for 3 before them.
        "serialisation": 96 / (8 * 19 + 4 * 3), "transfer": (8 * 19 + 4 * 3) / 192,
    }  # fmt: skip
    assert by[1].metrics["time"] == (390 - 10) + (390 - 4)
    # Rank 0 computes without 4 barriers of 2 and 12 sends of 1, rank 1 without more.
    mean = (380 - 4 * 2 - 12 * 1 + 386 - 4 * 8 - 12 * 8) / 2
    assert by[1].efficiency == {
        "parallel": pytest.approx(mean / 386),
        "load_balance": pytest.approx(mean / 360),
        "communication": pytest.approx(360 / 386),
        "serialisation": 1, "transfer": pytest.approx(360 / 386),  # rank 0 waits for nobody
    }  # fmt: skip


@pytest.mark.parametrize("by", ["loop", "iteration"])
def test_ranks_that_compute_in_turn_are_serialised_in_their_loop(by):
    # Five times, either rank computes for 10 and sends; messages take 5.
    send = "| {0} enter MPI_Send | {0} send to {2} bytes 8 | {1} leave "
    receive = "| {0} enter MPI_Recv | {1} receive from {2} bytes 8 | {1} leave "
    begins = range(0, 150, 30)
    first = "".join(
        send.format(k + 10, k + 11, 1) + receive.format(k + 11, k + 30, 1) for k in begins
    )
    second = "".join(
        receive.format(max(k - 4, 0), k + 15, 0) + send.format(k + 25, k + 26, 0)
        for k in begins
    )

    waits = burstline.wait_states(trace_of(f"ranks 2 | 0 {first} | 1 {second}"), by=by)

    # Rank 1 computes for 50 and its partner for 40 until its last send, in 146 in all.
    part = waits.by[0].efficiency
    ideal, runtime, useful = (90, 146, 50) if by == "loop" else (20, 30, 10)
    assert part["communication"] == pytest.approx(useful / runtime)
    assert part["serialisation"] == pytest.approx(useful / ideal)
    assert part["transfer"] == pytest.approx(ideal / runtime)


def in_turn_then_slowly():
    """Two ranks compute for 30 in turn, then for 30 both, before a barrier that takes 30."""
    barrier = "90 enter MPI_Barrier | 90 begin | 120 end sent 0 received 0 | 120 leave"
    first = (
        "0 enter MPI_Init | 0 leave | 30 enter MPI_Send | 30 send to 1 bytes 8 | 30 leave | "
        "30 enter MPI_Recv | 60 receive from 1 bytes 8 | 60 leave"
    )
    second = (
        "0 enter MPI_Init | 0 leave | 0 enter MPI_Recv | 30 receive from 0 bytes 8 | 30 leave "
        "| 60 enter MPI_Send | 60 send to 0 bytes 8 | 60 leave"
    )
    return trace_of(f"ranks 2 | 0 | {first} | {barrier} | 1 | {second} | {barrier}")


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        (60, [(1 / 2, 1), (1, 1 / 2)]),
        # Rank 1 computes all the time from 40 on, until the barrier.
        (40, [(3 / 4, 1), (1, 1), (1, 1 / 4)]),
        ("rank", [(2 / 3, 3 / 4)] * 2),
        ("node", [(2 / 3, 3 / 4)]),
    ],
)
def test_communication_in_windows_ranks_and_nodes_is_split(by, expected):
    waits = burstline.wait_states(in_turn_then_slowly(), by=by)

    factors = [part.efficiency for part in waits.by if part.efficiency["parallel"]]
    split = [(each["serialisation"], each["transfer"]) for each in factors]
    assert split == [pytest.approx(each) for each in expected]
    assert not waits.coverage["not_computable"]


def test_a_call_that_a_window_divides_is_divided_on_an_ideal_network():
    graph = graph_of(in_turn_then_slowly())

    parts = ideal_in(graph.sync, windows_of(graph.sync, 40), ideal_of(graph))

    # The receive of rank 0 from 30 to 60 lasts as long there, the barrier takes no time.
    assert parts.tolist() == [[40, 40], [40, 40], [10, 10], [0, 0]]


def test_where_processes_have_threads_it_is_said_why_communication_is_not_split():
    hybrid = (
        "ranks 1 threads 2 | 0 | 0 enter MPI_Init | 2 leave | 6 enter MPI_Barrier | 9 leave"
    )
    for by in ("rank", 3):
        waits = burstline.wait_states(trace_of(hybrid), by=by)
        assert all(part.efficiency["transfer"] is None for part in waits.by)
        reasons = {row["metric"]: row["reason"] for row in waits.coverage["not_computable"]}
        assert reasons["serialisation"] == reasons["transfer"]
        assert "threads" in reasons["transfer"]


@given(hybrid_programs(most_threads=1), st.integers(1, 60))
def test_parts_of_the_run_on_an_ideal_network_add_up(program, width):
    trace = trace_of(as_text(program))
    graph = graph_of(trace)
    sync, ideal = graph.sync, ideal_of(graph)
    whole, parts = (ideal_in(sync, windows_of(sync, each), ideal) for each in (10**9, width))

    assert parts.sum(axis=0).tolist() == whole.sum(axis=0).tolist()
    assert parts.min(initial=0) >= 0
    assert whole.sum(axis=0).max() == ideal.runtime_ns


def test_on_an_ideal_network_ranks_wait_in_calls_alone():
    graph = graph_of(burstline.read(files("burstline") / "data" / "lulesh_8r.prv.gz"))

    run = ideal_of(graph)

    calls, enter, leave = graph.sync.calls, run.enter_ns, run.leave_ns
    inside = calls.location[1:] == calls.location[:-1]
    ideal, real = enter[1:] - leave[:-1], calls.enter_ns[1:] - calls.leave_ns[:-1]
    assert (ideal[inside] >= 0).all()
    assert (ideal[inside] <= real[inside]).all()
    assert (leave >= enter).all()
    assert (leave - enter).sum() > 0


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
