"""The slow twin of the waits agrees with the reference tools and the worked examples."""

from __future__ import annotations

import json

import pytest

import burstline
from burstline.testing import trace_of
from golden.oracle_events import as_case, case_of
from golden.oracle_severities import CASES, FOLDER, METRICS, differences, reported
from golden.worked_waits import EXAMPLES, TOTALS_OF_C, UNIT
from oracles import delays, waits

# What the oddities of Scalasca 2.6 do not touch: the time tree, wait states, short-term costs
# and the critical path, but not long-term costs, the children of wrong order and impact.
TIME_TREE = [m for m in METRICS["remapped"] if "imbalance" not in m]
WRONG_ORDER_CHILDREN = "mpi_lswo_same", "mpi_lswo_different"
UNTOUCHED = [
    m
    for m in METRICS["scout26"]
    if not m.endswith(("_longterm", "_impact", "imbalance"))
    and m not in (*WRONG_ORDER_CHILDREN, "time")
]

# Waiting time that delay costs explain (3.4).
EXPLAINED = (
    "mpi_latesender", "mpi_latereceiver", "mpi_earlyreduce", "mpi_latebroadcast",
    "mpi_wait_nxn", "mpi_barrier_wait", "omp_ebarrier_wait", "omp_ibarrier_wait",
    "omp_idle_threads",
)  # fmt: skip


@pytest.fixture(params=CASES)
def case(request):
    return request.param


def events_of(case):
    """The event list of a case."""
    return as_case(trace_of((FOLDER / f"{case}.txt").read_text()))


def total(table, metric):
    """Sum of a metric."""
    return sum(table.get(metric, {}).values())


def test_all_cases_are_here():
    assert len(CASES) == 32


def test_the_twin_is_scalasca_within_three_stamps(case):
    ours = waits.severities(events_of(case), like_scalasca=True)
    theirs, remapped = reported(case, "scout26"), reported(case, "remapped")
    unmapped = {
        **ours,
        "time": {
            place: value - ours.get("omp_idle_threads", {}).get(place, 0)
            for place, value in ours["time"].items()
        },
    }

    assert differences(unmapped, theirs, METRICS["scout26"], allowed=3) == []
    assert differences(ours, remapped, METRICS["remapped"], allowed=3) == []


def test_without_its_oddities_all_else_is_the_same(case):
    ours = waits.severities(events_of(case))
    theirs = reported(case, "scout26")

    assert differences(ours, theirs, UNTOUCHED, allowed=3) == []
    assert differences(ours, reported(case, "remapped"), TIME_TREE, allowed=3) == []


def test_delay_costs_are_conserved_to_the_last_stamp(case):
    events = events_of(case)
    ours = waits.severities(events)

    # Nobody is blamed for the wait at MPI_Finalize, nor for workers that are idle meanwhile,
    # nor for what a region's faster threads lack to the first.
    blameless = total(ours, "mpi_finalize_wait") * (events["threads"] - 1)
    blameless += total(ours, "omp_limited_parallelism")
    assert total(ours, "delay") == sum(total(ours, m) for m in EXPLAINED) - blameless


def test_the_wrong_order_children_make_the_whole(case):
    ours = waits.severities(events_of(case))

    children = {}
    for metric in WRONG_ORDER_CHILDREN:
        for place, value in ours.get(metric, {}).items():
            children[place] = children.get(place, 0) + value
    assert children == ours.get("mpi_latesender_wo", {})


# In `bcast_clamp` a receiver leaves before its root begins, so that the path has a gap.
@pytest.mark.parametrize("case", [name for name in CASES if name != "bcast_clamp"])
def test_the_critical_path_is_as_long_as_the_program(case):
    events = events_of(case)
    ours = waits.severities(events)
    names = {row["id"]: row["name"] for row in events["regions"]}
    enter = {
        name: [e[2] for e in events["events"] if e[0] == "E" and names[e[3]] == name]
        for name in ("MPI_Init", "MPI_Finalize")
    }

    # All ranks enter MPI_Init together in these cases.
    assert len(set(enter["MPI_Init"])) == 1
    assert total(ours, "critical_path") == max(enter["MPI_Finalize"]) - enter["MPI_Init"][0]


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("like_scalasca", [False, True])
def test_the_worked_examples_have_the_printed_numbers(name, like_scalasca):
    events, expected = EXAMPLES[name]

    ours = waits.severities(events, like_scalasca=like_scalasca)

    for metric, rows in expected.items():
        short = {
            (location, path.rsplit("/", 1)[-1]): float(value) / UNIT
            for (location, path), value in ours.get(metric, {}).items()
        }
        assert short == pytest.approx(rows), metric


def test_the_profile_of_the_critical_path_adds_up():
    events, _ = EXAMPLES["critical path of C"]
    ours = waits.severities(events)

    assert {m: total(ours, m) / UNIT for m in TOTALS_OF_C} == TOTALS_OF_C
    assert total(ours, "performance_impact") == 3 * total(ours, "critical_path")


def test_every_type_of_delay_has_both_terms():
    kinds = {f"delay_{T}{term}" for T in delays.TYPES for term in ("", "_longterm")}

    assert {m for m in METRICS["scout26"] if m.startswith("delay_")} <= kinds


def test_the_golden_files_hold_the_oracles_own_severities(spec_folder):
    cases = json.loads((spec_folder / "waits-oracle.json").read_text())["cases"]

    assert sorted(case["name"] for case in cases) == CASES
    for case in cases:
        table = json.loads((FOLDER / f"{case['name']}.json").read_text())
        for tool, metrics in table.items():
            rows = [
                [metric, int(location), path, value]
                for metric, paths in metrics.items()
                for path, row in paths.items()
                for location, value in row.items()
            ]
            assert sorted(rows) == sorted(case[tool])


@pytest.mark.parametrize("report", ["scout.cubex", "summary.remap.cubex"])
def test_the_twin_agrees_with_the_report_of_a_real_run(real_traces, report):
    folder = real_traces / "otf2" / "scorep_toy4"
    profile = burstline.read_profile(folder / report)
    theirs, units = exclusive_values(profile)

    events = case_of(burstline.read(folder / "traces.otf2"), program="toy.scorepc")
    ours = waits.severities(events, like_scalasca=True)

    assert len(theirs) > 60
    for metric, rows in theirs.items():
        mine = ours.get(metric, {})
        for place in rows.keys() | mine.keys():
            value = rows.get(place, 0)
            allowed = max(1000, 1e-6 * value) if units[metric] == "sec" else 0
            assert abs(float(mine.get(place, 0)) - value) <= allowed, (metric, place)


def exclusive_values(profile):
    """Values of a profile in ns by metric and (rank, call path), and the units of metrics."""
    names = []
    for row in profile.call_paths.to_pylist():
        above = () if row["parent"] is None else (names[row["parent"]],)
        names.append("/".join((*above, row["function"])))
    ranks = profile.locations["rank"].to_pylist()
    units = {row["name"]: row["unit"] for row in profile.metrics.to_pylist()}
    table = {}
    for metric, unit in units.items():
        values = profile.exclusive(metric) * (1e9 if unit == "sec" else 1)
        table[metric] = {
            (rank, name): values[k, column]
            for k, name in enumerate(names)
            for column, rank in enumerate(ranks)
        }
    return table, units
