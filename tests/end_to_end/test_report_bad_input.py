"""Whatever is missing, too large or hostile: the page is there, and its sections say why."""

from __future__ import annotations

import json

import pyarrow as pa

import burstline
from burstline.model import overlaid
from burstline.testing import trace_of
from command import burstline as run

PAIR = """ranks 2 threads 1
path 0 main file main.c line 10
0 | 0 enter MPI_Init path 0 | 5 leave | 11 enter MPI_Send path 0 | 12 send to 1 tag 7 bytes 8
  | 20 leave | 60 enter MPI_Finalize path 0 | 61 leave
1 | 0 enter MPI_Init path 0 | 5 leave | 6 enter MPI_Recv path 0
  | 15 receive from 0 tag 7 bytes 8 | 25 leave | 60 enter MPI_Finalize path 0 | 61 leave
"""
ALONE = """ranks 1 threads 1
0 | 0 enter MPI_Init | 5 leave | 30 enter MPI_Barrier | 30 begin | 40 end | 40 leave
  | 90 enter MPI_Finalize | 95 leave
"""
NO_MPI = "ranks 1 threads 1 | 0 | 0 enter main | 10 enter solve | 90 leave | 100 leave"
LINES = [f"{line}\n" for line in PAIR.splitlines()]
RANKS = 10_000


def page_of(tmp_path, text, *words):
    """A page of a trace, and what it says for programs."""
    (trace := tmp_path / "run.txt").write_text(text)
    return written(tmp_path, trace, *words)


def written(tmp_path, trace, *words):
    page = tmp_path / "run.html"
    done = run("report", trace, "-o", page, "--format", "json", *words)
    assert done.returncode == 0, done.stderr
    html = page.read_text(encoding="utf-8")
    assert "bug of burstline" not in html
    return html, json.loads(done.stdout)["sections"]


def missing(html, sections):
    """Why sections are empty, each of which the page says in a sentence."""
    reasons = {
        name: data["missing"]
        for name, data in sections.items()
        if isinstance(data, dict) and isinstance(data.get("missing"), str)
    }
    for reason in reasons.values():
        assert reason.endswith(".")
        assert f">{reason}<" in html
    return reasons


def test_a_run_without_mpi_says_so_in_each_section(tmp_path):
    reasons = missing(*page_of(tmp_path, NO_MPI))

    assert "no application calls MPI" in reasons["ranks"]
    assert reasons["code"] == "The trace has no MPI calls to find loops in."
    assert reasons["waits"].startswith("Nothing synchronises in this trace")
    assert reasons.keys() >= {"ranks", "timeline", "code", "waits", "messages"}


def test_one_rank_alone_waits_for_nobody(tmp_path):
    html, sections = page_of(tmp_path, ALONE)

    assert missing(html, sections)["waits"].startswith("Nothing waits")
    assert sections["ranks"]["efficiency"]["parallel"] > 0
    assert "The only rank computes" in html


def test_a_window_without_any_call_is_a_page_that_says_so(tmp_path):
    reasons = missing(*page_of(tmp_path, ALONE, "--from", "45ns", "--to", "46ns"))

    assert reasons["messages"] == "No call of MPI lies in what was read."


def test_calls_without_paths_or_counters_are_told_by_their_operation(tmp_path):
    text = "".join(line for line in LINES if not line.startswith("path"))

    html, sections = page_of(tmp_path, text.replace(" path 0", ""))

    assert "waits" not in missing(html, sections)
    assert "Known for 0 of 6 calls." in html
    assert "None were recorded." in html


def test_a_label_of_ten_megabytes_is_cut(tmp_path):
    label = "<b>x&" * 2_000_000
    trace = trace_of(PAIR)
    paths = trace.call_paths
    for name in ("function", "file"):
        column = paths.schema.get_field_index(name)
        labels = pa.array([label] * paths.num_rows).cast(paths.schema.field(name).type)
        paths = paths.set_column(column, paths.schema.field(name), labels)
    store = tmp_path / "run.store"
    burstline.write(overlaid(trace, {"call_paths": paths}), store)

    html, sections = written(tmp_path, store)

    assert "&lt;b&gt;x&amp;&lt;b&gt;" in html
    assert len(html) < 1_000_000
    assert len(json.dumps(sections)) < 10_000_000


def test_ten_thousand_ranks_are_told_in_groups(tmp_path):
    events = (
        f"{rank} | 0 enter MPI_Init | 5 leave | {30 + rank % 97} enter MPI_Barrier "
        f"| {30 + rank % 97} begin | 140 end | 140 leave | 300 enter MPI_Finalize | 310 leave\n"
        for rank in range(RANKS)
    )

    html, sections = page_of(tmp_path, f"ranks {RANKS} threads 1\n" + "".join(events))

    assert missing(html, sections).keys() <= {"computing"}
    assert len(html) < 2_000_000


def test_what_does_not_fit_the_memory_says_so_and_the_rest_is_there(tmp_path, monkeypatch):
    needs = burstline.Run.require

    def require(self, needed, asks=()):
        self.memory = 1_000 if asks else self.memory
        needs(self, needed, asks)

    monkeypatch.setattr(burstline.Run, "require", require)

    html, sections = page_of(tmp_path, PAIR)

    assert "This needs about " in missing(html, sections)["waits"]
    assert "GB of memory" in missing(html, sections)["waits"]
    assert "1 message" in html
