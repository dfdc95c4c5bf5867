"""Intrinsic waits are the program's own: noise that is planted moves none, and work all."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

import burstline
from burstline import show
from burstline.clocks import restamp, stamps_of
from burstline.identity import call_tree
from burstline.synchronisation import graph_of, rows_of, sync_of
from burstline.testing import trace_of
from burstline.values import Table
from burstline.waits import WAITS
from burstline.waits.computation import with_computation
from burstline.waits.intrinsic import work_of
from command import burstline as command
from planted import computing, stretched

COUNTED = Path(__file__).parents[1] / "recordings" / "counted"
SLEEP_NS = 1_200_000_000


@pytest.fixture(scope="module")
def recorded():
    """Two ranks that compute and exchange, with work counters."""
    return burstline.read(COUNTED)


def totals(trace):
    """What is intrinsic, extrinsic and saved of all waits."""
    intrinsic = burstline.wait_states(trace, intrinsic=True).intrinsic
    ours, theirs = map(sum, zip(*intrinsic.totals().values(), strict=True))
    return ours, theirs, sum(intrinsic.excess_ns.values())


def without_noise(trace, rank, factor):
    """All waits of the trace as its program alone would need it, a rank with more work."""
    graph = with_computation(graph_of(trace))
    sync = graph.sync
    work = work_of(trace, sync, graph.tree.nodes, "lt_stmt")
    mine = computing(trace, work.readings) & (work.readings.location == rank)
    durations = np.where(mine, np.rint(work.durations * factor), work.durations)
    [stamps] = stamps_of(
        rows_of(sync, "without noise"), work.readings, [durations.astype(np.int64)]
    )
    profile = burstline.wait_states(restamp(trace, stamps)).profile
    return sum(profile.total(name) for name in WAITS if name in profile.stored)


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("stretch", [6, 12, 20])
def test_a_sleep_that_is_planted_on_a_rank_is_extrinsic(recorded, rank, stretch):
    before, _, _ = totals(stretched(recorded))

    intrinsic, extrinsic, _ = totals(stretched(recorded, [(rank, stretch, SLEEP_NS)]))

    assert intrinsic == pytest.approx(before, rel=0.05)
    assert extrinsic > 0.95 * SLEEP_NS


@pytest.mark.parametrize("rank", [0, 1])
def test_more_work_of_a_rank_is_intrinsic_as_a_run_without_noise_has_it(recorded, rank):
    wanted = without_noise(recorded, rank, 1.5)

    intrinsic, _, _ = totals(stretched(recorded, rank=rank, factor=1.5))

    assert abs(wanted - totals(recorded)[0]) > 0.4 * totals(recorded)[0]
    assert intrinsic == pytest.approx(wanted, rel=0.05)


def test_a_sleep_and_more_work_are_told_apart(recorded):
    more = stretched(recorded, rank=1, factor=1.5)

    intrinsic, extrinsic, _ = totals(stretched(more, [(0, 12, SLEEP_NS)]))

    assert intrinsic == pytest.approx(totals(more)[0], rel=0.05)
    assert extrinsic > 0.95 * SLEEP_NS


def test_recorded_waits_are_the_sum_of_their_parts_in_profile_and_on_the_screen(recorded):
    waits = burstline.wait_states(stretched(recorded, [(0, 12, SLEEP_NS)]), intrinsic=True)
    profile, intrinsic = waits.profile, waits.intrinsic

    for name in intrinsic.extrinsic:
        ours, theirs = (profile.total(f"{kind}_{name}") for kind in ("intrinsic", "extrinsic"))
        whole = profile.total(name) if name in profile.stored else 0
        assert whole == ours + theirs - intrinsic.excess_ns[name]
    assert profile.total("extrinsic_waits") == sum(
        profile.total(f"extrinsic_{name}") for name in intrinsic.extrinsic
    )
    [table] = [
        block
        for block in show.WaitsView(waits).blocks()
        if isinstance(block, Table) and "EXCESS" in [column.name for column in block.columns]
    ]
    assert table.rows[-1][0] == "All waits"
    document = waits.as_dict()["intrinsic"]
    assert {"metrics", "extrinsic", "excess", "call_paths"} <= document.keys()
    [cause, *_] = document["call_paths"]["delay"]
    assert cause["rank"] == 0
    assert cause["extrinsic"] > 0.9 * SLEEP_NS


def test_files_have_intrinsic_and_extrinsic_waits(tmp_path):
    words = "waits", COUNTED, "--intrinsic", "-o", tmp_path / "w.cubex", "--format", "csv"
    done = command(*words)
    assert done.returncode == 0, done.stderr

    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    read = burstline.read_profile(tmp_path / "w.cubex")
    for name in ("intrinsic_mpi_latesender", "extrinsic_mpi_latesender", "intrinsic_delay"):
        told = sum(int(row["value"]) for row in rows if row["metric"] == name)
        assert read.total(name) * 1e9 == pytest.approx(told, abs=1)
        assert told > 0


def test_what_one_rank_alone_executes_is_said():
    """Its noise counts as the program's own, since there is nothing to hold it against."""
    text = "ranks 2 | region main role function | region alone role function "
    text += "| region both role function | counter IR_TOT_INS\n"
    for rank, name in enumerate(("alone", "both")):
        text += f"{rank}\n0 enter main IR_TOT_INS=0\n5 enter both IR_TOT_INS=0\n"
        text += (
            f"15 leave IR_TOT_INS=9\n20 enter {name} IR_TOT_INS=0\n900 leave IR_TOT_INS=99\n"
        )
        text += "910 enter MPI_Barrier IR_TOT_INS=0\n910 begin\n930 end\n930 leave\n940 leave\n"
    waits = burstline.wait_states(trace_of(text), intrinsic=True)

    [(row, rank, time_ns), *_] = waits.intrinsic.alone
    assert (waits.path(row)[-1], rank, time_ns) == ("alone", 0, 880)
    document = waits.as_dict()["intrinsic"]["one_rank_alone"]
    assert document[0]["computing_ns"] == 880
    text = str(list(show.WaitsView(waits).blocks()))
    assert "its rate cannot be told from noise" in text


def test_a_rate_is_that_of_stretches_that_hold_the_work():
    """Many short ones take longer for their work, as recording does: they tell no rate."""
    text = "ranks 1 | region main role function | region f role function | counter IR_TOT_INS\n"
    text += "0\n0 enter main IR_TOT_INS=0\n"
    now, long = 10, 0
    for k in range(30):
        work, length = (1000, 500) if k % 10 == 0 else (1, 200)
        text += f"{now} enter f IR_TOT_INS=0\n{now + length} leave IR_TOT_INS={work}\n"
        now, long = now + length + 10, long + (work == 1000)
    text += f"{now} enter MPI_Barrier IR_TOT_INS=0\n{now + 5} leave\n{now + 9} leave"
    trace = trace_of(text)
    tree = call_tree(trace)

    work = work_of(trace, sync_of(trace, tree), tree.nodes, "lt_stmt")

    assert np.count_nonzero(work.durations == 500) == long
