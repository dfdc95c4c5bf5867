"""Ticks that no counter gave: where they are booked, and what is said of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import burstline
from burstline import show
from burstline.answers import Sentence, verdict_on_waits
from burstline.answers.waits import changed
from burstline.clocks import Effort, retimed
from burstline.columns import to_numpy
from burstline.model import schema
from burstline.testing import trace_of
from verdicts import verdict

REGIONS = (
    "ranks 2 threads 2 | region main role function | region solve role function\n"
    'region "!$omp parallel" role parallel paradigm openmp\n'
    "communicator 1 members 0 1 kind group\n"
    "counter IR_TOT_INS"
)


def program(teams, statements):
    """Rank 0 forks some teams, rank 1 computes some statements, then all meet."""
    first, second = [], []
    now = 10
    for _ in range(teams):
        first += [f"{now} fork 2", f"{now + 1} team begin 1"]
        first += [
            f'{now + 1} enter "!$omp parallel" IR_TOT_INS=0',
            f"{now + 5} leave IR_TOT_INS=9",
        ]
        first += [f"{now + 5} team end 1", f"{now + 6} join"]
        second += [f"{now + 1} team begin 1", f'{now + 1} enter "!$omp parallel" IR_TOT_INS=0']
        second += [f"{now + 5} leave IR_TOT_INS=9", f"{now + 5} team end 1"]
        now += 10
    met = [f"{now} enter MPI_Barrier IR_TOT_INS=0", f"{now} begin", f"{now + 20} end"]
    met += [f"{now + 20} leave", f"{now + 21} leave"]
    lines = [REGIONS, "0.0", "1 enter main IR_TOT_INS=0", *first, *met, "0.1", *second, "1.0"]
    lines += ["1 enter main IR_TOT_INS=0", "2 enter solve IR_TOT_INS=0"]
    lines += [f"9 leave IR_TOT_INS={statements}", *met]
    return trace_of("\n".join(lines))


def test_calls_of_openmp_are_management_of_their_construct():
    trace = program(3, 20)
    waits = burstline.wait_states(trace, clock="lt_stmt")

    # Both threads enter and are forked, one joins.
    assert waits.modelled.ticks == 3 * 5 * 4300
    assert waits.as_dict()["modelled_ticks"] == 3 * 5 * 4300
    [(row, ticks)] = waits.top_call_paths("omp_management", 9)
    assert waits.path(row)[-1].startswith("!$omp parallel")
    assert ticks >= 3 * 5 * 4300
    free = burstline.wait_states(trace, clock=Effort("lt_stmt", call_cost=0))
    assert waits.profile.total("comp") == free.profile.total("comp")


def questions(waits):
    return [each.question for each in verdict_on_waits(waits)]


def test_a_verdict_that_rests_on_what_a_call_costs_says_so():
    waits = burstline.wait_states(program(3, 200), clock="lt_stmt")

    *_, doubt = verdict(waits)
    assert "If these cost nothing: " in doubt
    assert "solve" in doubt  # who causes the wait by what was counted
    assert show.WaitsView(waits).document()["verdict_without"] is not None
    facts = [block for block in show.WaitsView(waits).blocks() if "but" in str(block)]
    assert doubt in str(facts)


@pytest.mark.parametrize("cost", [1, 4300])
def test_a_verdict_that_stays_the_same_says_nothing(cost):
    waits = burstline.wait_states(
        program(3, 300 * cost), clock=Effort("lt_stmt", call_cost=cost)
    )

    assert waits.modelled.share > 0.01
    assert "but" not in questions(waits)


def test_verdicts_that_differ_by_amounts_alone_are_one():
    said = ["Rank 0 causes most of the largest wait, 59.6 %: above all (8.9 %), solve."]
    same = [said[0].replace("most", "more").replace(", 59.6 %", " than any other rank, 6 %")]

    assert told(said, same) == []
    assert told(said, [same[0].replace("solve", "main")]) != []
    assert told(said, [*same, "And more."]) == ["And more."]


def told(ours, theirs):
    """What is said of verdicts without some ticks."""
    with_them, without = ([Sentence("cause", each) for each in said] for said in (ours, theirs))
    return [each.sentence for each in changed(with_them, without)]


def test_retime_says_how_many_ticks_nobody_counted():
    document = retimed(program(2, 9), "lt_stmt").as_dict()

    assert document["modelled_ticks"] == 2 * 5 * 4300
    assert 0.9 < document["modelled_share"] < 1
    notes = list(show.clock_notes(document))
    assert any("4,300 for each call of OpenMP" in note for note in notes)


def test_a_clock_that_counted_nothing_is_named_as_the_one_it_is():
    trace = trace_of(
        "ranks 2 | 0 | 1 enter MPI_Barrier | 2 leave | 1 | 1 enter MPI_Barrier | 2 leave"
    )
    document = retimed(trace, "lt_loop").as_dict()

    assert document["equals"] == "lt_1"
    assert any("this is lt_1" in note for note in show.clock_notes(document))
    assert retimed(trace, "lt_1").as_dict()["equals"] == "lt_1"


def test_what_the_machine_decides_is_named_with_its_share():
    trace = trace_of(
        "ranks 1 threads 2 | region critical role critical paradigm openmp "
        "| 0.0 | 1 enter MPI_Test | 2 leave | 3 enter MPI_Waitany | 4 leave "
        "| 5 enter MPI_Comm_rank | 6 leave | 7 enter MPI_Comm_rank | 8 leave "
        "| 9 enter critical | 10 acquire 5 order 1 | 11 release 5 | 12 leave "
        "| 0.1 | 11 enter critical | 12 acquire 5 order 2 | 13 release 5 | 14 leave"
    )
    order = retimed(trace, "lt_1").as_dict()["machine_order"]

    assert (order["polls"], order["first_comes"]) == ({"MPI_Test": 1}, {"MPI_Waitany": 1})
    assert order["calls_share"] == 0.5
    assert (order["locks"], order["locks_share"]) == (2, 1.0)
    notes = " ".join(show.clock_notes(retimed(trace, "lt_1").as_dict()))
    assert "50.0 % of the calls of MPI" in notes
    assert "who gets a lock first" in notes


def test_messages_that_have_no_rival_are_in_the_program_s_order():
    text = "ranks 3 | 0 | 1 enter MPI_Recv | 9 receive from 1 tag {} bytes 8 | 10 leave"
    text += " | 11 enter MPI_Recv | 19 receive from 2 tag 5 bytes 8 | 20 leave"
    text += " | 1 | 1 enter MPI_Send | 2 send to 0 tag {} bytes 8 | 3 leave"
    text += " | 2 | 1 enter MPI_Send | 2 send to 0 tag 5 bytes 8 | 3 leave"

    orders = [retimed(trace_of(text.format(tag, tag)), "lt_1").machine_order for tag in (4, 5)]

    assert [order.as_dict()["rivals"] for order in orders] == [0, 2]
    assert [order.as_dict()["rivals_share"] for order in orders] == [0, 1]


def with_statements(trace, counter, each):
    """The trace as if what a counter counted were statements, `each` of its units one."""
    tables = {name: trace.table(name) for name in schema.TABLES if name in trace}
    readings, counters = tables["readings"], tables["counters"].to_pylist()
    names = ["IR_TOT_INS" if name == counter else name for name in readings.column_names]
    column = readings.column_names.index(counter)
    counted = pa.array([v and v // each for v in readings[counter].to_pylist()], pa.int64())
    readings = readings.set_column(column, counter, counted).rename_columns(names)
    for row in counters:
        row["name"] = "IR_TOT_INS" if row["name"] == counter else row["name"]
    counters = pa.Table.from_pylist(counters, schema=tables["counters"].schema)
    return burstline.Trace(tables | {"readings": readings, "counters": counters})


def tails(trace, cost):
    """How long first threads are in parallel regions behind their part; how many parts."""
    regions = retimed(trace, "lt_stmt", call_cost=cost).trace.regions
    location, parent, region, leave = (
        to_numpy(regions[name]) for name in ("location", "parent", "region", "leave_ns")
    )
    role = np.array(trace.region_defs["role"].to_pylist())[region]
    bodies = np.flatnonzero((role == "outlined") & (parent >= 0))
    around = np.searchsorted(location, location[bodies]) + parent[bodies]
    bodies, around = bodies[role[around] == "parallel"], around[role[around] == "parallel"]
    return (leave[around] - leave[bodies]).sum(), len(bodies)


@pytest.mark.parametrize("each", [1, 500])  # a call of OpenMP has 1 % and 84 % of the ticks
def test_lulesh_with_threads_computes_and_is_judged_as_without_the_cost(real_traces, each):
    """It was recorded without statements: ns of the processor stand for them."""
    recorded = burstline.read(real_traces / "lulesh_omp_8r2t_s4_i5.prv.gz", raw=False)
    trace = with_statements(recorded, "TASK-CLOCK", each)
    dear, free = (
        burstline.wait_states(trace, clock=Effort("lt_stmt", call_cost=cost))
        for cost in (None, 0)
    )

    # The end of a region, where first threads wait for others, is told as no barrier: it
    # counts as theirs to compute, and the call of OpenMP that ends it takes part of it.
    computed, instead = (each.profile.exclusive("comp") for each in (dear, free))
    thread = dear.profile.locations["thread"].to_numpy()
    assert np.array_equal(computed[:, thread > 0], instead[:, thread > 0])
    (with_call, ends), (without, _) = tails(trace, None), tails(trace, 0)
    assert ends > 19_000
    assert (instead - computed).sum() == without - (with_call - 4300 * ends) > 0
    assert dear.modelled.share > (0.8 if each > 1 else 0.01)
    assert verdict(dear.modelled.without) == verdict(free)
    *_, where, cause = (
        [line.split("%")[-1] for line in verdict(waits)[:3]] for waits in (dear, free)
    )
    assert where == cause or "but" in questions(dear)
