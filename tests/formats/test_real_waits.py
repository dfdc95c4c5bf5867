"""The waits of real traces keep the laws, and are those of Scalasca where it has reported."""

from __future__ import annotations

import numpy as np
import pytest

import burstline
from burstline import comparison
from real_traces import telling
from waits_laws import broken_laws

OTF2 = (
    "scorep_toy4", "scorep_lulesh_8r_s10_i30", "scorep_hybrid_2x3", "synth8x200",
    "eztrace_toy4",
)  # fmt: skip


def sources(folder):
    anchors = [next((folder / "otf2" / name).rglob("*.otf2")) for name in OTF2]
    return [*telling(folder), *anchors]


def test_real_traces_keep_the_laws(real_traces):
    for path in sources(real_traces):
        trace = burstline.read(path)
        assert broken_laws(trace, burstline.wait_states(trace)) == [], path.name


@pytest.mark.parametrize("recording", ["corners", "four", "hybrid", "ring_killed", "threads"])
def test_recordings_keep_the_laws(recording):
    trace = burstline.read(f"tests/recordings/{recording}")

    assert broken_laws(trace, burstline.wait_states(trace)) == []


def severities(profile, numbers):
    """Values by metric, path and location, in ns or counts."""
    parents = profile.call_paths["parent"].to_pylist()
    paths = []
    for row, name in enumerate(profile.call_paths["function"].to_pylist()):
        above = "" if parents[row] is None else f"{paths[parents[row]]}/"
        paths.append(above + name)
    units = profile.metrics["unit"].to_pylist()
    scales = {
        name: 1e9 if unit == "sec" else 1
        for name, unit in zip(profile.metrics["name"].to_pylist(), units, strict=True)
    }
    values = {}
    for metric in profile.stored:
        dense = np.nan_to_num(profile.exclusive(metric).astype(float)) * scales[metric]
        values[metric] = {
            (paths[row], numbers[location]): dense[row, location]
            for row, location in zip(*np.nonzero(dense), strict=True)
        }
    return values


def test_like_scalasca_every_severity_is_that_of_its_report(real_traces):
    folder = real_traces / "otf2" / "scorep_toy4"
    waits = burstline.wait_states(burstline.read(folder / "traces.otf2"), like="scalasca-2.6")
    report = burstline.read_profile(folder / "scout.cubex")
    places = [
        list(
            zip(*(each.locations[name].to_pylist() for name in ("rank", "thread")), strict=True)
        )
        for each in (waits.profile, report)
    ]
    ours, theirs = (
        severities(each, numbers)
        for each, numbers in zip((waits.profile, report), places, strict=True)
    )
    times = {
        name
        for name, unit in zip(
            *(report.metrics[c].to_pylist() for c in ("name", "unit")), strict=True
        )
        if unit == "sec"
    }
    compared = 0
    for metric, rows in theirs.items():
        for place in {*rows, *ours.get(metric, {})}:
            here, there = ours.get(metric, {}).get(place, 0), rows.get(place, 0)
            allowed = max(1e-6 * abs(there), 1000 if metric in times else 0)
            assert abs(here - there) <= allowed, (metric, place, here, there)
            compared += 1
    assert compared > 500


def test_compared_with_its_report_they_are_equal_but_for_rounding(real_traces):
    folder = real_traces / "otf2" / "scorep_toy4"
    report = burstline.read_profile(folder / "summary.remap.cubex")
    ours = burstline.wait_states(burstline.read(folder / "traces.otf2")).profile

    assert comparison.j_mc(report, ours) == pytest.approx(1, abs=1e-6)
    for metric in ("comp", "mpi_latesender", "mpi_wait_nxn", "delay_n2n_aggregate"):
        assert comparison.j_c(report, ours, metric) == pytest.approx(1, abs=1e-6)


def test_what_repetitions_do_alike_they_do_by_the_clock_of_events(real_traces):
    runs = [
        burstline.read(real_traces / f"lulesh_8r_s4_i10_run{number}.prv.gz")
        for number in (1, 2)
    ]
    by_time, by_events = (
        [burstline.wait_states(run, clock=clock).profile for run in runs]
        for clock in ("physical", "lt_1")
    )

    assert burstline.compare(by_time).j_mc < 0.7
    assert burstline.compare(by_events).j_mc == 1
