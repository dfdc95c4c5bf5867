"""Bursts are predicted from what does not say the target, by whoever has not seen them."""

from __future__ import annotations

import sys

import numpy as np
import pyarrow as pa
import pytest

from burstline.errors import MissingExtraError, NotEnoughDataError, ParameterError
from burstline.merge import burst_table
from burstline.merge.fusion import fuse
from burstline.merge.matching import match
from burstline.merge.tables.columns import table_schema
from burstline.show import output
from burstline.show.learn import LearnedView
from burstline.studies import learn
from burstline.studies.burst_features import base_run, counter_of, counters_of, matrix, roles
from burstline.studies.learned import Score, gain
from burstline.studies.prediction import reliability
from burstline.studies.scoring import Trial, groups, score_of_nothing
from burstline.testing import trace_of
from fused_tables import fused_table, law_of_base, law_of_each_rank, law_of_merged, work_of

pytestmark = pytest.mark.usefixtures("few_trees")


def errors(found):
    return {one.name: one.mean for one in found.scores}


@pytest.fixture(scope="module")
def learnt():
    """Give what is learnt where the duration follows a counter that the base has not."""
    return learn({"a": law_of_merged()}, control=True)


def test_a_duration_that_follows_a_counter_of_another_run_is_predicted_from_it(learnt):
    found = errors(learnt)

    assert found["merged"] < 0.2
    assert found["base"] > 0.4
    assert learnt.gains["merged"].verdict == "better"
    assert learnt.gains["merged"].better == learnt.folds == 4
    assert next(iter(learnt.importance)) == "IR_LD_INS"


def test_a_counter_of_pure_noise_gains_nothing():
    found = learn({"a": law_of_base()})

    assert found.score("base").mean < 0.2
    assert found.gains["merged"].verdict != "better"
    assert found.importance["IR_LD_INS"] < found.importance["IR_TOT_INS"] / 10


