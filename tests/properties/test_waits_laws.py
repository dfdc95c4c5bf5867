"""What holds for the waits of every hybrid program: laws 3 to 6 and 8, on the slow twin."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import burstline
from burstline.testing import trace_of
from golden.oracle_events import as_case, as_text
from golden.oracle_severities import is_time
from hybrid_programs import hybrid_programs
from oracles import delays, waits
from oracles import event_lists as el
from oracles.wait_states import wait_states

# A measured metric and the category that its time is part of.
PARTS = {
    "mpi_init_completion": "mpi_init_exit", "mpi_finalize_wait": "mpi_init_exit",
    "mpi_latesender": "mpi_point2point", "mpi_latereceiver": "mpi_point2point",
    "mpi_latesender_wo": "mpi_latesender", "omp_fork": "omp_management",
    "omp_ebarrier_wait": "omp_ebarrier", "omp_ibarrier_wait": "omp_ibarrier",
    "omp_lock_contention_critical": "omp_critical",
    "omp_limited_parallelism": "omp_idle_threads",
}  # fmt: skip
SHARED = {
    "mpi_sync_collective": ("mpi_barrier_wait", "mpi_barrier_completion"),
    "mpi_collective": (
        "mpi_earlyreduce", "mpi_earlyscan", "mpi_latebroadcast", "mpi_wait_nxn",
        "mpi_nxn_completion",
    ),
}  # fmt: skip


def total(table, metric):
    return sum(table.get(metric, {}).values())


@given(hybrid_programs())
def test_the_text_form_holds_a_whole_hybrid_program(program):
    assert as_case(trace_of(as_text(program))) == program


@given(hybrid_programs())
def test_a_part_is_never_more_than_the_whole(program):
    table = waits.severities(program)

    for part, whole in PARTS.items():
        for place, value in table.get(part, {}).items():
            assert 0 <= value <= table[whole][place]
    for whole, parts in SHARED.items():
        for place, value in table.get(whole, {}).items():
            assert sum(table.get(part, {}).get(place, 0) for part in parts) <= value
    assert all(value > 0 for value in table.get("comp", {}).values())


@given(hybrid_programs())
def test_all_time_is_execution_idleness_or_overhead(program):
    table = waits.severities(program)

    for place, value in table["time"].items():
        parts = ("execution", "omp_idle_threads", "overhead")
        assert sum(table.get(part, {}).get(place, 0) for part in parts) == value


@given(hybrid_programs())
def test_every_thread_lasts_as_long_as_its_rank(program):
    table = waits.severities(program)
    threads = program["threads"]
    stamps = {}
    for _, location, stamp, *_ in program["events"]:
        stamps.setdefault(location, []).append(stamp)
    forks = any(event[0] == "F" for event in program["events"])

    for rank in range(program["ranks"]):
        master = rank * threads
        lasts = stamps[master][-1] - stamps[master][0]
        for location in range(master, master + (threads if forks else 1)):
            time = sum(t for (where, _), t in table["time"].items() if where == location)
            assert time == lasts


@given(hybrid_programs())
def test_delay_costs_are_what_is_waited(program):
    replay = wait_states(el.read(program))
    explained = delays.explanations(replay)
    table = waits.severities(program)

    states = [p for points in replay.points for p in points if p.type and p.wait > 0]
    forks = any(event[0] == "F" for event in program["events"])
    waited = sum(p.wait for p in states)
    if forks:
        waited += total(table, "omp_idle_threads") - total(table, "omp_limited_parallelism")
        waited -= total(table, "mpi_finalize_wait") * (program["threads"] - 1)
    else:
        waited += total(table, "delay_ompidle_aggregate")
    cost = total(table, "delay")
    assert all(value > 0 for value in table.get("delay", {}).values())
    assert cost <= waited
    if len(explained) == len(states) and all(e.gamma == e.unclipped for e in explained):
        assert cost == waited


@given(hybrid_programs())
def test_the_critical_path_is_the_run_from_init_to_finalize(program):
    table = waits.severities(program)
    replay = wait_states(el.read(program))
    init = el.world_call(replay.program, el.INITS)
    final = el.world_call(replay.program, ("MPI_Finalize",))

    starts = {m.begin for m in init.members}
    length = max(m.begin for m in final.members) - total(table, "critical_path")
    assert length in starts
    assert all(value > 0 for value in table.get("critical_path", {}).values())
    u = delays.useful_time(replay)
    shares = total(table, "critical_path_activities") + total(
        table, "non_critical_path_activities"
    )
    assert shares == sum(u.values())


@given(hybrid_programs(), st.integers(1, 9), st.integers(-5, 5))
def test_a_shift_and_a_scale_of_all_clocks_change_nothing_else(program, scale, shift):
    events = [[a, b, stamp * scale + shift, *rest] for a, b, stamp, *rest in program["events"]]

    other = waits.severities({**program, "events": events})

    for metric, rows in waits.severities(program).items():
        factor = scale if is_time(metric) else 1
        assert other[metric] == {place: value * factor for place, value in rows.items()}


def test_what_a_region_within_a_call_takes_is_its_own_and_none_of_mpi():
    trace = trace_of(
        "ranks 1 | 0 | 0 enter MPI_Init | 10 leave | 20 enter MPI_Allreduce "
        "| 30 enter reduction | 70 leave | 100 leave | 110 enter MPI_Finalize | 120 leave"
    )

    metrics = burstline.wait_states(trace).as_dict()["metrics"]

    assert (metrics["mpi"], metrics["comp"]) == (60, 60)
    assert sum(call.time_ns for call in burstline.summarise(trace).calls.values()) == 100
