"""Effort models are fitted as by hand, find what was planned, and scale as they should."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstline.clocks import EffortModel, non_negative, retimings
from burstline.errors import NotEnoughDataError
from burstline.synchronisation import graph_of
from burstline.testing import trace_of
from burstline.waits import fitted
from golden.oracle_events import as_text
from hybrid_programs import hybrid_programs
from oracles.non_negative import least_squares

pytest.importorskip("scipy")

NAMES = ("IR_LD_INS", "IR_FP_INS", "IR_BR_INS")
COUNTS = st.tuples(*[st.integers(0, 500)] * len(NAMES))


@given(
    st.lists(st.tuples(*[st.integers(0, 50)] * 3, st.integers(0, 1000)), min_size=1, max_size=8)
)
def test_weights_are_the_best_of_all_that_are_not_negative(rows):
    table = np.array(rows, float)
    counts, times = table[:, :-1], table[:, -1]

    weights = non_negative(counts, times)

    assert (weights >= 0).all()
    left = float(((times - counts @ weights) ** 2).sum())
    assert left == pytest.approx(least_squares(counts, times), rel=1e-6, abs=1e-6)


def story(functions, weights, event_ns, late=0, names=NAMES):
    """A program whose functions take what their counts say, and each event some ns."""
    lines = ["ranks 1", "region main role function"]
    lines += [f"region f{k} role function" for k in range(len(functions))]
    lines += [f"counter {name}" for name in names]
    none = " ".join(f"{name}=0" for name in names)
    lines += ["0", f"0 enter main {none}"]
    now = 0
    for k, counts in enumerate(functions):
        now += event_ns
        lines.append(f"{now} enter f{k} {none}")
        now += event_ns + late + sum(c * w for c, w in zip(counts, weights, strict=True))
        read = " ".join(f"{name}={count}" for name, count in zip(names, counts, strict=True))
        lines.append(f"{now} leave {read}")
    lines += [
        f"{now + event_ns} enter MPI_Barrier {none}",
        f"{now + event_ns + 9} leave {none}",
    ]
    lines += [f"{now + 2 * event_ns + 9} leave {none}"]
    return trace_of("\n".join(lines))


@given(
    st.lists(COUNTS, min_size=6, max_size=10, unique=True),
    st.tuples(*[st.integers(0, 40)] * len(NAMES)),
    st.integers(0, 100),
)
def test_a_fit_finds_the_weights_that_were_planned(functions, weights, event_ns):
    table = np.column_stack([np.array(functions, float), np.ones(len(functions))])
    if np.linalg.cond(table / np.maximum(1, table.max(axis=0))) > 100 or not any(weights):
        return  # counters that say the same
    if not any(sum(c * w for c, w in zip(row, weights, strict=True)) for row in functions):
        return
    clean = story(functions, weights, event_ns)
    held_up = story(functions, weights, event_ns, late=10_000)  # the same counts take longer

    fit = fitted([held_up, clean], NAMES, "planned")

    assert fit.explained == pytest.approx(1)
    assert fit.event_ns == pytest.approx(event_ns, abs=0.01)
    for name, weight in zip(NAMES, weights, strict=True):
        assert fit.model.weights.get(name, 0) == pytest.approx(weight, rel=1e-4, abs=1e-3)


def test_calls_take_what_a_model_says_of_them():
    names = "IR_LD_INS", "IR_CALLS_MEM"
    trace = story([(10, 4), (200, 3), (35, 9), (0, 1)], (2, 50), 10, names=names)
    calls = EffortModel({"IR_LD_INS": 9.0, "IR_CALLS_MEM": 50.0}, 77.0, "calibrated")

    fit = fitted([trace], names[:1], "", calls)

    assert fit.model.weights == pytest.approx({"IR_CALLS_MEM": 50, "IR_LD_INS": 2})
    assert fit.model.openmp_call == 77
    assert fit.explained == pytest.approx(1)


TEAMS = """
ranks 1 threads 2
region main role function
region "!$omp parallel" paradigm openmp role parallel
region "!$omp implicit barrier" paradigm openmp role implicit_barrier
counter IR_LD_INS
0.0
0 enter main IR_LD_INS=0
{master}
9000 leave IR_LD_INS={last}
0.1
{worker}
"""
TEAM = """\
{} team begin {number}
{} enter "!$omp parallel" IR_LD_INS=0
{} enter "!$omp implicit barrier" IR_LD_INS=50
{} leave IR_LD_INS=0
{} leave IR_LD_INS=0
{} team end {number}"""


def team(number, fork_ns):
    """What a master and a worker do: both compute for 500 ns, 200 around it are OpenMP's."""
    inside = [fork_ns + after for after in (200, 200, 700, 750, 750, 750)]
    body = TEAM.format(*inside, number=number)
    return f"{fork_ns} fork 2 IR_LD_INS=10\n{body}\n{fork_ns + 950} join IR_LD_INS=0", body


def test_idle_threads_and_the_runtime_of_openmp_are_no_computation():
    first, second = team(0, 100), team(1, 1150)
    master, worker = ("\n".join(parts) for parts in zip(first, second, strict=True))
    text = TEAMS.format(master=master, worker=worker, last=(9000 - 2100) // 10)

    fit = fitted([trace_of(text)], ["IR_LD_INS"], "")

    assert fit.model.weights == pytest.approx({"IR_LD_INS": 10})
    assert fit.model.openmp_call == 200
    assert fit.explained == pytest.approx(1)
    assert fit.event_ns == pytest.approx(0, abs=1e-6)


def test_counters_that_tell_nothing_of_the_time_are_refused():
    trace = story([(10, 0, 0), (200, 0, 0), (35, 9, 0)], (2, 5, 0), 10)

    with pytest.raises(NotEnoughDataError, match="IR_BR_INS: no information"):
        fitted([trace], ["IR_BR_INS"], "")
    with pytest.raises(NotEnoughDataError, match="IR_CALLS_MEM: not recorded"):
        fitted([trace], NAMES, "", EffortModel({"IR_CALLS_MEM": 4.0}, 77.0, ""))


@given(hybrid_programs(), st.integers(2, 9), st.randoms(use_true_random=False))
def test_weights_that_are_scaled_scale_what_is_computed(program, factor, random):
    lines = as_text(program).splitlines()
    head = next(k for k, line in enumerate(lines) if line[0].isdigit())
    counted = [
        f"{line} IR_LD_INS={random.randint(1, 99)}" if " " in line else line
        for line in lines[head:]
    ]
    trace = trace_of("\n".join([*lines[:head], "counter IR_LD_INS", *counted]))
    model = EffortModel({"IR_LD_INS": 3.0}, 5.0, "")
    scaled = EffortModel({"IR_LD_INS": 3.0 * factor}, 5.0 * factor, "")
    again = EffortModel({"IR_LD_INS": 3.0}, 5.0, "")

    one, other, same = retimings(graph_of(trace), [m.effort() for m in (model, scaled, again)])

    # What waits is one tick behind its source, whatever the scale.
    events = trace.rows("calls") * 2 + trace.rows("regions") * 2 + 100 + len(counted)
    assert abs(other.end_ticks - factor * one.end_ticks) <= factor * events
    assert one.end_ticks == same.end_ticks
    for table, column in (("calls", "leave_ns"), ("messages", "receive_ns")):
        ours, theirs = (r.trace.table(table)[column] for r in (one, same))
        assert ours.equals(theirs)
