"""Whether a run may be judged: each check fails on a run made for it, none on a sound one."""

from __future__ import annotations

import numpy as np
import pytest

import burstline
from burstline.answers import verdict_on_waits
from burstline.model import is_off_processor
from burstline.selection import select
from burstline.testing import trace_of
from verdicts import MS, looping

LOSS = "defect odd loss 3 here"
WAITED = 1 / 6, 1  # ranks work 15 and 10 ms of each 100, in 90 and 10 ms
OUTLINED = "path 1 main._omp_fn.0 under 0 file solver.c line 50"
EARLY = """
ranks 2
0 | 0 enter MPI_Init | 1000000 leave
  | 9000000 enter MPI_Send | 9000000 send to 1 bytes 8 | 9100000 leave
  | 9200000 enter MPI_Finalize | 9300000 leave
1 | 0 enter MPI_Init | 1000000 leave
  | 2000000 enter MPI_Recv | 3000000 receive from 0 bytes 8 | 3000000 leave
  | 9200000 enter MPI_Finalize | 9300000 leave
"""


def checks_of(trace):
    return {each.name: each for each in burstline.open(trace).verdict().checks}


def told(trace):
    """What is said of its waits, with the checks."""
    run = burstline.open(trace)
    waits = run.waits()
    return {each.question: each.sentence for each in verdict_on_waits(waits, run.checks(waits))}


def cost(ns):
    """What recording took on each of two ranks, whose runs last 2.5 s."""
    return "\n".join(f"row recordings location {rank} calls_ns {ns}" for rank in range(2))


CHEAP = cost(MS)


def sound(lost=CHEAP, **given):
    return looping(**{"cpu": 1, "lost": lost, **given})


@pytest.mark.parametrize(
    ("name", "trace", "figure", "passed"),
    [
        ("long enough", sound(steps=9), 900 * MS, False),
        ("enough iterations", sound(steps=19), 19, False),
        ("enough iterations", sound(steps=20), 20, True),
        ("enough iterations", sound(steps=0), 0, False),
        ("processors not shared", sound(cpu=0.9), 0.9, False),
        ("processors not shared", sound(cpu=None), None, None),
        ("callers known", sound(path=False), 0, False),
        ("recorded at little cost", sound(lost=cost(100 * MS)), 0.04, False),
        ("recorded at little cost", sound(lost=""), None, None),
        ("nothing dropped", sound(lost=LOSS), 3, False),
        ("clocks in order", trace_of(EARLY), 6 * MS, False),
        ("OpenMP seen", sound(lost=OUTLINED), 1, False),
        ("OpenMP seen", sound(lost="defect openmp_not_recorded info 1 libgomp.so.1"), 0, None),
    ],
)
def test_each_check_fails_on_a_run_made_for_it(name, trace, figure, passed):
    check = checks_of(trace)[name]

    assert check.passed is passed
    assert check.figure == (None if figure is None else pytest.approx(figure, rel=0.01))
    assert check.remedy


def test_iterations_of_an_inner_loop_count_that_spans_most():
    lines = []
    for rank in range(2):
        parts = ["0 enter MPI_Init path 0 | 1 leave"]
        at = 1
        for _ in range(4):
            for _ in range(6):
                parts.append(f"{at + 5} enter MPI_Barrier path 1 | {at + 6} leave")
                at += 10
            parts.append(f"{at + 1} enter MPI_Allreduce path 2 | {at + 2} leave")
            at += 3
        parts.append(f"{at + 1} enter MPI_Finalize path 0 | {at + 2} leave")
        lines.append(f"{rank} | " + " | ".join(parts))
    paths = "".join(f"path {k} main file a.c line {k}\n" for k in range(3))

    check = checks_of(trace_of(f"ranks 2\n{paths}" + "\n".join(lines)))["enough iterations"]

    assert (check.figure, check.passed) == (24, True)


def test_a_verdict_on_waits_says_first_what_does_not_hold():
    shared, short, lossy = (
        told(trace) for trace in (sound(cpu=WAITED), sound(steps=9), sound(lost=LOSS))
    )

    assert [*shared] == ["judged", "lost", "where", "cause"]
    assert shared["judged"].startswith("Judge this run with care: ranks probably shared ")
    assert shared["cause"] == (
        "Who causes it cannot be told, as whoever waited for a processor came late and made "
        "others wait."
    )
    assert "In so short a run this may be chance." in short["cause"]
    assert "As the trace lacks something, this may be wrong." in lossy["cause"]
    for each in (shared, short, lossy):
        assert "Look there first" not in each["cause"]


def test_who_works_longer_is_named_though_processors_were_shared():
    said = told(sound(cpu=0.6))

    assert said["judged"].startswith("Judge this run with care: ranks probably shared ")
    assert said["cause"].startswith(
        "Rank 0 causes most of the largest wait, 100.0 %: above all (100.0 %), comp"
    )
    assert (
        "As processors were probably shared, a part of it may be the machine's."
        in said["cause"]
    )
    assert "Look there first" not in said["cause"]


