"""What the first three sentences say is what the tables say."""

from __future__ import annotations

import re

import numpy as np
import pytest

import burstline
from burstline.show import WaitsView
from burstline.testing import trace_of
from burstline.values import Table
from burstline.waits import WAITS
from verdicts import verdict

LULESH = "lulesh_27r_s4_i30.prv.gz"
RUNS = (
    "otf2/scorep_toy4/traces.otf2",
    "toy_waits_4.prv.gz",
    "otf2/scorep_hybrid_2x3/traces.otf2",
)
ENDS = "MPI_Init", "MPI_Init_thread", "MPI_Finalize"


def percents(sentence):
    return [float(number) for number in re.findall(r"([\d.]+) %", sentence)]


def tables_of(waits):
    blocks = WaitsView(waits, 3).blocks()
    return {block.title: block for block in blocks if isinstance(block, Table)}


@pytest.fixture(scope="module", params=RUNS)
def waits(request, real_traces):
    return burstline.wait_states(burstline.read(real_traces / request.param))


def changeable(waits, metric):
    """How much of a metric each call path has that is not in MPI_Init or MPI_Finalize."""
    if metric not in waits.profile.stored:
        return np.zeros(1, np.int64)
    paths = map(waits.path, range(waits.profile.call_paths.num_rows))
    outside = [not set(path) & set(ENDS) for path in paths]
    return waits.profile.exclusive(metric).sum(axis=1) * outside


def largest_of(waits):
    return max(WAITS, key=lambda name: changeable(waits, name).sum())


def test_the_first_names_the_largest_wait_and_its_share_of_the_run(waits):
    document = waits.as_dict()
    largest = largest_of(waits)
    titles = dict(
        zip(*(waits.profile.metrics[key].to_pylist() for key in ("name", "title")), strict=True)
    )
    every = sum(document["share_time"].get(name, 0) for name in WAITS)
    time = document["metrics"]["time"]
    rest = sum(changeable(waits, name).sum() for name in WAITS) / time
    cost = changeable(waits, largest).sum()

    first = verdict(waits)[0]

    assert f"is {titles[largest]} (" in first
    left_out = [every - rest] if "MPI_Init" in first else []
    assert left_out or every - rest < 0.0005
    assert percents(first) == pytest.approx(
        [100 * share for share in (every, *left_out, cost / time)], abs=0.06
    )
    (tree,) = (table for title, table in tables_of(waits).items() if "%T" in title)
    shares = {row[0]: row[2] for row in tree.rows}
    is_whole = cost == document["metrics"][largest]
    assert (f"{100 * shares[titles[largest]]:.1f} % of the run" in first) == is_whole


def test_the_second_names_the_place_with_most_of_it(waits):
    document = waits.as_dict()
    largest = largest_of(waits)
    told = (
        each for each in document["call_paths"][largest] if not set(each["path"]) & set(ENDS)
    )
    worst = next(told)

    second = verdict(waits)[1]

    for name in worst["path"][-2:]:
        assert name.replace("@", " at ") in second
    share = worst["value"] / changeable(waits, largest).sum()
    assert percents(second) == pytest.approx([100 * share], abs=0.06)


def test_the_third_names_who_causes_most_of_it_outside_of_mpi(waits):
    profile = waits.profile
    largest = largest_of(waits)
    costs = profile.exclusive(WAITS[largest])
    costs[changeable(waits, WAITS[largest]) == 0] = 0
    is_mpi = np.array([each == "mpi" for each in profile.call_paths["paradigm"].to_pylist()])
    of_mpi = costs[is_mpi].sum() / costs.sum()
    third = verdict(waits)[2]

    if of_mpi > 1 / 2:
        place, whole = int(costs.sum(axis=1).argmax()), costs.sum()
        assert third.startswith("Most of it, ")
        assert f"{waits.path(place)[-1]} called by" in third
        shares = [of_mpi, costs[place].sum() / whole]
    else:
        ranks = profile.locations["rank"].to_numpy()
        computed = costs if largest == "omp_idle_threads" else costs * ~is_mpi[:, None]
        by_rank = {rank: computed[:, ranks == rank].sum(axis=1) for rank in set(ranks.tolist())}
        rank = max(by_rank, key=lambda rank: by_rank[rank].sum())
        place = int(by_rank[rank].argmax())
        assert third.startswith(f"Rank {rank} causes most of the largest wait")
        assert waits.path(place)[-1] in third
        shares = [by_rank[rank].sum() / costs.sum(), by_rank[rank][place] / costs.sum()]
    assert percents(third)[:2] == pytest.approx([100 * share for share in shares], abs=0.06)