def test_whoever_has_no_feature_says_the_median():
    found = learn({"a": law_of_merged()})
    nothing = found.score("nothing")

    others = [found.measured[np.arange(400) // 100 != rank] for rank in range(4)]
    assert nothing.predicted[::100].tolist() == [np.median(one) for one in others]


def test_features_are_compared_with_none_at_all(capsys):
    useful = learn({"a": law_of_base()}, features="base")
    hopeless = learn({"a": law_of_each_rank()}, features="base")

    assert useful.over_nothing["base"].verdict == "better"
    assert hopeless.over_nothing["base"].verdict == "worse"
    best = min(hopeless.score(name).mean for name in ("mean", "nothing"))
    gained = hopeless.over_nothing["base"].mean
    assert gained == pytest.approx(best - hopeless.score("base").mean)
    assert "gain_over_nothing" in hopeless.as_dict()
    output(LearnedView(hopeless), "table")
    said = " ".join(capsys.readouterr().out.split())
    assert "predicts worse than no feature would: do not use it" in said
    assert "mean: always the mean" in said


def trial_of(*measured):
    """Give a trial of two folds of two bursts each."""
    first, second = np.array([0, 1]), np.array([2, 3])
    split = [(first, second), (second, first)]
    return Trial(np.array(measured, float), split, model="forest", is_log=False, threads=1)


def test_errors_of_each_fold_are_those_worked_out_by_hand():
    # The medians: 2 of the first two, 3 of the others.
    nothing = score_of_nothing(trial_of(1, 3, 2, 4))

    assert nothing.errors == pytest.approx([(0 + 2 / 4) / 2, (2 / 3 + 0) / 2])
    assert nothing.relative == pytest.approx([(0 + 2 / 4) / 2, (2 / 1 + 0) / 2])
    assert nothing.weighted == pytest.approx([2 / (2 + 4), 2 / (1 + 3)])
    assert nothing.r2 == pytest.approx([1 - 4 / 2, 1 - 4 / 2])


def test_boosting_takes_more_names_than_it_has_bins_as_numbers():
    names = [f"MPI_{number}" for number in range(400)]
    table = fused_table({"A": ("1", work_of(400))}, work_of(400, 1), operation_before=names)

    found = learn({"a": table}, features="base", model="boosting")

    assert "operation_before" in found.score("base").features


def test_progress_ends_where_the_step_said():
    class Counted:
        def step(self, _name, total, _unit):
            self.total, self.done = total, 0

        def advance(self, amount):
            self.done += amount

    progress = Counted()
    learn({"a": law_of_merged(100)}, progress=progress)

    assert progress.done == progress.total == 2 * 4


@pytest.mark.parametrize("model", ["forest", "boosting"])
def test_learning_twice_is_learning_once(model):
    once, again = (learn({"a": law_of_merged(200)}, model=model, threads=2) for _ in range(2))

    assert once.as_dict() == again.as_dict()
    assert np.array_equal(once.score("merged").predicted, again.score("merged").predicted)


@pytest.mark.parametrize("name", ["PAPI_TOT_CYC", "perf::TASK-CLOCK", "cpu", "frequency"])
def test_what_measures_time_does_not_predict_a_duration(name):
    counters = [] if name == "frequency" else [name]

    found = roles(table_schema([*counters, "IR_LD_INS"]), "duration_ns")

    assert name not in (*found.base, *found.merged)
    assert "part of it" in found.left_out[name]
    assert "IR_LD_INS" in found.base


def test_another_runs_cycles_are_the_target_again_unless_they_are_allowed():
    work = work_of(200)
    counters = {"IR_LD_INS": ("1", work), "run2.PAPI_TOT_CYC": ("2", 4 * work)}
    table = fused_table(counters, 3 * work)

    assert "another run" in roles(table.schema, "duration_ns").left_out["run2.PAPI_TOT_CYC"]
    allowed = roles(table.schema, "duration_ns", repeats=True)
    assert allowed.merged == ("run2.PAPI_TOT_CYC",)


def test_nothing_is_predicted_from_its_parts_nor_from_itself_in_another_run():
    schema = table_schema(["PAPI_TOT_INS", "PAPI_TOT_CYC", "PAPI_L1_DCM"])
    found = roles(schema, "ipc")
    assert {"PAPI_TOT_INS", "PAPI_TOT_CYC", "frequency", "duration_ns"} <= {*found.left_out}
    assert found.base[-1] == "PAPI_L1_DCM"

    work = work_of(100)
    counters = {"A": ("1", work), "run2.A": ("2", work + 1), "B": ("2", work)}
    found = roles(fused_table(counters, work).schema, "A")
    assert found.merged == ("B",)
    assert "duration_ns" in found.base


def test_ranks_of_two_tables_are_not_the_same():
    tables = [law_of_merged(100), law_of_merged(100)]

    assert len(np.unique(groups(tables, "rank"))) == 8
    assert len(np.unique(groups(tables, "application"))) == 2
    assert len(np.unique(groups(tables, "code"))) == 3


def test_each_table_is_left_out_in_turn():
    tables = {name: law_of_merged(120, seed=seed) for seed, name in enumerate("abcdefg")}

    found = learn(tables, features="merged")

    assert (found.by, found.groups, found.folds) == ("application", 7, 7)


def test_a_counter_that_one_of_the_tables_lacks_is_no_feature():
    work = work_of(100)
    counters = {"A": ("1", work), "B": ("2", work)}
    tables = {"a": fused_table({**counters, "C": ("2", work)}, work)}
    tables["b"] = fused_table(counters, work)

    found = learn(tables)

    assert found.by == "application"
    assert "not in all" in found.left_out["C"]
    assert "B" in found.score("merged").features


def test_bursts_like_those_learnt_from_are_counted():
    work = np.tile(work_of(50), 4)
    counters = {"A": ("1", work), "B": ("2", 2 * work)}
    codes = np.tile(np.arange(50) % 3, 4)

    found = learn({"a": fused_table(counters, 3 * work, operations=codes)})

    assert found.score("merged").seen == 1
    assert found.score("merged").unseen is None
    apart = learn({"a": law_of_merged()})
    assert apart.score("merged").seen < 0.02
    assert apart.score("merged").unseen == pytest.approx(apart.score("merged").mean, abs=0.01)


def test_names_that_were_never_learnt_are_not_known_and_partners_are_told_by_distance():
    parts = [pa.table({"name": names}) for names in (["a", "b"], ["b", "c"])]
    whole = matrix(parts, ["name"])
    known = whole.rows(np.array([2, 3])).known_to(whole.rows(np.array([0, 1])))
    partners = pa.table({"rank": [3, 4], "partner_before": [4, None]})

    for values in (known.values, matrix([partners], ["partner_before"]).values):
        assert values[0, 0] == 1
        assert np.isnan(values[1, 0])


def test_a_counter_that_does_not_repeat_is_dropped_with_its_effect():
    work, noise = work_of(400), work_of(400, 9)
    counters = {"A": ("1", noise), "run2.A": ("2", noise[::-1].copy()), "B": ("2", work)}
    table = fused_table(counters, 3 * work)

    found = learn({"a": table}, drop_unreliable=True)

    assert found.reliability == {"A": "do not use"}
    dropped = {*found.score("merged").features} - {*found.score("reliable").features}
    assert dropped == {"run2.A", "A"}
    assert found.score("reliable").mean < found.score("merged").mean + 0.02
    assert {"merged", "reliable"} <= {*found.gains}


def test_verdicts_of_a_check_count_more_than_the_table_knows():
    found = learn(
        {"a": law_of_merged()}, drop_unreliable=True, verdicts={"IR_LD_INS": "do not use"}
    )

    assert "IR_LD_INS" not in found.score("reliable").features
    assert found.gains["reliable"].verdict != "better"


def test_bursts_without_a_match_or_target_are_left_out_and_counted():
    table = law_of_merged()
    stage = pa.array([*["none"] * 10, *["direct"] * 390]).dictionary_encode()
    table = table.set_column(table.schema.get_field_index("stage"), "stage", stage)
    duration = table["duration_ns"].to_pylist()
    duration[20:23] = [0, 0, -1]
    at = table.schema.get_field_index("duration_ns")
    table = table.set_column(at, table.schema.field(at), pa.array(duration, pa.int64()))

    found = learn({"a": table})

    assert found.left == {"target not positive": 3, "in no other run": 10}
    assert len(found.measured) == 387
    assert len(learn({"a": table}, features="base").measured) == 397


def test_of_many_bursts_some_are_drawn_the_same_ones_each_time_and_none_twice():
    table = fused_table({"A": ("1", work_of(400))}, 1 + np.arange(400))

    drawn = [learn({"a": table}, features="base", most=40).measured for _ in range(2)]

    assert len(np.unique(drawn[0])) == 40
    assert np.array_equal(*drawn)


def test_a_feature_that_is_another_name_of_the_target_is_warned_of():
    work = work_of(200)
    table = fused_table({"A": ("1", work_of(200, 3)), "TICKS": ("2", 3 * work)}, 3 * work)

    (warning,) = learn({"a": table}).warnings

    assert "TICKS" in warning
    assert "`without=" in warning


def test_instructions_per_cycle_are_predicted_as_they_are():
    work = work_of(300)
    ratio = 1 / (1 + work / 1000)
    table = fused_table(
        {"PAPI_TOT_INS": ("1", work_of(300, 4)), "B": ("2", work)}, work, ipc=ratio
    )

    found = learn({"a": table}, target="ipc")

    assert not found.is_log
    assert found.gains["merged"].verdict == "better"
    assert {"PAPI_TOT_INS", "duration_ns"} <= {*found.left_out}


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"target": "IPC"}, ParameterError, "no column IPC"),
        ({"target": "operation_before"}, ParameterError, "no number"),
        ({"target": "ipc"}, NotEnoughDataError, "400 target not known.* needs PAPI_TOT_INS"),
        ({"features": "all"}, ParameterError, "both, base, merged"),
        ({"by": "node"}, ParameterError, "by node"),
        ({"by": "application"}, NotEnoughDataError, "all bursts are of one application"),
        ({"model": "network"}, ParameterError, "forest, boosting"),
        ({"without": ["X"]}, ParameterError, "no column X"),
        ({"most": 39}, ParameterError, "fewer than 40"),
        ({"table": law_of_merged(39)}, NotEnoughDataError, "39 bursts"),
        ({"table": law_of_merged(ranks=1)}, NotEnoughDataError, "all bursts are of one rank"),
    ],
)
def test_what_cannot_be_learnt_is_refused_with_a_reason(options, error, words):
    table = {"table": law_of_merged(ipc=[None] * 400)} | options

    with pytest.raises(error, match=words):
        learn({"a": table.pop("table")}, **table)


