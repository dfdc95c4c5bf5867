"""Phases that are bodies of loops: on programs whose loops are known, and on random ones."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import burstline
from burstline.errors import NotEnoughDataError
from burstline.selection import select
from burstline.signature import events_of
from burstline.signature.loops import loops
from burstline.testing import trace_of
from effort import examples
from loop_programs import Do, loop, run
from simulator import simulate

SEND, RECV, SUM = Do("Send", 12), Do("Recv", 14), Do("Allreduce", 20)
BEFORE, AFTER = Do("Bcast", 5), Do("Reduce", 50)


def weights(trace, process=0, **options):
    """Give how often each phase occurs, by its name."""
    phases = loops(trace, events_of(trace), process, **options)
    return dict(zip(phases.names, phases.weights.tolist(), strict=True))


def occurrences(trace, process=0, **options):
    """Give the name of each occurrence and the boundaries at which it begins and ends."""
    phases = loops(trace, events_of(trace), process, **options)
    names = [phases.names[phase] for phase in phases.phase.tolist()]
    return list(zip(names, phases.begin.tolist(), phases.end.tolist(), strict=True))


def simulated(seed):
    trace = trace_of(simulate(seed).text)
    try:
        return trace, events_of(trace)
    except NotEnoughDataError:
        return trace, None


@examples(0.5)
@given(
    seed=st.integers(0, 10**6),
    fewest=st.integers(1, 8),
    share=st.sampled_from([0.01, 0.1, 0.5]),
)
def test_occurrences_are_apart_in_the_order_of_time_and_may_have_each_event(
    seed, fewest, share
):
    trace, events = simulated(seed)
    for process in range(len(events.ranks) if events else 0):
        every = loops(trace, events, process, min_share=0, min_iterations=fewest)
        edges = np.append(every.begin, events.count(process)).tolist()
        assert edges == [0, *every.end.tolist()]
        assert (every.weights > 0).all()
        assert len(set(every.names)) == len(every.names)

        phases = loops(trace, events, process, min_share=share)
        edges = np.stack([phases.begin, phases.end], axis=1).reshape(-1)
        assert (np.diff(edges) >= 0).all()
        assert (phases.end > phases.begin).all()
        assert ((edges >= 0) & (edges <= events.count(process))).all()


@examples(0.5)
@given(seed=st.integers(0, 10**6))
def test_other_ranks_have_no_say_in_the_phases_of_one(seed):
    trace, events = simulated(seed)
    for process in range(len(events.ranks) if events else 0):
        if events.count(process):
            alone = select(trace, ranks=[int(events.ranks[process])])

            assert occurrences(alone) == occurrences(trace, process)


@given(
    times=st.integers(8, 30),
    body=st.lists(st.sampled_from(["Send", "Recv", "Barrier", "Allreduce"]), min_size=2),
    inner=st.integers(1, 12),
)
def test_a_loop_has_the_weight_of_its_iterations(times, body, inner):
    steps = [Do(operation, 10 + line) for line, operation in enumerate(body)]
    program = loop(times, *steps, loop(inner, Do("Bcast", 90), Do("Gather", 91)))

    assert weights(run(BEFORE, program, AFTER))["loop a.c:10 (main)"] == times


def test_iterations_begin_with_what_is_computed_before_their_first_call():
    trace = run(BEFORE, loop(8, SEND, RECV), AFTER)

    assert occurrences(trace) == [
        ("from MPI_Init to a.c:5", 0, 1),
        *(("loop a.c:12 (main)", 1 + 2 * k, 3 + 2 * k) for k in range(8)),
        ("from a.c:14 to MPI_Finalize", 17, 18),
    ]


def test_polls_between_the_calls_of_an_iteration_are_no_events():
    polls = loop([0, 3, 1, 2, 5, 0, 1, 7], Do("Iprobe", 13))
    trace = run(loop(8, SEND, polls, RECV))

    assert weights(trace) == {"loop a.c:12 (main)": 8}
    assert [end - begin for _, begin, end in occurrences(trace)] == [2] * 8


def test_a_loop_of_few_iterations_is_opened_for_those_in_it():
    trace = run(loop(3, BEFORE, loop(10, SEND, RECV), SUM, loop(9, AFTER)))

    assert weights(trace) == {
        "loop a.c:12 (main)": 30, "loop a.c:50 (main)": 27, "from MPI_Init to a.c:5": 1,
        "from a.c:14 to a.c:20": 3, "from a.c:50 to a.c:5": 2,
    }  # fmt: skip


def test_a_loop_of_few_iterations_stays_whole_where_those_in_it_are_short():
    long = Do("Barrier", 30, work_ns=5000)
    trace = run(loop(3, loop(10, SEND, RECV), long))

    assert weights(trace) == {"loop a.c:12 (main)": 3}
    assert weights(trace, min_iterations=4)["loop a.c:12 (main)"] == 3
    assert weights(trace, min_iterations=3) == {"loop a.c:12 (main)": 3}


def test_iterations_with_other_calls_are_a_kind_of_their_own_unless_they_are_rare():
    every_fifth = Do("Bcast", 16, when=lambda k: k % 5 == 4)
    rare = Do("Bcast", 16, when=lambda k: k in {0, 20, 30})
    name = "loop a.c:12 (main)"

    assert weights(run(loop(40, SEND, every_fifth, RECV))) == {name: 32, f"{name}, kind 2": 8}
    assert weights(run(loop(40, SEND, rare, RECV))) == {name: 40}


def test_what_is_short_in_all_is_left_out():
    long = loop(20, Do("Send", 12, work_ns=100_000), RECV)
    trace = run(BEFORE, long, AFTER, loop(10, Do("Barrier", 60)))

    assert weights(trace) == {"loop a.c:12 (main)": 20}
    assert weights(trace, min_share=0) == {
        "loop a.c:12 (main)": 20,
        "loop a.c:60 (main)": 10,
        "from MPI_Init to a.c:5": 1,
        "from a.c:14 to a.c:50": 1,
    }


def test_without_call_paths_loops_have_the_name_of_their_place_in_the_nest():
    inner, other = loop(10, SEND, RECV), loop(9, SUM, Do("Barrier", 30))
    trace = run(loop(3, inner, BEFORE, other), AFTER, paths=False)

    expected = {"loop 1.1": 30, "loop 1.2": 27, "from MPI_Recv to MPI_Bcast": 3}
    assert weights(trace) == expected


def test_a_loop_is_named_by_the_function_in_which_its_calls_part():
    paths = [
        "path 0 main file a.c line 3",
        *(f"path {k} step under 0 file a.c line {30 + k}" for k in (1, 2)),
        *(f"path {k + 2} exchange under {k} file b.c line 7" for k in (1, 2)),
    ]
    calls = [
        f"{100 * k + ns} enter MPI_Send path {path} | {100 * k + ns + 9} leave"
        for k in range(8)
        for ns, path in ((0, 3), (20, 4))
    ]

    assert weights(trace_of(" | ".join(["ranks 1", *paths, "0", *calls]))) == {
        "loop a.c:31 (step)": 8
    }


def test_the_phases_of_a_real_program_have_its_source_lines():
    trace = burstline.read(files("burstline") / "data" / "lulesh_8r.prv.gz")

    assert weights(trace) == {
        "loop lulesh.cc:1109 (CalcForceForNodes)": 5,
        "from MPI_Init to lulesh.cc:2732": 1,
    }