def relaxing(*ranks, opens=False):
    """25 steps of ranks that are (ms in `relax`, ms on a processor), and a barrier."""
    lines = []
    for rank, (mine, used) in enumerate(ranks):
        parts = [f"0 enter main | 0 enter MPI_Init | {MS} leave cpu=0"]
        for begin in range(MS, 2501 * MS, 100 * MS):
            stop, end = begin + mine * MS, begin + 100 * MS
            inside = f"{begin + 1} enter open | {begin + MS} leave | " if opens else ""
            parts.append(
                f"{begin} enter relax | {inside}{stop} leave | {stop} enter MPI_Barrier cpu="
                f"{round(used * MS)} | {stop} begin | {end} end | {end} leave cpu=0"
            )
        parts.append(f"{2501 * MS} enter MPI_Finalize cpu=0 | {2502 * MS} leave")
        lines.append(f"{rank} | " + " | ".join([*parts, f"{2502 * MS} leave"]))
    return trace_of('ranks 2\ncounter "cpu" unit "ns" mode delta\n' + "\n".join(lines))


@pytest.mark.parametrize(("used", "is_named"), [((54, 6), True), ((15, 10), False)])
def test_of_functions_all_that_a_rank_computes_is_taken(used, is_named):
    said = told(relaxing((90, used[0]), (10, used[1])))["cause"]

    assert ("relax called by main takes longer there" in said) is is_named
    assert ("cannot be told" in said) is not is_named


def test_ticks_are_judged_by_what_a_logical_clock_tells():
    run = burstline.open(sound(cpu=0.5, steps=9))
    ticks = run.waits(clock="lt_1")
    lossy = burstline.open(sound(lost=LOSS)).checks(ticks)

    assert verdict_on_waits(ticks, run.checks(ticks))[0].question == "lost"
    assert verdict_on_waits(ticks, lossy)[0].question == "judged"


def test_stamps_that_were_corrected_are_in_order():
    run = burstline.open(trace_of(EARLY))

    [clocks] = [each for each in run.checks(run.waits(correct=True)) if "clocks" in each.name]

    assert (clocks.figure, clocks.passed) == (0, True)


def test_the_cost_of_a_part_is_that_of_its_time():
    whole = sound(lost=cost(50 * MS))
    part = select(whole, start_ns=0, end_ns=500 * MS)

    costs = [checks_of(each)["recorded at little cost"].figure for each in (whole, part)]

    assert costs == pytest.approx([0.02, 0.02], rel=0.01)
    assert select(whole, start_ns=0).table("recordings").equals(whole.table("recordings"))


def test_sleep_at_one_place_is_no_sharing_where_all_else_computes():
    naps = checks_of(sound(cpu=(0.05, 1), computing=(70, 95)))["processors not shared"]
    hardly = checks_of(sound(cpu=(0.05, 1), computing=(70, 10)))["processors not shared"]

    assert naps.passed
    assert not hardly.passed
    assert hardly.figure == pytest.approx((3.5 + 10) / 80, rel=0.01)


def test_a_long_stretch_that_hardly_computes_is_off_the_processor():
    elapsed = np.array([80 * MS, 80 * MS, MS - 1, MS, 80 * MS], np.int64)
    counted = np.array([8 * MS, 11 * MS, 0, 0, -(2**63)], np.int64)

    assert is_off_processor(elapsed, counted).tolist() == [True, False, False, True, False]


@pytest.mark.parametrize("cpu", [(0.03, 1), (0.1, 1)])
def test_a_rank_that_is_late_off_its_processor_is_said_to_compute_nothing(cpu):
    trace = looping(cpu=cpu, computing=(80, 60))
    run = burstline.open(trace)
    waits = run.waits()

    said = told(trace)
    of_run = {each.question: each.sentence for each in run.verdict().sentences}

    assert waits.profile.total("off_processor") == 25 * 80 * MS
    assert waits.profile.total("comp") == 25 * 140 * MS
    assert "judged" not in said  # all else computes, so nobody shared a processor
    assert said["cause"] == (
        "Rank 0 causes most of the largest wait, 100.0 %: above all (100.0 %), it is off the "
        "processor from "
        "MPI_Barrier, solver.c:42, or MPI_Init, solver.c:42, to MPI_Barrier, solver.c:42, in "
        "main or what it calls: it reads files, sleeps, or waits for a processor, and computes "
        "nothing. Look there first."
    )
    assert of_run["waits"].endswith(
        "in main or what it calls (100.0 %), where it reads files, sleeps, or waits for a "
        "processor, and computes nothing."
    )


def test_a_rank_off_its_processor_is_named_even_where_hardly_anything_computes():
    said = told(looping(cpu=(0.05, 1), computing=(80, 10)))

    assert said["judged"].startswith("Judge this run with care: ranks probably shared ")
    assert said["cause"].endswith("waits for a processor, and computes nothing.")


def test_a_function_that_is_off_its_processor_is_said_to_compute_nothing():
    assert (
        "it is off the processor in relax called by main: it reads files, sleeps, or waits for "
        "a processor, and computes nothing."
    ) in told(relaxing((80, 4), (60, 60), opens=True))["cause"]
