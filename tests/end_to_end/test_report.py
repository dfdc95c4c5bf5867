"""A report as its reader has it: a page in a browser, and its data for programs."""

from __future__ import annotations

import re

import pytest

from command import burstline as run
from command import document_of, page_of
from hostile import OBEYED, hostile
from stories import STORIES

SECTIONS = {
    *("verdict", "ranks", "timeline", "code", "flame"),
    *("waits", "messages", "computing", "runs", "coverage"),
}


@pytest.fixture
def labelled(tmp_path):
    script, image = "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>"
    return hostile(tmp_path, script, image)


def written(tmp_path, *words):
    return page_of(tmp_path, *words).read_text(encoding="utf-8")


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_whatever_the_program_did_the_page_is_written(story, tmp_path):
    trace = story.write(tmp_path, "txt")

    page = written(tmp_path, trace)

    assert page.startswith("<!doctype html>")
    assert all(f'<section id="{name}"' in page for name in SECTIONS)
    assert "bug of burstline" not in page


def test_labels_are_inert_and_a_policy_forbids_the_rest(labelled, tmp_path):
    page = written(tmp_path, labelled)

    assert page.count("<script>") == 5
    assert "<img" not in page
    assert "&lt;/script&gt;" in page
    assert not OBEYED & set(page)
    assert "default-src 'none'" in page.replace("&#x27;", "'")
    assert not re.search(r"<[^>]*\s(src|style|on[a-z]+)=", page)
    assert not re.search(r"https?://", page)


def test_data_of_the_page_are_those_of_the_commands(tmp_path):
    trace = STORIES[0].write(tmp_path, "txt")

    sections = document_of("report", trace)["sections"]

    info = document_of("info", trace)
    waits = document_of("waits", trace)
    assert sections.keys() == SECTIONS
    assert sections["messages"]["calls"] == info["calls"]
    assert sections["ranks"]["efficiency"] == info["efficiency"]
    assert sections["waits"].get("metrics", waits["metrics"]) == waits["metrics"]


def test_messages_are_told_by_pair_law_and_communicator(tmp_path):
    words = "\n".join(
        f"{rank} | {10 + rank} enter MPI_Barrier | {10 + rank} begin | 20 end | 20 leave "
        f"| 30 enter MPI_Send | 31 send to {(rank + 1) % 3} bytes {8 + rank} | 32 leave "
        f"| 40 enter MPI_Recv | 41 receive from {(rank - 1) % 3} bytes {8 + (rank - 1) % 3} "
        "| 42 leave"
        for rank in range(3)
    )
    (trace := tmp_path / "t.txt").write_text(f"ranks 3\n{words}\n")

    told = document_of("report", trace)["sections"]["messages"]
    page = written(tmp_path, trace)

    matrix = document_of("matrix", trace)
    assert {name: matrix[name] for name in told["matrix"]} == told["matrix"]
    [barrier] = told["collectives"]
    assert barrier["operation"] == "MPI_Barrier"
    assert barrier["early_ns"] == 3
    assert barrier["last"] == [[2, 1]]
    assert {law["law"] for law in told["partners"]} == {"(rank+1)%3", "(rank-1)%3"}
    assert "Rank 2 sends 10 B to rank 0, the most of all pairs" in page
    assert "100.0 % of the calls that send or receive follow a law" in page


COMPUTING = """ranks 2 | counter cpu unit ns
path 0 main file a.c line 3
0 | 0 enter MPI_Init cpu=0 | 5 leave cpu=0 | 1005 enter MPI_Barrier path 0 cpu=990 | 1010 leave
1 | 0 enter MPI_Init cpu=0 | 5 leave cpu=0 | 9005 enter MPI_Barrier path 0 cpu=200 | 9010 leave
"""


