"""``burstline learn``: from recorded bursts to what their counters are worth."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import burstline
from burstline.testing import trace_of
from command import burstline as run
from command import document_of, printed_by
from fused_tables import law_of_base, law_of_merged, work_of

pytestmark = pytest.mark.usefixtures("few_trees")
HEAT = Path(__file__).parent / "learning" / "heat.parquet"
"""640 bursts of experiments/merge/programs/heat.c on four ranks, three runs merged."""


def refusal(*words):
    """Give the exit code and the last line of standard error."""
    done = run("learn", *words)
    return done.returncode, done.stderr.splitlines()[-1]


def counting_run(name, factor, *, shared=40):
    """Give a run of three ranks whose bursts last as their work says, counted as `name`.

    Of 40 bursts a rank, those after the first `shared` end in another call.
    """
    lines = [f"ranks 3 | counter {name}"]
    for rank in range(3):
        time_ns, calls = 0, []
        for number, work in enumerate([0, *work_of(40, rank).tolist()]):
            time_ns += 3 * work
            operation = "MPI_Barrier" if number <= shared else "MPI_Allreduce"
            calls += [f"{time_ns} enter {operation} {name}={factor * work}"]
            time_ns += 5
            calls += [f"{time_ns} leave {name}=0"]
        lines += [f"{rank}", *calls]
    return trace_of(" | ".join(lines))


def test_recorded_bursts_are_predicted_better_than_by_their_median():
    found = document_of("learn", HEAT)

    assert (found["target"], found["groups"], found["bursts"]) == ("duration_ns", 4, 640)
    assert found["merged"]["mean"] < found["nothing"]["mean"] / 1.5
    assert found["base"]["mean"] < found["nothing"]["mean"] / 1.5
    assert {"IR_FP_INS", "IR_BB"} <= {*found["importance"]}
    assert {"cpu", "run2.cpu", "run3.cpu"} <= {*found["left_out"]}


def test_another_target_leaves_out_its_own_parts():
    found = document_of("learn", HEAT, "--target", "cpu", "--features", "merged")

    assert found["base"] is None
    assert {"duration_ns", "run2.cpu"} <= {*found["left_out"]}


def test_two_runs_give_what_their_dataset_gives(tmp_path):
    for name, factor in (("A", 1), ("B", 2)):
        burstline.write(counting_run(name, factor), tmp_path / f"{name}.store")
    runs = [tmp_path / "A.store", tmp_path / "B.store"]
    dataset = tmp_path / "both.parquet"
    printed_by("merge", *runs, "--dataset", dataset, "--quiet")

    from_runs = document_of("learn", *runs)

    assert from_runs == document_of("learn", dataset)
    assert from_runs["merged"]["features"][-1] == "B"


def test_from_runs_that_share_too_little_nothing_is_learnt(tmp_path):
    runs = [tmp_path / "A.store", tmp_path / "B.store"]
    for path, shared in zip(runs, (40, 16), strict=True):
        burstline.write(counting_run(path.stem, 1, shared=shared), path)
    dataset, few = tmp_path / "both.parquet", ("--features", "merged", "--drop-unreliable")
    merged = run("merge", *runs, "--dataset", dataset, "--drop-unmatched")
    of_merge = merged.stderr.splitlines()[0].partition(" of the ")[0]

    for inputs in (runs, [dataset]):
        code, said = refusal(*inputs, "--min-match-rate", "0.9")
        assert (code, "fewer than --min-match-rate 0.9" in said) == (5, True)
        warned = run("learn", *inputs, *few, "--quiet").stderr.splitlines()
        assert [line.partition(" of the ")[0] for line in warned] == [of_merge]
    assert of_merge.startswith("warning: only ")


@pytest.mark.parametrize("rate", ["", "no rate", "nan", "1e999", b"\xff"])
def test_a_dataset_that_tells_no_rate_is_learnt_from(tmp_path, rate):
    table, path = law_of_merged(120), tmp_path / "bursts.parquet"
    field = table.schema.field("burst_0").with_metadata({"match_rate": rate})
    at = table.schema.get_field_index("burst_0")
    pq.write_table(table.set_column(at, field, table["burst_0"]), path)

    done = run("learn", path, "--features", "merged", "--format", "json")

    assert done.returncode == 0, done.stderr
    assert "only" not in done.stderr


def test_programs_are_left_out_in_turn(tmp_path):
    paths = [tmp_path / f"{name}.parquet" for name in "abc"]
    for seed, path in enumerate(paths):
        pq.write_table(law_of_merged(120, seed=seed), path)

    found = document_of("learn", *paths)

    assert (found["by"], found["folds"]) == ("application", 3)
    assert found["gain"]["merged"]["verdict"] == "better"


def test_an_arrow_file_will_do(tmp_path):
    table, path = law_of_merged(120), tmp_path / "bursts.arrow"
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    pq.write_table(table, tmp_path / "bursts.parquet")

    words = ("--features", "merged", "--format", "json")
    paths = path, tmp_path / "bursts.parquet"
    one, other = (printed_by("learn", each, *words) for each in paths)
    assert one == other


def test_people_read_errors_and_importance(tmp_path):
    pq.write_table(law_of_base(160), tmp_path / "bursts.parquet")
    picture = tmp_path / "learned.svg"

    shown = printed_by("learn", tmp_path / "bursts.parquet", "--control", "--plot", picture)

    assert "always the median" in shown
    assert "dealt out at random" in shown
    assert "IR_TOT_INS" in shown
    assert picture.read_bytes().startswith(b"<?xml")


def test_csv_is_the_importance(tmp_path):
    pq.write_table(law_of_merged(120), tmp_path / "bursts.parquet")

    shown = printed_by("learn", tmp_path / "bursts.parquet", "--format", "csv")

    first = next(csv.DictReader(io.StringIO(shown)))
    assert first["feature"] == "IR_LD_INS"
    assert float(first["importance"]) > 0.1


def test_what_a_check_says_of_counters_is_used(tmp_path):
    pq.write_table(law_of_merged(120), tmp_path / "bursts.parquet")
    check = tmp_path / "check.json"
    check.write_text(json.dumps({"counters": {"IR_LD_INS": {"verdict": "do not use"}}}))

    words = ("--drop-unreliable", "--quality", check)
    found = document_of("learn", tmp_path / "bursts.parquet", *words)

    assert found["reliability"]["IR_LD_INS"] == "do not use"
    assert "IR_LD_INS" not in found["reliable"]["features"]
    said = printed_by("learn", tmp_path / "bursts.parquet", "--quality", check)
    assert "IR_LD_INS is a feature, but: do not use" in " ".join(said.split())


def test_a_counter_that_says_nothing_is_told_as_merge_tells_it(tmp_path):
    pq.write_table(law_of_merged(120), tmp_path / "bursts.parquet")
    check = tmp_path / "check.json"
    check.write_text(json.dumps({"counters": {"IR_LD_INS": {"verdict": "no information"}}}))

    said = printed_by("learn", tmp_path / "bursts.parquet", "--quality", check)

    assert "verdict IR_LD_INS: no information" in " ".join(said.split())


@pytest.mark.parametrize("text", ["{", "[]", '{"counters": {"A": {"verdict": "perhaps"}}}'])
def test_what_is_no_check_is_refused(tmp_path, text):
    check = tmp_path / "check.json"
    check.write_text(text)

    code, error = refusal(HEAT, "--quality", check)

    assert code == 3
    assert "check.json" in error


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--target", "PAPI_L3_TCM"], 2, "no column PAPI_L3_TCM"),
        (["--target", "ipc"], 5, "640 target not known"),
        (["--by", "application"], 5, "all bursts are of one application"),
        (["--most", "3"], 2, "at least 40"),
        (["--without", "X"], 2, "no column X"),
        (["--plot", "x.pdf"], 2, "ending"),
    ],
)
def test_what_cannot_be_learnt_is_said_in_one_line(words, code, said):
    told, error = refusal(HEAT, *words)

    assert told == code
    assert said in error


def test_inputs_that_make_no_sense_are_refused(tmp_path):
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 but no table")
    copy = shutil.copy(HEAT, tmp_path / "copy.parquet")

    assert refusal(tmp_path / "none.parquet")[0] == 2
    assert refusal(broken)[0] == 3
    assert "run1.prv is one run" in refusal("run1.prv")[1]
    assert "is a dataset, others are traces" in refusal(copy, "run1.prv")[1]
    assert "given twice" in refusal(copy, copy)[1]


def test_runs_of_different_sizes_are_named(tmp_path):
    small, large = tmp_path / "small.store", tmp_path / "large.store"
    for path, ranks in ((small, 1), (large, 2)):
        each = "0 enter MPI_Init | 5 leave | 9 enter MPI_Barrier | 12 leave"
        text = " | ".join(f"{rank} | {each}" for rank in range(ranks))
        burstline.write(trace_of(f"ranks {ranks} | {text}"), path)

    code, error = refusal(small, large)

    assert code == 4
    assert "small.store: 1" in error
    assert "large.store: 2" in error


def test_runs_without_further_counters_have_nothing_to_compare(tmp_path):
    for name in "ab":
        burstline.write(counting_run("A", 1), tmp_path / f"{name}.store")

    code, error = refusal(tmp_path / "a.store", tmp_path / "b.store")

    assert code == 5
    assert "no counters of other runs" in error


def test_without_the_extra_nothing_is_read(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)

    code, error = refusal("no-such-file.parquet")

    assert code == 6
    assert "burstline[ml]" in error
