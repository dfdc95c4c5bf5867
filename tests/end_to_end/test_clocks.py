"""Programs recorded with work counters: logical clocks repeat, and tell what was planned."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import burstline
from burstline.clocks import restamped, retimed
from burstline.synchronisation import PLACES
from golden.oracle_events import case_of
from oracles import clocks
from recording import MPIS, Site, environment, patient

PROGRAM = Path(__file__).parents[1] / "record" / "logical.c"
COUNTERS = "clocks"
RUNS = 5 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 2
STEPS = 6  # of the program
DETERMINISTIC = "lt_1", "lt_loop", "lt_bb", "lt_stmt"


@pytest.fixture(scope="module", params=MPIS)
def site(request, clang, openmp, built_once, tmp_path_factory):
    """Folder with the program, of either MPI."""
    folder = tmp_path_factory.mktemp("logical")
    settings = environment(built_once) | {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
    site = Site(request.getfixturevalue(request.param), folder, settings)
    compiled = [sys.executable, "-m", "burstline", "cc", "--", clang, "-g", "-O1", PROGRAM]
    compiled += [*openmp(clang), "-o", "logical", *patient()]
    compiled += [*mpi_words(site, "compile"), *mpi_words(site, "link")]
    subprocess.run(list(map(str, compiled)), check=True, cwd=folder, env=settings)
    return site


def mpi_words(site, what):
    """The words that the compiler of either MPI adds to compile or to link."""
    if "openmpi" in site.compiler:
        return site.mpi_words(what)
    words = [site.compiler, f"-{what}-info"]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    return [word for word in said[1:] if word.startswith(("-I", "-L", "-l", "-Wl"))]


@pytest.fixture(scope="module")
def recorded(site):
    """Give a recorded run of 2 ranks, which is made once."""
    return functools.cache(lambda kind, turn=0: run(site, kind, 2, f"{kind}{turn}.store"))


def run(site, kind, ranks, name):
    """A recorded run."""
    words = ["--force", "--counters", COUNTERS, "--", *site.ranks(ranks), "./logical", kind]
    return site.recorded(name, *words)


@pytest.mark.parametrize("kind", ["stencil", "pipeline", "shares"])
def test_logical_profiles_are_the_same_in_every_run(recorded, kind):
    traces = [recorded(kind, turn) for turn in range(RUNS)]

    for clock in DETERMINISTIC:
        first, *others = (burstline.wait_states(trace, clock=clock).profile for trace in traces)
        assert first.total("time") > first.total("comp") > 0
        for other in others:
            assert first.stored.keys() == other.stored.keys()
            for metric in first.stored:
                assert np.array_equal(first.exclusive(metric), other.exclusive(metric)), metric


@pytest.mark.parametrize("kind", ["stencil", "pipeline", "shares"])
def test_a_paraver_file_is_stamped_as_what_it_was_written_from(site, recorded, kind):
    store = recorded(kind)
    site.printed_by("convert", f"{kind}0.store", f"{kind}.prv")

    for clock in DETERMINISTIC:
        one, other = (retimed(t, clock) for t in (store, site.trace(f"{kind}.prv")))
        assert one.end_ticks == other.end_ticks, clock
        assert other.sampled > 0.85


def ordinals(_location, _time, place, /, **_):
    """Ordinals of events as their stamps."""
    return place // PLACES


def read_efforts(case, trace, counter):
    """Efforts of the events of a case whose stamps are ordinals, by what was counted there."""
    counted = {
        (row["location"], row["seq"]): row[counter]
        for row in trace.readings.to_pylist()
        if row[counter] is not None
    }
    efforts = []
    for location in range(case["ranks"] * case["threads"]):
        ticks, unread, before = [], 0, None
        for _, where, seq, *_ in case["events"]:
            if where != location:
                continue
            if seq == before:  # one reading of the clock
                ticks.append(0)
                continue
            before, tick = seq, 1
            if (location, seq) in counted:
                tick, unread = max(1, counted[location, seq] - unread), -1
            unread += 1
            ticks.append(tick)
        efforts.append(ticks)
    return efforts


@pytest.mark.parametrize("kind", ["stencil", "shares"])
def test_stamps_of_a_recording_are_those_of_the_literal_algorithm(recorded, kind):
    trace = recorded(kind)
    case = case_of(restamped(trace, ordinals))
    wanted = clocks.stamps(case, read_efforts(case, trace, "IR_TOT_INS"))

    stamped = case_of(retimed(trace, "lt_hwctr").trace)

    for location, stamps in enumerate(wanted):
        events = [event for event in stamped["events"] if event[1] == location]
        assert len(events) == len(stamps) > 50
        # A send that is complete in the reading of a receive has the stamp of that.
        pairs = [
            (event[2], stamp)
            for event, stamp in zip(events, stamps, strict=True)
            if event[0] != "IC"
        ]
        assert all(ours == stamp for ours, stamp in pairs)


def test_an_imbalance_of_three_to_one_waits_a_third_of_the_time(site):
    waits = burstline.wait_states(run(site, "imbalance", 4, "i.store"), clock="lt_stmt")

    assert waits.share_of_time("mpi_wait_nxn") == pytest.approx(1 / 3, rel=0.01)
    assert waits.share_of_time("comp") == pytest.approx(2 / 3, rel=0.01)
    by_rank = waits.profile.inclusive("delay")[0]
    assert np.flatnonzero(by_rank > 0.01 * by_rank.sum()).tolist() == [2]  # the lowest of both


def test_serial_work_leaves_all_other_threads_idle(site):
    waits = burstline.wait_states(run(site, "serial", 1, "s.store"), clock="lt_stmt")

    assert waits.share_of_time("omp_idle_threads") == pytest.approx(1 / 2, rel=0.01)


def test_where_one_thread_calls_mpi_the_others_idle_as_long(site):
    waits = burstline.wait_states(run(site, "master_only", 2, "m.store"), clock="lt_stmt")

    share = waits.share_of_time("mpi")
    assert share > 0.1
    assert waits.share_of_time("omp_idle_threads") == pytest.approx(share, rel=0.02)


def test_planned_imbalance_is_intrinsic_and_what_holds_a_rank_up_is_not(recorded):
    planned, held_up = (
        burstline.wait_states(recorded(kind), intrinsic=True)
        for kind in ("imbalance", "held_up")
    )

    # Three times the work: who has less waits half as long as both compute, and, but for the
    # first time, as long as the other one takes to leave the operation before.
    intrinsic, _ = planned.intrinsic.totals()["mpi_wait_nxn"]
    alone = planned.intrinsic.profile
    leaving = alone.total("mpi_nxn_completion") * (STEPS - 1) / STEPS
    assert intrinsic == pytest.approx(alone.total("comp") / 2 + leaving, rel=0.1)
    intrinsic, extrinsic = held_up.intrinsic.totals()["mpi_wait_nxn"]
    assert intrinsic < 0.05 * held_up.intrinsic.profile.total("comp")
    assert extrinsic >= 0.8 * held_up.profile.total("mpi_wait_nxn") > 50_000_000


def test_a_trace_on_a_logical_clock_is_a_trace(site, recorded):
    trace = recorded("stencil")

    words = "retime", "stencil0.store", "--clock", "lt_stmt", "-o", "t.prv", "--force"
    document = site.document_of(*words)
    assert document["clock"] == "lt_stmt"
    assert document["inconsistent"] == 0
    assert document["counters"] == ["IR_TOT_INS"]
    retimed = site.trace("t.prv")
    assert retimed.rows("calls") == trace.rows("calls")
    # Paraver's trace ends with the last stamp.
    assert retimed.duration_ns <= document["end_ticks"] <= retimed.duration_ns + 1