def test_every_burst_is_a_point_and_the_longest_are_named(tmp_path):
    (trace := tmp_path / "t.txt").write_text(COMPUTING)

    told = document_of("report", trace)["sections"]["computing"]
    page = written(tmp_path, trace)

    assert [rank["counters"]["cpu"] for rank in told["ranks"]] == [990, 200]
    assert told["largest"][0]["computing_ns"] == 9000
    said = "on a processor for 11.9 % of its time because of 1 burst; in all others for 99.0 %"
    assert f"Computing is {said}" in page
    assert "MPI_Init … MPI_Barrier at a.c:3" in page
    assert "rank 1: 9.00 µs, 200 ns on a processor" in page
    assert "only cpu" in page


def test_without_counters_bursts_are_shown_by_rank_and_the_page_says_why(tmp_path):
    (trace := tmp_path / "t.txt").write_text(re.sub(r" cpu=\d+|\| counter.*", "", COMPUTING))

    page = written(tmp_path, trace)

    assert "Nothing was counted in this run" in page
    assert 'title="rank 1, from 5.62 µs: 9.00 µs"' in page
    assert "1 burst of 2 holds 90.0 % of computing" in page


STEPS = """ranks 2
path 0 main file a.c line 3
0 | 0 enter MPI_Init | 5 leave | {0} | 1000 enter MPI_Finalize | 1005 leave
1 | 0 enter MPI_Init | 5 leave | {1} | 1000 enter MPI_Finalize | 1005 leave
"""


def stepping(folder):
    lines = [
        " | ".join(
            f"{at + 5 * rank} enter MPI_Barrier path 0 | {at + 5 * rank} begin "
            f"| {at + 30} end | {at + 30} leave"
            for at in range(110, 900, 100)
        )
        for rank in range(2)
    ]
    (path := folder / "steps.txt").write_text(STEPS.format(*lines))
    return path


@pytest.mark.parametrize(
    ("options", "said", "length"),
    [
        (("--from", "300ns", "--to", "500ns"), "from 300 ns to 500 ns", 200),
        (("--to", "500ns", "--ranks", "1"), "from the begin to 500 ns, ranks 1", 495),
        (("--loop", "1", "--iterations", "3:4"), "iterations 3 to 4 of loop 1", None),
        (("--loop", "1", "--iterations", "3"), "iteration 3 of loop 1", None),
    ],
)
def test_a_part_is_told_in_words_and_as_if_it_were_all(tmp_path, options, said, length):
    trace = stepping(tmp_path)

    told = document_of("report", trace, *options)["sections"]
    page = written(tmp_path, trace, *options)

    assert told["coverage"]["source"]["region"] == said
    assert f"Only a part of the run: {said}." in page
    begin, end = told["timeline"]["baseline_ns"]
    waits = document_of("waits", trace, *options)
    assert told["waits"].get("metrics", waits["metrics"]) == waits["metrics"]
    assert end - begin == length or (length is None and 0 < end - begin < 300)


def test_of_all_of_a_run_no_part_is_told(tmp_path):
    page = written(tmp_path, stepping(tmp_path))

    assert "Only a part of the run" not in page
    assert "from MPI_Init to MPI_Finalize" in page


def test_without_a_law_that_is_said(tmp_path):
    sends = " | ".join(
        f"{at} enter MPI_Send | {at + 1} send to {to} bytes 8 tag {at} | {at + 2} leave"
        for at, to in zip(range(0, 100, 10), [1, 2, 2, 1, 1, 2, 1, 2, 2, 2], strict=True)
    )
    text = f"ranks 3\n0 | {sends}\n1 | 1 enter a | 2 leave\n"
    (trace := tmp_path / "t.txt").write_text(text)

    assert "No law of ranks is seen" in written(tmp_path, trace)


def slower(folder, name, work):
    lines = "\n".join(
        f"{rank} | 0 enter MPI_Init | 1 leave | {work + 50 * rank} enter MPI_Barrier "
        f"| {work + 50 * rank} begin | 300 end | 300 leave | 310 enter MPI_Finalize | 311 leave"
        for rank in range(2)
    )
    (path := folder / name).write_text(f"ranks 2\n{lines}\n")
    return path