def test_a_table_of_one_run_has_no_merged_counters():
    work = work_of(100)
    table = fused_table({"A": ("1", work)}, work)

    with pytest.raises(NotEnoughDataError, match="no counters of other runs"):
        learn({"a": table})
    assert learn({"a": table}, features="base").score("merged") is None


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)

    with pytest.raises(MissingExtraError, match=r"burstline\[ml\]"):
        learn({"a": law_of_merged()})


def test_the_base_of_a_fused_table_is_found_whichever_run_it_is():
    def run(name, barriers):
        calls = [f"{9 * k} enter MPI_Barrier {name}={k} | {9 * k + 2} leave" for k in barriers]
        return trace_of(f"ranks 1 | counter {name} | 0 | " + " | ".join(calls))

    runs = [run("A", range(9)), run("B", range(5))]
    matching = match(runs, base=1)
    table = fuse([burst_table(one) for one in runs], matching).table

    assert base_run(table.schema) == 2
    own, merged = counters_of(table.schema)
    assert ([one.name for one in own], [one.name for one in merged]) == (["B"], ["A"])
    twice = pa.field("run2.run2.cpu", pa.int64(), metadata={"runs": "2"})
    assert counter_of(twice) == "cpu"


def made(errors, name="merged"):
    numbers = np.array(errors)
    return Score(name, (), numbers, numbers, numbers, numbers, numbers, None, 0.0, numbers)


def test_a_gain_is_one_where_folds_agree():
    base = made([0.30, 0.32, 0.31, 0.29], "base")

    assert gain(base, made([0.20, 0.23, 0.20, 0.19])).verdict == "better"
    assert gain(base, made([0.40, 0.43, 0.41, 0.39])).verdict == "worse"
    assert gain(base, made([0.10, 0.50, 0.40, 0.10])).verdict == "no difference"
    assert gain(base, made([0.299, 0.319, 0.309, 0.289])).verdict == "no difference"


def test_a_counter_that_one_table_distrusts_is_distrusted_whatever_others_say():
    work = work_of(400)
    steady, wild = (
        fused_table({"A": ("1", work), "run2.A": ("2", other)}, work)
        for other in (work, work[::-1].copy())
    )
    assert reliability([law_of_merged()]) == {"IR_TOT_INS": "trust"}
    assert reliability([steady]) == {"A": "trust"}

    assert reliability([steady, wild]) == reliability([wild, steady]) == {"A": "do not use"}
