"""Each result of a run is shown as tables and as a document, and told in one line."""

from __future__ import annotations

import json

import pytest

import burstline
from burstline import show
from burstline.run import ANALYSES
from burstline.testing import trace_of

INNER = {"graph", "ideal"}
"""What other analyses are computed from, and nobody is shown."""
STORY = """
ranks 2
counter PAPI_TOT_INS unit "" mode delta
path 0 main file a.c line 7
path 1 main file a.c line 9
0 | 0 enter MPI_Init | 10 leave PAPI_TOT_INS=1
  | 20 enter MPI_Send path 0 PAPI_TOT_INS=5 | 21 send to 1 bytes 8 | 30 leave PAPI_TOT_INS=1
  | 40 enter MPI_Barrier path 1 | 41 begin | 50 end | 50 leave
  | 60 enter MPI_Send path 0 PAPI_TOT_INS=5 | 61 send to 1 bytes 8 | 70 leave PAPI_TOT_INS=1
  | 80 enter MPI_Barrier path 1 | 81 begin | 90 end | 90 leave
  | 95 enter MPI_Finalize | 99 leave
1 | 0 enter MPI_Init | 10 leave
  | 11 enter MPI_Recv path 0 | 25 receive from 0 bytes 8 | 30 leave
  | 45 enter MPI_Barrier path 1 | 45 begin | 50 end | 50 leave
  | 51 enter MPI_Recv path 0 | 65 receive from 0 bytes 8 | 70 leave
  | 85 enter MPI_Barrier path 1 | 85 begin | 90 end | 90 leave
  | 95 enter MPI_Finalize | 99 leave
"""


@pytest.fixture(scope="module")
def run():
    return burstline.open(trace_of(STORY))


@pytest.mark.parametrize("name", sorted({*ANALYSES} - INNER))
def test_a_result_is_tables_a_document_and_one_line(run, name):
    given = {"iterations": {"loop": 1}}.get(name, {})
    result = run.ask(name, **given)

    view = show.view(result)
    html, document = view._repr_html_(), view.document()
    columns, rows = view.rows()

    assert "<table>" in html
    assert json.loads(json.dumps(document, allow_nan=False))
    assert all(len(row) == len(columns) for row in rows)
    assert "\n" not in repr(result)
    assert len(repr(result)) < 200


def test_a_prediction_is_a_section_where_one_was_given(run):
    source = show.Source((), "", "", "")
    prediction = run.phases().prediction
    several = {"runs": show.Missing("One run was given."), "prediction": prediction}

    without = show.report_page(show.gathered(run, source, {}))
    page = show.report_page(show.gathered(run, source, {}, several))

    assert "prediction" not in without.data
    assert page.data["prediction"] == prediction.as_dict()
    assert [*page.titles][-2:] == ["Prediction", "Coverage"]
    assert b'<section id="prediction"' in page.html


class Told:
    def __init__(self):
        self.total = self.done = 0

    def step(self, name, total, unit):
        assert (name, unit) == ("Analysing", "results")
        self.total = total

    def advance(self, amount):
        self.done += amount


def test_a_report_tells_how_far_it_is(run):
    told = Told()

    show.gathered(run, show.Source((), "", "", ""), {}, progress=told)

    assert told.done == told.total > 5
