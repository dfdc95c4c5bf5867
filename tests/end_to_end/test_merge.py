"""``burstline merge``: the base's records, byte by byte, and everybody's counters."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter

import pyarrow.parquet as pq
import pytest

import burstline
from burstline.formats.paraver.files import lines as blocks
from burstline.merge import burst_table
from command import burstline as run
from command import document_of, printed_by
from oracles.prv_dump import dump
from two_runs import CYC, INS, L1, L3, OPERATIONS, Run, value

MERGED = 48600000
ADDED = ({L1: "PAPI_L1_DCM", L3: "PAPI_L3_TCM"}, {INS: "PAPI_TOT_INS", CYC: "PAPI_TOT_CYC"})
"""What either run as the base gets from the other."""
STRANGE = [OPERATIONS[0], *[(1, 3), (1, 4)] * 6, OPERATIONS[-1]]
"""What a program calls that shares little with the others."""


@pytest.fixture
def runs(tmp_path):
    first = Run({INS: value(3), CYC: value(5)})
    return written(
        tmp_path, first, Run({L1: value(7), L3: value(9)}, scale=2, skipped={1: {2}})
    )


def written(folder, *runs):
    """Write runs as one.prv, two.prv and so on."""
    names = ("one", "two", "three", "four")
    return [run.write(folder / f"{name}.prv") for name, run in zip(names, runs, strict=False)]


def merge(*words):
    return document_of("merge", *words)


def failure(*words):
    done = run("merge", *words)
    return done.returncode, done.stderr


def said_of(*words):
    """What is said of a merge that ends well."""
    done = run("merge", *words)
    assert done.returncode == 0, done.stderr
    return done.stderr


def of_types(path, types):
    """Give the pairs of some types, and the events without them."""
    events = dump(path).events
    chosen = {place: [one for one in own if one[1] in types] for place, own in events.items()}
    rest = {place: [one for one in own if one[1] not in types] for place, own in events.items()}
    return chosen, rest


def test_pairs_are_added_and_no_other_byte_changes(runs, tmp_path):
    merged = tmp_path / "all.prv"
    told = merge(*runs, "-o", merged)
    base = runs[told["base"]]

    types = "|".join(map(str, ADDED[told["base"]]))
    left = re.sub(rf":({types}):\d+".encode(), b"", merged.read_bytes())
    assert left == base.read_bytes() != merged.read_bytes()
    assert merged.with_suffix(".row").read_bytes() == base.with_suffix(".row").read_bytes()
    labels, own = (path.with_suffix(".pcf").read_bytes() for path in (merged, base))
    assert labels.startswith(own)


@pytest.mark.parametrize("ending", ["prv", "prv.gz"])
def test_each_matched_burst_gets_at_its_end_what_the_other_run_counted(runs, tmp_path, ending):
    merged, pairs = tmp_path / f"all.{ending}", tmp_path / "pairs.parquet"
    told = merge(*runs, "-o", merged, "--pairs", pairs)

    base, other = told["base"], 1 - told["base"]
    tables = [burst_table(burstline.read(path)).table.to_pylist() for path in runs]
    rows = [{(row["rank"], row["burst"]): row for row in table} for table in tables]
    expected = Counter()
    for pair in pq.read_table(pairs).to_pylist():
        own, others = (pair[f"burst_{run}"] for run in (base, other))
        if own is not None and others is not None:
            rank, end = pair["rank"], rows[base][pair["rank"], own]["end_ns"]
            counted = rows[other][rank, others]
            expected.update(
                (rank + 1, end, t, counted[name]) for t, name in ADDED[base].items()
            )
    chosen, rest = of_types(merged, set(ADDED[base]))
    found = Counter((place[1], *one) for place, own in chosen.items() for one in own)
    assert found == expected
    assert rest == dump(runs[base]).events
    assert sum(expected.values()) == 2 * told["runs"][base]["matched"]


@pytest.mark.parametrize("packed", [False, True])
def test_the_size_of_blocks_does_not_matter(runs, tmp_path, monkeypatch, packed):
    whole, parts = tmp_path / "whole.prv", tmp_path / "parts.prv"
    if packed:
        for path in runs:
            with gzip.open(f"{path}.gz", "wb") as file:
                file.write(path.read_bytes())
        runs = [path.with_name(f"{path.name}.gz") for path in runs]
    merge(*runs, "-o", whole)
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 100)
    monkeypatch.setattr(blocks, "_SLACK", 16)
    merge(*runs, "-o", parts)

    assert parts.read_bytes() == whole.read_bytes()


def test_what_is_read_back_is_what_was_fused(runs, tmp_path):
    merged, dataset = tmp_path / "all.prv", tmp_path / "all.parquet"
    told = merge(*runs, "-o", merged, "--dataset", dataset)

    fused = pq.read_table(dataset)
    read = burst_table(burstline.read(merged)).table
    for name in told["counters"]:
        assert read[name].to_pylist() == fused[name].to_pylist(), name
    for name in ("start_ns", "end_ns", "operation_before", "concurrency"):
        assert read[name].to_pylist() == fused[name].to_pylist()


def test_counters_are_put_beside_those_of_the_base(runs, tmp_path):
    merged = tmp_path / "all.prv"
    told = merge(*runs, "-o", merged)

    kind, beside = (next(iter(ADDED[run])) for run in (told["base"], 1 - told["base"]))
    lines = [line for line in merged.read_text().splitlines() if f":{kind}:" in line]
    assert lines
    assert all(f":{beside}:" in line for line in lines)


def test_a_counter_that_differs_gets_a_type_and_a_name_of_its_own(tmp_path):
    paths = written(tmp_path, *(Run({INS: value(3), CYC: value(k)}) for k in (5, 6)))
    outputs = "-o", tmp_path / "all.prv", "--dataset", tmp_path / "all.parquet"
    told = merge(*paths, *outputs)

    assert told["counters"]["PAPI_TOT_INS"]["divergent"] is False
    assert told["counters"]["PAPI_TOT_CYC"]["divergent"] is True
    assert told["counters"]["PAPI_TOT_CYC"]["runs"] == [0, 1]
    assert f"{MERGED}    run2.PAPI_TOT_CYC [Total cycles]" in (tmp_path / "all.pcf").read_text()
    table = pq.read_table(tmp_path / "all.parquet")
    pairs = zip(
        *(table[f"{run}PAPI_TOT_CYC"].to_pylist() for run in ("", "run2.")), strict=True
    )
    assert {other / own for own, other in pairs} == {6 / 5}
    chosen, rest = of_types(tmp_path / "all.prv", {MERGED})
    assert rest == dump(paths[0]).events
    assert sum(map(len, chosen.values())) == 12


def test_bursts_that_end_in_one_moment_get_each_its_own(tmp_path):
    def write(name, step, kind):
        head = "#Paraver (01/02/2026 at 03:04):900_ns:1(1):1:1(1:1),1\nc:1:1:1:1\n"
        lines = [
            f"2:1:1:1:1:{10 * step}:50000003:31",
            f"2:1:1:1:1:{20 * step}:50000003:0:{kind}:0",
        ]
        for burst, (number, moment) in enumerate([(8, 30), (10, 30), (8, 30), (8, 40)]):
            enter = moment * step if kind == INS else (moment + burst) * step
            lines += [
                f"2:1:1:1:1:{enter}:50000002:{number}:{kind}:{burst + 1}",
                f"2:1:1:1:1:{enter}:50000002:0:{kind}:0",
            ]
        path = tmp_path / name
        path.write_text(head + "\n".join([*lines, ""]))
        path.with_suffix(".pcf").write_text(f"EVENT_TYPE\n7 {kind} {kind}\n")
        return path

    paths = [write("one.prv", 1, INS), write("two.prv", 10, L1)]
    merge(*paths, "-o", tmp_path / "all.prv")

    text = (tmp_path / "all.prv").read_text()
    found = re.findall(rf"50000002:(\d+):{INS}:(\d):{L1}:(\d)", text)
    assert found == [("8", "1", "1"), ("10", "2", "2"), ("8", "3", "3"), ("8", "4", "4")]


def test_a_base_in_a_store_is_written_first(runs, tmp_path):
    stores = [tmp_path / f"{path.stem}.store" for path in runs]
    for path, store in zip(runs, stores, strict=True):
        printed_by("convert", path, store)
    told = merge(*stores, "-o", tmp_path / "all.prv")

    chosen, rest = of_types(tmp_path / "all.prv", set(ADDED[told["base"]]))
    assert sum(map(len, chosen.values())) == 2 * told["runs"][told["base"]]["matched"]
    assert rest == dump(runs[told["base"]]).events
    assert {path.name for path in tmp_path.iterdir() if path.name.startswith(".")} == set()


def test_a_base_without_records_is_refused_with_the_way_out(runs, tmp_path):
    stores = [tmp_path / f"{path.stem}.store" for path in runs]
    for path, store in zip(runs, stores, strict=True):
        printed_by("convert", path, store, "--no-raw")
    code, said = failure(*stores, "-o", tmp_path / "all.prv")

    assert code == 5
    assert "convert that again with its records" in said
    assert merge(*stores, "--dataset", tmp_path / "all.parquet")["runs"]


def test_the_dataset_can_leave_out_what_did_not_match(tmp_path):
    extra = [*OPERATIONS[:3], (2, 15), *OPERATIONS[3:]]
    others = (Run({kind: value(k)}, operations=extra) for kind, k in ((L1, 7), (L3, 9)))
    paths = written(tmp_path, Run({INS: value(3)}), *others)
    full, less = tmp_path / "full.parquet", tmp_path / "less.parquet"
    told = merge(*paths, "--dataset", full)
    merge(*paths, "--dataset", less, "--drop-unmatched")

    run = told["runs"][told["base"]]
    assert pq.read_table(full).num_rows == run["bursts"]
    assert pq.read_table(less).num_rows == run["matched"]
    assert sum(run["by_stage"].values()) == run["matched"]
    assert {"burst_0", "burst_1", "burst_2", "stage", "similarity"} <= set(
        pq.read_schema(full).names
    )


def test_runs_of_different_sizes_are_named(tmp_path):
    paths = written(tmp_path, *(Run({}, ranks=k) for k in (2, 3)))
    code, said = failure(*paths)

    assert code == 4
    assert all(str(path) in said for path in paths)


def test_different_programs_have_no_answer(tmp_path):
    other = [(3, 31), (2, 30), (2, 30), (3, 32)]
    runs = Run({INS: value(3)}, operations=[(2, 8)] * 5), Run({L1: value(3)}, operations=other)
    paths = written(tmp_path, *runs)
    code, said = failure(*paths, "-o", tmp_path / "all.prv")

    assert code == 5
    assert "different programs" in said
    assert not (tmp_path / "all.prv").exists()


def test_a_run_without_bursts_is_named(runs, tmp_path):
    empty = Run({}, operations=[(3, 31)]).write(tmp_path / "empty.prv")
    code, said = failure(runs[0], empty)

    assert code == 5
    assert str(empty) in said


def test_a_run_that_was_cut_is_merged_as_far_as_it_goes(tmp_path):
    long = Run({INS: value(3)}, operations=OPERATIONS[:-1] * 4 + OPERATIONS[-1:])
    short = Run({L1: value(7)}, operations=[*long.operations[:12], (2, 30), (3, 20)])
    paths = written(tmp_path, long, short)
    told = merge(*paths, "-o", tmp_path / "all.prv")

    assert told["runs"][0]["match_rate"] < 0.6 < told["runs"][1]["match_rate"]
    assert told["runs"][0]["time_coverage"] < 0.6 < told["runs"][1]["time_coverage"]
    assert told["unmatched"]


def test_runs_with_hardly_anything_in_common_are_warned_of(tmp_path):
    long = Run({INS: value(3)}, operations=OPERATIONS[:-1] * 4 + OPERATIONS[-1:])
    short = Run({L1: value(7)}, operations=[*long.operations[:6], (2, 30), (3, 20)])
    paths = written(tmp_path, long, short)

    for base, said in (("1", "the base's bursts"), ("2", f"the bursts of {paths[0]}")):
        assert f"% of {said} are in" in said_of(*paths, "--base", base)


def test_a_run_of_which_little_is_in_the_base_is_warned_of_whatever_the_others_share(tmp_path):
    alike, others = Run({INS: value(3)}), Run({L1: value(7)}, operations=STRANGE)
    paths = written(tmp_path, alike, alike, others, others)

    said = said_of(*paths, "--min-match-rate", "0", "-o", tmp_path / "all.prv")

    assert [path for path in paths if f"of the bursts of {path} are in the base" in said] == (
        paths[2:]
    )


def test_what_shares_too_little_with_the_base_is_not_merged(tmp_path):
    runs = Run({INS: value(3)}), Run({L1: value(7)}, operations=STRANGE)
    paths = written(tmp_path, *runs)
    merged, dataset = tmp_path / "all.prv", tmp_path / "all.parquet"
    rate = merge(*paths)["runs"][1]["base_rate"]

    for output in (["-o", merged], ["--dataset", dataset]):
        code, said = failure(*paths, *output, "--min-match-rate", rate + 0.01)
        assert (code, str(paths[1]) in said, "--min-match-rate" in said) == (5, True, True)
    assert not merged.exists()
    assert not dataset.exists()
    told = merge(*paths, "-o", merged, "--min-match-rate", rate)
    assert told["min_match_rate"] == rate
    assert merged.exists()


@pytest.mark.parametrize(("method", "base"), [("align", 0), ("seed", 1)])
def test_a_base_that_was_cut_is_told(tmp_path, method, base):
    whole = Run({INS: value(3)}).write(tmp_path / "whole.prv")
    cut = Run({L1: value(7)}, operations=OPERATIONS[:4]).write(tmp_path / "cut.prv")

    done = run("merge", whole, cut, "--method", method, "--format", "json")

    told = json.loads(done.stdout)
    assert [told["base"], *(run["cut"] for run in told["runs"])] == [base, False, True]
    assert f"{cut} was cut" in done.stderr
    assert ("--base 1" in done.stderr) == (base == 1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("one.prv", "two runs"),
        ("one.prv two.prv -o all.store", ".prv"),
        ("one.prv two.prv -o one.prv --force", "input"),
        ("one.prv two.prv --block 7", "--block"),
        ("one.prv two.prv --method seed --window 7", "--window"),
        ("one.prv two.prv --method seed --limit 2", "limit"),
        ("one.prv two.prv --limit 0.05", "--limit does not belong to --method align"),
        ("one.prv two.prv --window 0", "--window"),
        ("one.prv two.prv --drop-unmatched", "--dataset"),
        ("one.prv two.prv --min-match-rate 2", "between 0 and 1"),
        ("one.prv two.prv --min-match-rate nan", "between 0 and 1"),
        ("one.prv two.prv --dataset a.csv --pairs ./a.csv", "two files"),
        ("one.prv two.prv --rank 0", "--plot"),
        ("one.prv two.prv --plot a.gif", ".svg"),
        ("one.prv two.prv --plot a.svg --rank 9", "rank 9"),
    ],
)
def test_what_makes_no_sense_is_said(runs, monkeypatch, words, said):
    monkeypatch.chdir(runs[0].parent)
    code, text = failure(*words.split())

    assert code == 2
    assert said in text


def test_a_merged_trace_can_be_merged_again(tmp_path):
    paths = written(tmp_path, *(Run({INS: value(3), CYC: value(k)}) for k in (5, 6, 7)))
    first, second = tmp_path / "first.prv", tmp_path / "second.prv"
    merge(*paths[:2], "-o", first)
    told = merge(first, paths[2], "--base", 1, "-o", second)

    names = ["PAPI_TOT_CYC", "run2.run2.PAPI_TOT_CYC"]
    assert told["counters"]["PAPI_TOT_CYC"]["columns"] == names
    read = burst_table(burstline.read(second)).table
    for name, path in (("run2.PAPI_TOT_CYC", paths[1]), (names[1], paths[2])):
        own = burst_table(burstline.read(path)).table["PAPI_TOT_CYC"]
        assert read[name].to_pylist() == own.to_pylist()


def test_a_run_given_twice_is_warned_of(runs):
    assert "twice" in said_of(runs[0], runs[0])


def test_people_read_what_matched_and_what_did_not(runs):
    shown = printed_by("merge", *runs)

    assert all(path.name in shown for path in runs)
    assert "PAPI_L1_DCM" in shown
    assert "MPI_Send" in shown


def test_runs_without_counters_say_so(tmp_path):
    paths = written(tmp_path, Run({}), Run({}))
    shown = printed_by("merge", *paths, "-o", tmp_path / "all.prv")

    assert "no run has a counter" in shown
    assert (tmp_path / "all.prv").read_bytes() == paths[0].read_bytes()


@pytest.mark.parametrize("method", ["align", "seed"])
def test_the_matches_of_a_rank_are_drawn(runs, tmp_path, method):
    picture = tmp_path / "matches.svg"
    merge(*runs, "--plot", picture, "--rank", 1, "--method", method)

    drawn = picture.read_text()
    assert "The same bursts of rank 1" in drawn
    assert "no match" in drawn


@pytest.mark.parametrize("program", ["lulesh_8r_s4_i10", "npb_cg_S_4r"])
@pytest.mark.parametrize("method", ["align", "seed"])
def test_repeated_runs_of_a_real_program_match_directly(real_traces, program, method):
    paths = sorted(real_traces.glob(f"{program}_run?.prv.gz"))
    told = merge(*paths, "--method", method)

    for each in told["runs"]:
        assert each["match_rate"] == each["time_coverage"] == 1
        assert each["by_stage"]["direct"] == each["bursts"]


def cut_or_permuted(source, path, *, half=False):
    """Write the first half of a trace of eight ranks, or all of it with ranks backwards."""
    lines = gzip.decompress(source.read_bytes()).decode().splitlines(keepends=True)
    if half:
        lines = lines[: len(lines) // 2]
    else:
        for k, line in enumerate(lines):
            fields = line.split(":")
            for field in {"1": (1, 3), "2": (1, 3), "3": (1, 3, 7, 9)}.get(fields[0], ()):
                fields[field] = str(9 - int(fields[field]))
            lines[k] = ":".join(fields)
    path.write_text("".join(lines))
    for ending in (".pcf", ".row"):
        companion = source.with_name(source.name.removesuffix(".prv.gz") + ending)
        path.with_suffix(ending).write_bytes(companion.read_bytes())
    return path


def test_real_programs_that_are_not_the_same_are_not_merged(real_traces, tmp_path):
    stranger = real_traces / "npb_mg_S_8r.prv.gz"
    runs = [real_traces / f"lulesh_8r_s4_i10_run{k}.prv.gz" for k in (1, 2)]

    other = real_traces / "npb_cg_S_8r.prv.gz"
    for paths, named in (([*runs, stranger], stranger), ([other, stranger], other)):
        code, said = failure(*paths, "-o", tmp_path / "all.prv")
        assert (code, f"of {named} are in the base" in said) == (5, True)
        assert not (tmp_path / "all.prv").exists()


def test_real_runs_with_other_ranks_or_other_input_are_warned_of(real_traces, tmp_path):
    first = real_traces / "lulesh_8r_s4_i10_run1.prv.gz"
    permuted = cut_or_permuted(
        real_traces / "lulesh_8r_s4_i10_run2.prv.gz", tmp_path / "permuted.prv"
    )

    for other in (permuted, real_traces / "lulesh_omp_8r2t_s4_i5.prv.gz"):
        assert "whole runs of one program with one input" in said_of(first, other)


def test_half_of_a_real_run_is_no_base(real_traces, tmp_path):
    run = real_traces / "lulesh_8r_s4_i10_run1.prv.gz"
    half = cut_or_permuted(
        real_traces / "lulesh_8r_s4_i10_run2.prv.gz", tmp_path / "half.prv", half=True
    )

    for paths in ([run, half], [half, run]):
        told = merge(*paths)
        assert paths[told["base"]] == run
        assert [each["cut"] for each in told["runs"]] == [path == half for path in paths]


@pytest.mark.parametrize("program", ["idrun", "toy_irregular"])
def test_real_records_stay_as_they_are(real_traces, tmp_path, program):
    merged = tmp_path / "all.prv"
    paths = sorted(real_traces.glob(f"{program}_run?.prv.gz"))
    told = merge(*paths, "-o", merged)

    base = paths[told["base"]]
    known = {kind for own in dump(base).events.values() for _, kind, _ in own}
    types = {kind for own in dump(merged).events.values() for _, kind, _ in own} - known
    assert types == {MERGED, MERGED + 1}
    chosen, rest = of_types(merged, types)
    assert rest == dump(base).events
    assert dump(merged)._replace(events=None) == dump(base)._replace(events=None)
    assert sum(map(len, chosen.values())) == 2 * told["runs"][told["base"]]["matched"]


def test_a_run_that_was_cut_short_is_named(runs, tmp_path):
    short = tmp_path / "short.prv"
    lines = runs[0].read_bytes().splitlines(keepends=True)
    short.write_bytes(b"".join(lines[:-1]) + lines[-1][:7])
    short.with_suffix(".pcf").write_bytes(runs[0].with_suffix(".pcf").read_bytes())

    said = said_of(short, runs[1])

    assert f"warning: {short}: " in said
    assert "burstline info" in said
    assert str(runs[1]) not in said
