"""Every view shows its result to people and programs, and obeys nothing that a trace says."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest

from burstline import ParameterError, burst_table, detect, show, summarise
from burstline.merge import Overview, PartSums
from burstline.show.blocks import Facts, Heading, Lines
from burstline.show.terminal import notebook_html
from burstline.structure import loop_table
from burstline.testing import trace_of
from burstline.values import Column, Table
from loop_programs import Do, loop, run

HOSTILE = "<script>alert(1)</script>\x1b[31m&"


class Reader(HTMLParser):
    """Collects the tags and the text of a page."""

    def __init__(self):
        super().__init__()
        self.tags, self.text = set(), ""

    def handle_starttag(self, tag, _attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.text += data


def results():
    trace = run(loop(8, Do("Send", 3), Do("Barrier", 4)))
    structure = detect(trace)
    return summarise(trace), structure, loop_table(trace, structure, 1)


@pytest.mark.parametrize("number", range(3))
def test_a_notebook_shows_what_a_terminal_shows(number, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")  # room for every column
    view = show.view(results()[number])
    page = Reader()
    page.feed(view._repr_html_())
    show.output(view, "table")

    said = "".join(capsys.readouterr().out.split())
    shown = "".join(page.text.split())
    ruled = str.maketrans("", "", "─━")
    assert sorted(shown) == sorted(said.translate(ruled))
    json.dumps(view.document(), allow_nan=False)
    columns, rows = view.rows()
    assert all(len(row) == len(columns) for row in rows)


def test_labels_of_a_trace_are_text_in_a_notebook():
    blocks = [
        Facts([(HOSTILE, HOSTILE)]),
        Table([Column(HOSTILE)], [[HOSTILE]], HOSTILE),
        Heading(HOSTILE),
        Lines([HOSTILE]),
    ]
    page = Reader()
    page.feed(notebook_html(blocks))

    assert page.tags == {"div", "table", "tr", "th", "td", "h4", "pre"}
    assert page.text.count("<script>alert(1)</script>") == 7
    assert "\x1b" not in page.text


def test_what_no_analysis_returned_is_not_shown():
    with pytest.raises(ParameterError, match="a dict is not shown"):
        show.view({})


def overview(trace):
    table = burst_table(trace).table
    result = Overview(table.schema)
    result.add(PartSums.of(table, result.most))
    return result


@pytest.mark.parametrize("analysis", [summarise, detect, overview])
@pytest.mark.parametrize(
    ("operation", "is_said"),
    [("Alltoall", True), ("Ireduce", True), ("Alltoallv", False), ("Reduce_scatter", False)],
)
def test_sizes_that_paraver_shows_otherwise_are_named(capsys, analysis, operation, is_said):
    called = f"5 enter MPI_{operation} sent 8 received 8 | 9 leave"
    trace = trace_of(f"ranks 1 | 0 | 0 enter MPI_Init | 3 leave | {called}")

    show.output(show.view(analysis(trace)), "table")

    assert ("Paraver shows one block" in capsys.readouterr().out) == is_said