def test_several_runs_are_compared_with_the_first(tmp_path):
    first, second = slower(tmp_path, "a.txt", 100), slower(tmp_path, "b.txt", 200)

    told = document_of("report", first, second)["sections"]["runs"]
    page = written(tmp_path, first, second)

    scaled = document_of("info", first, second)
    for ours, theirs in zip(told["runs"], scaled["runs"], strict=True):
        known = {name: each for name, each in theirs["efficiency"].items() if each is not None}
        assert {name: ours["efficiency"][name] for name in known} == known
        assert ours["efficiency"]["serialisation"] is not None
    compared = document_of("compare", first, second)
    assert told["comparison"]["j_mc"] == compared["j_mc"]
    assert "Run 1 takes 309 ns on 2 ranks, the other 309 ns" in page
    # in the tree of factors, as a row of the runs, and above what each took
    assert page.count(">Run 2</th>") == 3
    assert "Run 1 and run 2 divide their time alike to" in page


def test_bursts_of_several_runs_are_matched_and_compared(tmp_path):
    (first := tmp_path / "a.txt").write_text(COMPUTING)
    (second := tmp_path / "b.txt").write_text(COMPUTING.replace("cpu=990", "cpu=495"))

    told = document_of("report", first, second)["sections"]["runs"]["bursts"]
    page = written(tmp_path, first, second)

    checked = document_of("check-merge", first, second)
    assert told["match_rate"] == checked["match_rate"] == 1
    assert told["counters"] == checked["counters"]
    assert "100.0 % of the bursts are in all runs" in page
    assert "cpu of run 2" in page


def test_a_run_that_cannot_be_read_is_an_error_and_no_page(tmp_path):
    first = slower(tmp_path, "a.txt", 100)

    done = run("report", first, tmp_path / "no.prv", "-o", tmp_path / "page.html")

    assert done.returncode == 2
    assert not (tmp_path / "page.html").exists()


def test_a_section_that_fails_is_written_as_such(labelled, tmp_path, monkeypatch):
    def fail(_):
        raise ZeroDivisionError("<b>")

    monkeypatch.setattr("burstline.show.page.sections.code.section", fail)

    page = written(tmp_path, labelled)

    assert "ZeroDivisionError: &lt;b&gt;" in page
    assert '<section id="coverage"' in page


def test_an_existing_page_is_not_replaced_unasked(labelled, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("mine")

    done = run("report", labelled, "-o", page)

    assert done.returncode == 2
    assert page.read_text() == "mine"


@pytest.mark.parametrize("name", ["page.txt", "page", "nowhere/page.html"])
def test_a_page_has_a_place_and_an_ending(labelled, tmp_path, name):
    done = run("report", labelled, "-o", tmp_path / name)

    assert done.returncode == 2
    assert not [*tmp_path.glob("page*")]


def test_waits_in_mpi_finalize_have_no_share_of_the_run(tmp_path):
    init = "0 enter MPI_Init | 10 leave"
    barriers = [f"{at} enter MPI_Barrier | {at} begin | 80 end | 80 leave" for at in (20, 60)]
    ends = [f"{at} enter MPI_Finalize | 200 leave" for at in (90, 190)]
    trace = tmp_path / "late.txt"
    ranks = (f"{k} | {init} | {barriers[k]} | {ends[k]}" for k in range(2))
    trace.write_text("\n".join(["ranks 2", *ranks, ""]))

    page = written(tmp_path, trace)

    kinds = page[page.index('id="kinds"') : page.index('id="pairs"')]
    shares = re.findall(r"(Wait at \w+)<.*?([\d.]+ %)", kinds, re.DOTALL)
    # 40 of twice the 180 ns between MPI_Init and MPI_Finalize
    assert dict(shares) == {"Wait at Barrier": "11.1 %", "Wait at Finalize": "0 %"}
