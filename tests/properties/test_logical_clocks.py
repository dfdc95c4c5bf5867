"""Logical clocks are those of the literal algorithm, and hold its laws, on hybrid programs."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import burstline
from burstline.clocks import Effort, retimed, retimings, violations
from burstline.errors import NotEnoughDataError, ParameterError
from burstline.identity import call_tree
from burstline.model import schema
from burstline.synchronisation import graph_of, rows_of, sync_of
from burstline.testing import trace_of
from golden.oracle_events import as_case, as_text
from golden.oracle_severities import CASES, FOLDER
from hybrid_programs import hybrid_programs
from oracles import clocks

EFFORTS = (
    Effort("lt_1"),
    Effort("lt_bb"),
    Effort("lt_stmt", call_cost=7),
    Effort("lt_hwctr", {"IR_LD_INS": 2, "IR_BB": 1}),
    Effort("lt_hwctr", {"IR_TOT_INS": 1}, mpi_work=True),
)


def stamps_of(trace):
    """The stamps of all events of a trace, by location."""
    case = as_case(trace)
    return [
        [event[2] for event in case["events"] if event[1] == location]
        for location in range(case["ranks"] * case["threads"])
    ]


def counted(program, random):
    """The text of a program with counters read at some events, and what they counted."""
    lines = as_text(program).splitlines()
    head = next(k for k, line in enumerate(lines) if line[0].isdigit())
    names = "IR_BB", "IR_TOT_INS", "IR_LD_INS"
    work, position = {name: {} for name in names}, {}
    texts = [*lines[:head], *(f"counter {name}" for name in names)]
    location = None
    for line in lines[head:]:
        if "." in line and " " not in line:
            rank, thread = map(int, line.split("."))
            location = rank * program["threads"] + thread
        else:
            place = location, position.get(location, 0)
            position[location] = place[1] + 1
            if random.random() < 0.7:
                for name in names:
                    work[name][place] = random.randint(0, 12)
                    line += f" {name}={work[name][place]}"  # noqa: PLW2901
        texts.append(line)
    return "\n".join(texts), work


@given(hybrid_programs(), st.randoms(use_true_random=False), st.booleans())
def test_the_replay_is_the_literal_algorithm(program, random, full):
    text, work = counted(program, random)
    trace = trace_of(text)
    weighted = {
        place: 2 * work["IR_LD_INS"][place] + count for place, count in work["IR_BB"].items()
    }
    efforts = [
        clocks.efforts(program, {}, "lt_1"),
        clocks.efforts(program, work["IR_BB"], "lt_bb", 100),
        clocks.efforts(program, work["IR_TOT_INS"], "lt_stmt", 7),
        clocks.efforts(program, weighted, "lt_hwctr"),
        clocks.efforts(program, work["IR_TOT_INS"], "lt_hwctr"),
    ]

    made = retimings(graph_of(trace), EFFORTS, collectives="full" if full else "causal")

    for retiming, effort in zip(made, efforts, strict=True):
        wanted = clocks.stamps(program, effort, full=full)
        assert stamps_of(retiming.trace) == wanted
        assert retiming.end_ticks == max(stamp for stamps in wanted for stamp in stamps)
        assert not retiming.cycles


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("full", [False, True])
def test_the_programs_of_the_oracle_are_stamped_as_by_hand(case, full):
    trace = trace_of((FOLDER / f"{case}.txt").read_text())
    program = as_case(trace)
    wanted = clocks.stamps(program, clocks.efforts(program, {}, "lt_1"), full=full)

    retiming = retimed(trace, "lt_1", collectives="full" if full else "causal")

    assert stamps_of(retiming.trace) == wanted


@given(hybrid_programs(), st.randoms(use_true_random=False), st.integers(1, 5000))
def test_what_a_call_of_openmp_costs_is_its_construct_s_and_no_computation(
    program, random, cost
):
    text, _ = counted(program, random)
    trace = trace_of(text)
    if not trace.rows("readings"):
        return

    free, dear = (
        burstline.wait_states(trace, clock=Effort("lt_stmt", call_cost=each))
        for each in (0, cost)
    )

    assert np.array_equal(*(each.profile.exclusive("comp") for each in (free, dear)))
    calls = sum(
        1
        for letters, _, _, *rest in program["events"]
        if letters == "J" or (letters == "E" and program["regions"][rest[0]]["name"] in CALLED)
    )
    forked = sum(letters == "TB" for letters, *_ in program["events"])
    assert dear.modelled.ticks == cost * (calls + forked)
    assert free.modelled.ticks == 0


CALLED = "!$omp parallel", "!$omp for"
"""Regions that a call into the OpenMP runtime enters."""


@given(hybrid_programs())
def test_stamps_rise_and_no_effect_is_before_its_cause(program):
    trace = retimed(trace_of(as_text(program)), "lt_1").trace

    assert all(np.all(np.diff(stamps) > 0) for stamps in stamps_of(trace))
    sent, received = trace.arrays("messages", "send_ns", "receive_ns")
    assert np.all(received > sent)
    sync = sync_of(trace, call_tree(trace))
    assert violations(rows_of(sync, "causal")).count == 0


@given(hybrid_programs(), st.randoms(use_true_random=False))
def test_stamps_do_not_depend_on_time(program, random):
    """Nor on the order of the locations: they are stamped by the order of their events."""
    jittered = {}
    events = []
    for letters, location, _, *rest in program["events"]:
        jittered[location] = jittered.get(location, 0) + random.randint(1, 1000)
        events.append([letters, location, jittered[location], *rest])
    moved = as_text({**program, "events": events})

    plain, other = (
        burstline.wait_states(trace_of(text), clock="lt_1")
        for text in (as_text(program), moved)
    )

    assert plain.profile.stored.keys() == other.profile.stored.keys()
    for name in plain.profile.stored:
        ours, theirs = (each.profile.exclusive(name) for each in (plain, other))
        assert np.array_equal(ours, theirs)


def worked_rank(rank, iterations):
    """What a rank does in example 5.5 of the definitions."""
    call, moved = ("MPI_Recv", "receive from 0") if rank else ("MPI_Send", "send to 1")
    return f"""{rank}