def test_the_toy_is_told_by_function_and_rank(real_traces):
    toy = verdict(burstline.wait_states(burstline.read(real_traces / RUNS[0])))

    assert "MPI_Allreduce called by phase_imbalance_allreduce" in toy[1]
    assert toy[2].startswith("Rank 3 ")
    assert "work called by phase_imbalance_allreduce" in toy[2]


@pytest.mark.parametrize("run", [LULESH, "tealeaf_cg64_4r.prv.gz"])
def test_where_transfer_dominates_no_rank_is_blamed(real_traces, run):
    waits = burstline.wait_states(burstline.read(real_traces / run))
    share = waits.share_of_time

    lost, where, cause = verdict(waits)

    in_mpi, transfer = percents(lost)
    assert in_mpi == pytest.approx(100 * (share("mpi") - share("mpi_init_exit")), abs=0.1)
    assert transfer > in_mpi / 2
    assert "of the transfer is in MPI_Waitall called by" in where
    assert cause.startswith("No rank is to blame: look whether ranks share processors")
    assert cause.endswith("is caused by transfer, too.")


def test_a_hybrid_run_is_not_judged_by_threads_that_idle_in_mpi_init(real_traces):
    waits = burstline.wait_states(burstline.read(real_traces / RUNS[2]))

    first, second, third = verdict(waits)

    assert "without 49.4 % in MPI_Init and MPI_Finalize, the largest part, 6.9 % of" in first
    assert "pause_us called by main" in second
    assert third.startswith("Rank 1 ")
    assert waits.share_of_time("omp_idle_threads") == pytest.approx(0.563, abs=0.0005)


def test_where_nothing_else_waits_those_in_mpi_finalize_are_told():
    text = (
        "ranks 2 | 0 | 0 enter MPI_Init | 5 leave | 10 enter MPI_Finalize | 50 leave "
        "| 1 | 0 enter MPI_Init | 5 leave | 30 enter MPI_Finalize | 50 leave"
    )

    first, second, third = verdict(burstline.wait_states(trace_of(text)))

    assert (
        "wait for 20.0 % of the time of the run; the largest part, 20.0 % of the run" in first
    )
    assert "is Wait at Finalize" in first
    assert second == "100.0 % of it is in MPI_Finalize."
    assert third == "The trace does not tell who causes it."


def test_where_nothing_waits_one_sentence_says_so():
    barrier = "0 enter main | 95 enter MPI_Barrier | 95 begin | 100 end | 100 leave | 100 leave"
    text = f"ranks 2 | 0 | {barrier} | 1 | {barrier}"

    assert verdict(burstline.wait_states(trace_of(text))) == [
        "Nothing waits: no wait state was found in what the trace tells."
    ]


@pytest.mark.parametrize("run", ["npb_lu_S_4r.prv.gz", "toy_waits_4.prv.gz"])
def test_waits_are_charged_or_counted_as_charged_to_nobody(real_traces, run):
    waits = burstline.wait_states(burstline.read(real_traces / run))
    uncharged = waits.coverage["unexplained_ns"]

    for delay in set(WAITS.values()) & waits.profile.stored.keys():
        waited = sum(
            waits.profile.total(name)
            for name, each in WAITS.items()
            if each == delay and name in waits.profile.stored
        )
        charged = waits.profile.total(delay)
        assert charged + uncharged.get(delay, 0) == pytest.approx(waited, rel=1e-4)
    assert set(uncharged) == ({"delay_latereceiver_aggregate"} if "lu" in run else set())
