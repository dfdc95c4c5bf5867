"""What the first three sentences say is what the tables say."""

from __future__ import annotations

import re

import pytest

import burstline
from burstline.show import WaitsView
from burstline.show.blocks import Table
from burstline.testing import trace_of
from burstline.waits import WAITS, verdict

RUNS = "lulesh_27r_s4_i30.prv.gz", "otf2/scorep_toy4/traces.otf2", "toy_waits_4.prv.gz"


def percents(sentence):
    return [float(number) for number in re.findall(r"([\d.]+)%", sentence)]


def tables_of(waits):
    blocks = WaitsView(waits, 3).blocks()
    return {block.title: block for block in blocks if isinstance(block, Table)}


@pytest.fixture(scope="module", params=RUNS)
def waits(request, real_traces):
    return burstline.wait_states(burstline.read(real_traces / request.param))


def test_the_first_names_the_largest_wait_and_its_share_of_the_run(waits):
    document = waits.as_dict()
    largest = max(WAITS, key=lambda name: document["metrics"].get(name, 0))
    titles = dict(
        zip(*(waits.profile.metrics[key].to_pylist() for key in ("name", "title")), strict=True)
    )
    every = sum(document["share_time"].get(name, 0) for name in WAITS)

    first = verdict(waits)[0]

    assert f"is {titles[largest]} (" in first
    assert percents(first) == pytest.approx(
        [100 * every, 100 * document["share_time"][largest]], abs=0.06
    )
    (tree,) = (table for title, table in tables_of(waits).items() if "%T" in title)
    shares = {row[0].strip(): row[2] for row in tree.rows}
    assert f"{shares[titles[largest]].replace(' ', '')} of the run" in first


def test_the_second_names_the_place_with_most_of_it(waits):
    document = waits.as_dict()
    largest = max(WAITS, key=lambda name: document["metrics"].get(name, 0))
    worst = document["call_paths"][largest][0]

    second = verdict(waits)[1]

    for name in worst["path"][-2:]:
        assert name.replace("@", " at ") in second
    assert percents(second) == pytest.approx([100 * worst["share_metric"]], abs=0.06)


def test_the_third_names_the_rank_and_the_place_that_cause_most_of_it(waits):
    profile, document = waits.profile, waits.as_dict()
    largest = max(WAITS, key=lambda name: document["metrics"].get(name, 0))
    costs = profile.exclusive(WAITS[largest])
    ranks = profile.locations["rank"].to_numpy()
    by_rank = {rank: costs[:, ranks == rank].sum(axis=1) for rank in set(ranks.tolist())}
    rank = max(by_rank, key=lambda rank: by_rank[rank].sum())
    place = int(by_rank[rank].argmax())

    third = verdict(waits)[2]

    assert third.startswith(f"Rank {rank} causes")
    assert waits.path(place)[-1].replace("@", " at ") in third
    shares = [by_rank[rank].sum() / costs.sum(), by_rank[rank][place] / costs.sum()]
    assert percents(third) == pytest.approx([100 * share for share in shares], abs=0.06)


def test_lulesh_and_the_toy_are_told_by_function_line_and_rank(real_traces):
    lulesh, toy = (
        verdict(burstline.wait_states(burstline.read(real_traces / run))) for run in RUNS[:2]
    )

    assert "MPI_Allreduce called by TimeIncrement at lulesh.cc:186" in lulesh[1]
    assert lulesh[2].startswith("Rank 4 ")
    assert "MPI_Allreduce called by phase_imbalance_allreduce" in toy[1]
    assert toy[2].startswith("Rank 3 ")
    assert "work called by phase_imbalance_allreduce" in toy[2]


def test_where_nothing_waits_one_sentence_says_so():
    text = "ranks 2 | 0 | 0 enter MPI_Barrier | 5 leave | 1 | 0 enter MPI_Barrier | 5 leave"

    assert verdict(burstline.wait_states(trace_of(text))) == [
        "Nothing waits: no wait state was found in what the trace tells."
    ]
