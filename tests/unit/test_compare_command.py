"""What ``burstline compare`` takes, prints and refuses."""

from __future__ import annotations

import csv
import io

import pytest

from burstline import read, wait_states, write
from command import burstline, document_of
from cube_files import Cube, anchor

STORY = """
ranks 2
0 | 0 enter main | 2 enter MPI_Barrier | 2 begin | 20 end | 20 leave | 20 leave
1 | 0 enter main | {late} enter MPI_Barrier | {late} begin | 20 end | 20 leave | 20 leave
"""


@pytest.fixture
def runs(tmp_path):
    """Traces of a barrier, to which the second rank comes later and later."""
    paths = []
    for number, late in enumerate((10, 12, 16), 1):
        path = tmp_path / f"run{number}.txt"
        path.write_text(STORY.format(late=late))
        paths.append(path)
    return paths


@pytest.fixture
def profiles(runs):
    """The profiles of these."""
    pytest.importorskip("pycubexr")
    paths = [path.with_suffix(".cubex") for path in runs]
    for run, path in zip(runs, paths, strict=True):
        write(wait_states(read(run)).profile, path)
    return paths


def test_traces_and_their_profiles_are_the_same(runs, profiles):
    document = document_of("compare", runs[0], profiles[0])

    assert document["j_mc"] == pytest.approx(1)
    assert document_of("compare", *profiles)["j_mc"] == pytest.approx(
        document_of("compare", *runs)["j_mc"]
    )


def test_means_are_compared_and_repetitions_among_each_other(runs):
    document = document_of("compare", *runs[:2], "--with", runs[2], "--with", *runs[1:])

    assert [(pair["a"], pair["b"]) for pair in document["pairs"]] == [
        ("run1.txt and 1 more", "run3.txt"), ("run1.txt and 1 more", "run2.txt and 1 more"),
    ]  # fmt: skip
    assert [each["runs"] for each in document["profiles"]] == [2, 1, 2]
    assert [each["run_to_run"] for each in document["profiles"]] == [
        *(pytest.approx(0.818, abs=1e-3), None, pytest.approx(0.667, abs=1e-3)),
    ]
    assert document["pairs"][0]["j_mc"] == pytest.approx(0.6)


def test_groups_are_called_by_what_their_files_have_in_common(runs, tmp_path):
    others = []
    for run in runs[1:]:
        other = tmp_path / f"late{run.name[3:]}"
        other.write_text(run.read_text())
        others.append(other)

    document = document_of("compare", *runs[:2], "--with", *others)

    assert [each["name"] for each in document["profiles"]] == ["run*", "late*"]
    names = document_of("compare", *runs[:2], "--with", *runs[1:])["profiles"]
    assert [each["name"] for each in names] == ["run1.txt and 1 more", "run2.txt and 1 more"]
    names = document_of("compare", runs[0], others[0], "--with", runs[1])["profiles"]
    assert [each["name"] for each in names] == ["run1.txt and 1 more", "run2.txt"]


def test_files_of_one_name_are_called_by_their_folders(runs, tmp_path):
    other = tmp_path / "other" / "run1.txt"
    other.parent.mkdir()
    other.write_text(runs[1].read_text())

    assert document_of("compare", runs[0], other)["least_alike"] == [str(runs[0]), str(other)]


def test_a_difference_too_small_to_be_printed_is_none(runs):
    for run, late in zip(runs, (10_000, 10_001), strict=False):
        run.write_text(STORY.format(late=late).replace("20 ", "20000 "))

    printed = burstline("compare", *runs[:2]).stdout

    assert "nothing differs by as much as 0.1% of the time" in " ".join(printed.split())
    assert "CALL PATH" not in printed
    assert "counterpart" not in printed


def test_a_table_has_a_score_of_each_with_the_first_or_of_those_least_alike(runs):
    heads = [
        next(
            line for line in burstline("compare", *words).stdout.splitlines() if "NAME" in line
        )
        for words in (runs, [runs[0], "--with", runs[1], "--with", runs[2]])
    ]

    assert heads[0].split() == ["METRIC", "NAME", "J", "%T", "A", "%T", "C"]
    assert heads[1].split() == [
        *("METRIC", "NAME", "J", "B", "J", "C", "%T", "A", "%T", "B", "%T", "C"),
    ]
    assert "CALL PATH" not in burstline("compare", *runs, "--top", "0").stdout


def test_clocks_are_compared_with_the_first_and_runs_by_each(runs):
    document = document_of("compare", *runs, "--clocks", "physical,lt_1")

    assert document["profiles"] == [
        {"name": "physical", "runs": 3, "run_to_run": pytest.approx(0.538, abs=1e-3)},
        {"name": "lt_1", "runs": 3, "run_to_run": 1}
        | {"modelled_ticks": 0, "modelled_share": 0.0},
    ]
    [pair] = document["pairs"]
    assert (pair["a"], pair["b"]) == ("physical", "lt_1")
    assert 0 < pair["j_mc"] < 1
    assert document_of("compare", *runs, "--clocks", "lt_1")["j_mc"] == 1
    assert "lt_1: mean of 3, which are equal in that" in " ".join(
        burstline("compare", *runs, "--clocks", "physical,lt_1").stdout.split()
    )
    assert len(document_of("compare", runs[0], "--clocks", "physical,lt_1")["pairs"]) == 1


