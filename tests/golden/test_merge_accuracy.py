"""Bursts whose correspondence is known are matched: by hidden ids, and after known edits."""

from __future__ import annotations

from pathlib import Path

import pytest
from experiments.merge.edited import Case, judge
from experiments.merge.known import judge as judge_ids
from experiments.merge.known import with_ids
from experiments.merge.tables import report

import burstline
from burstline.merge.matching import match
from burstline.merge.trust.checking import check

OWN = Path(__file__).with_name("irregular")
PRECISION, RATE = 0.995, 0.99
REPEATED = ("lulesh_8r_s4_i10", "npb_cg_S_4r")
LARGE = (
    "lulesh_8r_s4_i10_run1", "npb_cg_S_4r_run1", "npb_mg_S_8r", "npb_sp_S_4r",
    "minife_nx12_8r", "tealeaf_cg64_4r",
)  # fmt: skip
AMBIGUOUS = {
    "npb_lu_S_4r": (0.97, 0.94), "npb_is_S_4r": (0.96, 0.96), "npb_ft_S_4r": (0.96, 0.96)
}  # fmt: skip
APART_OF_BOTH = {"tealeaf_cg64_4r": 0.97}


def accuracies(folder, name):
    """Of all bursts with an id, and of those told apart, for each method."""
    runs = [with_ids(folder / f"{name}_run{run}.prv.gz") for run in (1, 2)]
    return judge_ids(runs, "align"), judge_ids(runs, "seed")


def is_never_below(ours, theirs):
    return ours.precision >= theirs.precision and ours.rate >= theirs.rate


def test_irregular_runs_of_our_own_are_matched_by_what_bursts_are():
    (all_of_them, *told_apart), (by_seed, *_) = accuracies(OWN, "irregular")

    assert all(one.precision >= PRECISION for one in told_apart)
    assert all(one.rate >= RATE for one in told_apart)
    assert all_of_them.precision >= 0.98
    assert is_never_below(all_of_them, by_seed)


def test_irregular_runs_are_matched_by_what_bursts_are(real_traces):
    (all_of_them, *_), (by_seed, *_) = accuracies(real_traces, "idrun")

    assert (all_of_them.precision, all_of_them.rate) == (1.0, 1.0)
    assert is_never_below(all_of_them, by_seed)


@pytest.mark.parametrize("method", ["align", "seed"])
@pytest.mark.parametrize("name", REPEATED)
def test_runs_that_repeat_are_matched_whole_by_position(real_traces, name, method):
    runs = [burstline.read(real_traces / f"{name}_run{r}.prv.gz", raw=False) for r in (1, 2)]

    found = match(runs, method=method)

    assert found.match_rate.tolist() == [1.0, 1.0]
    assert set(found.pairs["stage"].to_pylist()) == {"direct"}


@pytest.mark.parametrize("name", [*LARGE, *AMBIGUOUS])
def test_a_tenth_edited_of_one_run_loses_nothing_that_neighbours_tell(real_traces, name):
    source = burstline.read(real_traces / f"{name}.prv.gz", raw=False)

    found = judge(source, Case(0.1, both=False))

    # Nor what can be known at all, unless bursts are ambiguous.
    for kind in ("apart",) if name in AMBIGUOUS else ("apart", "fair"):
        ours, by_seed = (getattr(found[method], kind) for method in ("align", "seed"))
        assert (ours.precision >= PRECISION, ours.rate >= RATE) == (True, True)
        assert is_never_below(ours, by_seed)


@pytest.mark.parametrize("name", [*LARGE, *AMBIGUOUS])
def test_a_tenth_edited_of_both_runs_spoils_only_what_is_beside_an_edit(real_traces, name):
    source = burstline.read(real_traces / f"{name}.prv.gz", raw=False)
    precision, rate = AMBIGUOUS.get(name, (0.97, RATE))

    found = judge(source, Case(0.1))

    assert found["align"].calm.precision >= 0.99
    assert found["align"].calm.rate >= RATE
    assert found["align"].fair.precision >= precision
    assert found["align"].fair.rate >= rate
    assert found["align"].apart.rate >= APART_OF_BOTH.get(name, RATE)
    assert is_never_below(found["align"].fair, found["seed"].fair)
    assert is_never_below(found["align"].apart, found["seed"].apart)


def test_what_does_not_repeat_in_long_bursts_is_not_for_use(real_traces):
    runs = [burstline.read(real_traces / f"idrun_run{r}.prv.gz", raw=False) for r in (1, 2)]

    checked = check(runs)
    found = {each.name: each for each in (*checked.counters, *checked.features)}

    assert found["TASK-CLOCK"].correlation < 0.2
    assert found["TASK-CLOCK"].verdict == "do not use"
    assert found["duration"].of_total > 0.5
    assert found["duration"].verdict == "do not use"
    assert found["CONTEXT-SWITCHES"].verdict == "no information"


def test_counters_with_known_noise_get_every_verdict():
    lines = list(report(OWN))

    found = {line.split(" | ")[-1].rstrip(" |") for line in lines if "synthetic" in line}
    assert found == {"trust", "with care", "do not use"}
    assert sum("irregular | 589 645 |" in line for line in lines) == 2
