"""The waits of a trace agree with the reference tools, the worked examples and their twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import burstline
from burstline.testing import trace_of
from golden.oracle_events import as_case, as_text
from golden.oracle_severities import CASES, FOLDER, METRICS, differences, reported
from golden.test_waits_twin import TIME_TREE, UNTOUCHED
from golden.worked_waits import EXAMPLES, UNIT
from hybrid_programs import hybrid_programs
from oracles import waits as twin

SUMS = "delay", "performance_impact", "waitstates", "mpi_wait_direct", "mpi_wait_terminal"


def severities(trace, like=None):
    """Values by metric, location and path, as the twin has them."""
    waits = burstline.wait_states(trace, like=like)
    profile = waits.profile
    rows, path = range(profile.call_paths.num_rows), profile.paths()
    assert [path(row) for row in rows] == [profile.path(row) for row in rows]
    paths = ["/".join(path(row)) for row in rows]
    table = {}
    for metric in profile.stored:
        dense = profile.exclusive(metric)
        rows, locations = np.nonzero(dense)
        table[metric] = {
            (int(location), paths[row]): int(dense[row, location])
            for row, location in zip(rows, locations, strict=True)
        }
    return table


@pytest.fixture(params=CASES)
def case(request):
    return request.param


def trace_of_case(case):
    return trace_of((FOLDER / f"{case}.txt").read_text())


def test_like_scalasca_they_are_its_own_within_three_stamps(case):
    ours = severities(trace_of_case(case), like="scalasca-2.6")
    idle = ours.get("omp_idle_threads", {})
    measured = {
        **ours, "time": {p: value - idle.get(p, 0) for p, value in ours["time"].items()}
    }  # fmt: skip

    assert differences(measured, reported(case, "scout26"), METRICS["scout26"], allowed=3) == []
    assert differences(ours, reported(case, "remapped"), METRICS["remapped"], allowed=3) == []


def test_without_its_oddities_all_else_is_the_same(case):
    ours = severities(trace_of_case(case))

    assert differences(ours, reported(case, "scout26"), UNTOUCHED, allowed=3) == []
    assert differences(ours, reported(case, "remapped"), TIME_TREE, allowed=3) == []


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("like", [None, "scalasca-2.6"])
def test_the_worked_examples_have_the_printed_numbers(name, like):
    events, expected = EXAMPLES[name]

    ours = severities(trace_of(as_text(events)), like)

    for metric, rows in expected.items():
        short = {
            (location, path.rsplit("/", 1)[-1].removeprefix("!$omp ")): value / UNIT
            for (location, path), value in ours.get(metric, {}).items()
        }
        assert short == pytest.approx(rows), metric


def unlike(ours, theirs):
    """Places where a metric differs from the twin's by more than rounding."""
    return [
        (metric, place, ours.get(metric, {}).get(place, 0), float(rows.get(place, 0)))
        for metric, rows in theirs.items()
        # A sum is one of rounded parts.
        for allowed in [4 if metric.startswith(SUMS) else 1]
        for place in {*rows, *ours.get(metric, {})}
        if abs(ours.get(metric, {}).get(place, 0) - float(rows.get(place, 0))) > allowed
    ]


def test_every_case_is_as_its_twin_has_it(case):
    trace = trace_of_case(case)

    for like in (None, "scalasca-2.6"):
        theirs = twin.severities(as_case(trace), like_scalasca=like is not None)
        assert unlike(severities(trace, like), theirs) == []


@given(hybrid_programs())
def test_programs_at_random_are_as_their_twin_has_them(program):
    assert unlike(severities(trace_of(as_text(program))), twin.severities(program)) == []