def test_a_table_of_pairs_begins_with_the_least_alike(runs):
    lines = burstline("compare", *runs).stdout.splitlines()

    assert [line.split() for line in lines if line.startswith(("  A B", "  A C", "  B C"))] == [
        ["A", "C", "0.538"], ["B", "C", "0.667"], ["A", "B", "0.818"],
    ]  # fmt: skip


def test_csv_has_all_differences_of_all_pairs(runs):
    printed = burstline("compare", *runs, "--top", "0", "--format", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(printed)))

    assert set(rows[0]) == {"a", "b", "metric", "call_path", "share_a", "share_b"}
    assert len(rows) == 9
    assert rows[3]["b"] == "run3.txt"
    assert float(rows[3]["share_a"]) - float(rows[3]["share_b"]) == pytest.approx(0.3)


def test_what_has_no_counterpart_is_named(runs, tmp_path):
    elsewhere = tmp_path / "elsewhere.txt"
    elsewhere.write_text(STORY.format(late=10).replace("MPI_Barrier", "MPI_Allreduce"))

    words = " ".join(burstline("compare", runs[0], elsewhere).stdout.split())

    assert "those of one alone hold 70.0 % of the time of A, 70.0 % of B" in words
    assert "only in A mpi_synchronization (70.0 %)" in words
    assert "only in B mpi_communication (70.0 %)" in words


def test_a_profile_without_kinds_of_time_is_named(profiles, tmp_path):
    plain = Cube().write(tmp_path / "plain.cubex")
    metrics = (
        '<metric id="0" type="INCLUSIVE"><disp_name>Time</disp_name><uniq_name>time</uniq_name>'
    )
    metrics += "<dtype>DOUBLE</dtype><uom>sec</uom><url/><descr/></metric>"
    plain = Cube({**Cube().members, "anchor.xml": anchor(metrics=metrics)}).write(plain)

    done = burstline("compare", plain, profiles[0])

    assert done.returncode == 0
    assert "plain.cubex divides its time into no kinds" in " ".join(done.stdout.split())


@pytest.mark.parametrize("form", ["svg", "png"])
def test_a_picture_is_drawn_of_pairs_and_of_groups(runs, tmp_path, form):
    pytest.importorskip("matplotlib")
    drawn = []
    for number, words in enumerate(([*runs], [runs[0], "--with", *runs[1:]], [*runs])):
        path = tmp_path / f"{number}.{form}"
        done = burstline("compare", *words, "--plot", path)
        assert done.returncode == 0, done.stderr
        drawn.append(path.read_bytes())

    assert drawn[0] == drawn[2] != drawn[1]
    if form == "svg":
        assert b"repetitions of" not in drawn[0]
        assert b"A and C" in drawn[0]
        assert b"delays:" in drawn[0]


def test_a_profile_of_time_and_counts_is_compared_and_drawn(runs, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("pycubexr")
    plain = Cube().write(tmp_path / "plain.cubex")

    for number, other in enumerate((plain, *runs)):
        done = burstline("compare", plain, other, "--plot", tmp_path / f"{number}.svg")
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "end"),
    [
        (["RUN"], (2, "run1.txt is one profile: name others")),
        (["RUN", "RUN", "--clocks", "lamport"], (2, "no clock called lamport: physical")),
        (["RUN", "PROFILE", "--clocks", "lt_1"], (2, "--clocks are those of traces")),
        (["RUN", "--clocks", "physical,lt_1", "--with", "RUN"], (2, "leave --with out")),
        (["RUN", "--clocks", "physical,lt_bb"], (5, "lt_bb needs the counter IR_BB")),
        (["RUN", "nothing.prv"], (2, "no such file")),
        (["RUN", "SOMETHING"], (3, "expected the header of a known trace format")),
        (["RUN", "BROKEN"], (3, "expected a profile of Cube")),
        (["RUN", "TIMELESS"], (5, "timeless.cubex has no metric time")),
        (["RUN", "SILENT"], (5, "nothing synchronises")),
        (["RUN", "RUN", "--plot", "x.pdf"], (2, "the ending of a picture is .svg or .png")),
        (["RUN", "RUN", "--plot", "RUN"], (2, "belongs to the input")),
        (["RUN", "RUN", "--top", "-1"], (2, "--top must not be negative")),
    ],
)
def test_what_cannot_be_compared_ends_with_a_code_and_a_reason(
    runs, profiles, tmp_path, words, end
):
    files = {name: tmp_path / name for name in ("something.txt", "broken.cubex")}
    for path in files.values():
        path.write_text("hello\n")
    silent = tmp_path / "silent.txt"
    silent.write_text("ranks 1\n0 | 0 enter main | 9 leave\n")
    timeless = tmp_path / "timeless.cubex"
    content = anchor().replace(b"<uniq_name>time<", b"<uniq_name>instructions<")
    Cube({**Cube().members, "anchor.xml": content}).write(timeless)
    places = {
        "RUN": runs[0], "PROFILE": profiles[0], "SOMETHING": files["something.txt"],
        "BROKEN": files["broken.cubex"], "TIMELESS": timeless, "SILENT": silent,
    }  # fmt: skip

    done = burstline("compare", *(places.get(word, word) for word in words))

    code, reason = end
    assert done.returncode == code
    assert reason in done.stderr
