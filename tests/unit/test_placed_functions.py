"""Computing between calls has a call path for each function that samples saw there."""

from __future__ import annotations

import numpy as np
import pytest

from burstline import show, wait_states
from burstline.testing import trace_of
from burstline.values import Table

PATHS = """
ranks 2
path 0 main file a.c line 1
path 1 assemble under 0 file a.c line 4
path 2 solve under 0 file s.c line 6
"""


def ran(first, second, *, works=(100, 300), steps=3):
    """Two ranks that compute and meet, with samples: (offset in a step, path), of each step."""
    lines = []
    for rank, (samples, work) in enumerate(zip((first, second), works, strict=True)):
        parts = ["0 enter MPI_Init path 0 | 10 leave"]
        for step in range(steps):
            at = 10 + 400 * step
            parts += [f"{at + offset} sample path {path}" for offset, path in samples(step)]
            parts.append(f"{at + work} enter MPI_Barrier path 0 | {at + work} begin")
            parts.append(f"{at + 400} end | {at + 400} leave")
        end = 10 + 400 * steps
        parts.append(f"{end} enter MPI_Finalize path 0 | {end + 5} leave")
        lines.append(f"{rank} | " + " | ".join(parts))
    return wait_states(trace_of(PATHS + "\n".join(lines)))


def values(waits, metric):
    """What each function has of a metric on each rank, and what is left with the calls."""
    found = {}
    table, exclusive = waits.profile.call_paths.to_pylist(), waits.profile.exclusive(metric)
    for row, node in enumerate(table):
        if node["paradigm"] == "compiler" and exclusive[row].any():
            name = node["function"].partition(" up to ")[0]
            found[name] = found.get(name, 0) + exclusive[row]
    return {name: each.tolist() for name, each in found.items()}


def always(*samples):
    return lambda _: samples


def test_a_stretch_is_divided_by_its_own_samples():
    waits = ran(always((10, 1)), always((10, 1), (20, 2), (30, 2)))

    assert values(waits, "comp") == {"assemble": [300, 300], "solve": [0, 600]}
    assert waits.profile.total("comp") == 3 * (100 + 300)


def test_a_stretch_without_a_sample_keeps_its_calls():
    waits = ran(always(), lambda step: [(10, 2)] if step == 1 else [])

    assert values(waits, "comp") == {"computing": [300, 600], "solve": [0, 300]}
    assert values(ran(always(), always()), "comp") == {"computing": [300, 900]}


def test_costs_of_delays_are_of_what_a_rank_is_longer_in():
    waits = ran(always((10, 2)), always((10, 2), (30, 1), (50, 1)), works=(100, 300))

    assert values(waits, "comp") == {"solve": [300, 300], "assemble": [0, 600]}
    [longer] = values(waits, "delay")["assemble"][1:]
    assert longer == waits.profile.total("delay") - waits.profile.exclusive("delay")[0].sum()
    assert "solve" not in values(waits, "delay")


@pytest.mark.parametrize("metric", ["time", "comp", "delay", "critical_path", "imbalance"])
def test_nothing_is_lost_by_dividing(metric):
    samples = always((10, 1), (20, 2), (30, 2)), always((7, 2), (9, 1), (11, 1), (13, 2))

    placed, plain = ran(*samples).profile, ran(always(), always()).profile

    assert placed.total(metric) == plain.total(metric)
    by_rank = (each.exclusive(metric).sum(axis=0) for each in (placed, plain))
    assert np.array_equal(*by_rank)


def test_places_of_functions_have_their_line_and_the_calls_around():
    waits = ran(always((10, 1)), always((10, 1)), works=(100, 300))

    shown = [
        row
        for table in show.WaitsView(waits, metric="comp").blocks()
        if isinstance(table, Table)
        for row in table.rows
        if "assemble" in str(row)
    ]

    assert any(
        str(row[-1]).endswith(
            "computing from MPI_Barrier, a.c:1, or MPI_Init, a.c:1, to MPI_Barrier, a.c:1 > "
            "assemble at a.c:4"
        )
        for row in shown
    )