1 enter main # | 2 enter MPI_Init # | 3 leave # | 4 enter foo #
5 leave IR_LOOP_ITER={iterations} | 6 enter {call} # | 7 {moved} bytes 8 # | 8 leave #
9 enter MPI_Allreduce # | 9 begin | 10 end sent 8 received 8 # | 11 leave # | 12 leave #
""".replace("#", "IR_LOOP_ITER=0")


def changed(trace, table, name, values):
    """The trace with other values in a column."""
    rows = trace.table(table)
    place = rows.column_names.index(name)
    tables = {name: trace.table(name) for name in schema.TABLES if name in trace}
    tables[table] = rows.set_column(place, rows.schema.field(place), values)
    return burstline.Trace(tables)


def worked(*iterations):
    """The worked example, in which one reading stamps an enter and the begin of its part."""
    head = "ranks 2 | region main role function | region foo role function "
    ranks = (worked_rank(*each) for each in enumerate(iterations))
    trace = trace_of("\n".join((f"{head}| counter IR_LOOP_ITER", *ranks)))
    earlier = pc.subtract(trace.collective_members["begin_seq"], 1)
    return changed(trace, "collective_members", "begin_seq", earlier)


def column(trace, table, name, *keys):
    """Values of a column by keys."""
    rows = trace.table(table).to_pylist()
    return {tuple(row[key] for key in keys): row[name] for row in rows}


@pytest.mark.parametrize(
    ("clock", "stamps"),
    [
        ("lt_1", [(5, 5), (6, 7, 8), (6, 8, 9), (11, 11), (13, 13)]),
        ("lt_loop", [(105, 45), (106, 107, 108), (46, 108, 109), (111, 111), (113, 113)]),
    ],
)
def test_the_worked_example(clock, stamps):
    foo, send, receive, end, main = stamps
    trace = retimed(worked(100, 40), clock).trace

    leaves = column(trace, "regions", "leave_ns", "location", "row")
    assert (leaves[0, 1], leaves[1, 1]) == foo
    assert (leaves[0, 0], leaves[1, 0]) == main
    enter, leave = (
        column(trace, "calls", name, "location", "call") for name in ("enter_ns", "leave_ns")
    )
    [message] = trace.messages.to_pylist()
    assert (enter[0, 1], message["send_ns"], leave[0, 1]) == send
    assert (enter[1, 1], message["receive_ns"], leave[1, 1]) == receive
    ends = column(trace, "collective_members", "end_ns", "location")
    assert (ends[0,], ends[1,]) == end


def test_waits_of_the_worked_example():
    waits = burstline.wait_states(worked(100, 40), clock="lt_loop")

    assert waits.profile.total("mpi_latesender") == 60
    assert (waits.clock, waits.unit) == ("lt_loop", "ticks")
    assert waits.coverage["stamps"]["counters"] == ["IR_LOOP_ITER"]


def test_a_clock_without_its_counter_names_what_records_it():
    trace = worked(1, 1)

    for clock in ("lt_bb", "lt_stmt", "lt_hwctr"):
        with pytest.raises(NotEnoughDataError, match="record `counters="):
            retimed(trace, clock)
    with pytest.raises(ParameterError, match="lt_1, lt_loop"):
        retimed(trace, "lt_2")
    with pytest.raises(ParameterError, match="causal or full"):
        retimed(trace, "lt_1", collectives="all")
    with pytest.raises(ParameterError, match="corrected"):
        burstline.wait_states(trace, clock="lt_1", correct=True)


def test_what_was_not_counted_is_told():
    trace = trace_of(
        "ranks 2 | counter IR_BB | 0 | 1 enter MPI_Barrier IR_BB=-5 | 2 leave IR_BB=3 "
        "| 3 enter MPI_Test | 4 leave | 1 | 1 enter MPI_Barrier | 2 leave"
    )
    retiming = retimed(trace, "lt_bb")

    assert retiming.negative == 1
    assert retiming.unread == (1,)
    assert retiming.sampled == pytest.approx(2 / 6)
    assert retiming.polls == {"MPI_Test": 1}


def test_calls_that_wait_for_each_other_are_told_and_passed():
    trace = trace_of(
        "ranks 2 | 0 | 1 enter MPI_Recv | 2 receive from 1 bytes 8 | 3 leave "
        "| 4 enter MPI_Send | 5 send to 1 bytes 8 | 6 leave "
        "| 1 | 1 enter MPI_Recv | 2 receive from 0 bytes 8 | 3 leave "
        "| 4 enter MPI_Send | 5 send to 0 bytes 8 | 6 leave"
    )
    retiming = retimed(trace, "lt_1")

    assert retiming.cycles == [[(0, 1), (1, 1)]]
    assert retiming.as_dict()["inconsistent"] == 1
    assert retiming.end_ticks >= 6


def paced(foo_ns):
    """Two ranks whose efforts in foo are 100 and 40; the first one needs a time for its."""
    text = "ranks 2 | region main role function | region foo role function "
    text += "| counter IR_TOT_INS\n"
    for rank, (leave, statements) in enumerate(((10 + foo_ns, 99), (410, 39))):
        text += f"""{rank} | 0 enter main # | 10 enter foo #
{leave} leave IR_TOT_INS={statements} | {leave + 10} enter MPI_Barrier #
{leave + 20} begin # | {foo_ns + 40} end # | {foo_ns + 50} leave # | {foo_ns + 60} leave #
""".replace("#", "IR_TOT_INS=0")
    return trace_of(text)


@pytest.mark.parametrize(("foo_ns", "parts"), [(1000, (600, 0)), (2000, (600, 1000))])
def test_what_one_rank_needs_longer_for_the_same_work_is_extrinsic(foo_ns, parts):
    """A unit takes 10 ns, which one rank shows: by 60 units more the other one is later."""
    waits = burstline.wait_states(paced(foo_ns), intrinsic=True)

    assert waits.profile.total("mpi_barrier_wait") == sum(parts)
    assert waits.intrinsic.totals()["mpi_barrier_wait"] == parts
    assert waits.as_dict()["intrinsic"]["metrics"]["mpi_barrier_wait"] == parts[0]


@given(hybrid_programs(), st.randoms(use_true_random=False))
def test_recorded_waits_are_intrinsic_ones_and_what_was_added_or_saved(program, random):
    text, _ = counted(program, random)
    trace = trace_of(text)
    if not trace.rows("readings"):
        return

    waits = burstline.wait_states(trace, intrinsic=True)

    for name, (intrinsic, extrinsic) in waits.intrinsic.totals().items():
        recorded = waits.profile.total(name) if name in waits.profile.stored else 0
        assert recorded == intrinsic + extrinsic - waits.intrinsic.excess_ns[name]
        assert min(intrinsic, extrinsic) >= 0


def test_intrinsic_waits_need_counted_work_and_time():
    with pytest.raises(NotEnoughDataError, match="record `counters="):
        burstline.wait_states(worked(1, 1), intrinsic=True)
    with pytest.raises(ParameterError, match="need the physical clock"):
        burstline.wait_states(worked(1, 1), clock="lt_loop", intrinsic=True)


def test_work_before_a_call_that_nobody_left_is_no_work_of_mpi():
    trace = trace_of(
        "ranks 1 | counter IR_BB | 0 | 1 enter MPI_Init IR_BB=0 | 2 leave IR_BB=0 "
        "| 9 enter MPI_Recv IR_BB=50 | 10 leave"
    )
    ordinals = pa.array([*trace.calls["leave_seq"].to_pylist()[:-1], schema.NEVER_LEFT])
    trace = changed(trace, "calls", "leave_seq", ordinals)

    [retiming] = retimings(graph_of(trace), [Effort("lt_bb", mpi_work=False)])

    assert retiming.end_ticks == 53
