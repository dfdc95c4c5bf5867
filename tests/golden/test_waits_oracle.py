"""Every event list -> Trace -> event list is the identity.

The folder ``oracle`` holds the event lists of the wait-state oracle in the text form,
one file per case, as :func:`text_form.render` writes them.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from burstline.identity import call_tree
from burstline.model import schema
from burstline.testing import assert_same_trace, trace_of
from golden.oracle_events import as_case, as_text
from text_form import render

FILES = sorted((Path(__file__).parent / "oracle").glob("*.txt"))


def stripped(lines):
    """Give what happens, as the file says it: locations, times and words."""
    return [
        line.split()
        for line in lines
        if not line.startswith(("region", "ranks", "location", "meta"))
    ]


@pytest.fixture(params=FILES, ids=lambda file: file.stem)
def golden(request):
    return request.param.read_text()


def test_all_cases_are_here():
    assert len(FILES) == 32


def test_an_event_list_becomes_a_trace_and_comes_back(golden):
    trace = trace_of(golden)

    case = as_case(trace)

    again = trace_of(as_text(case))
    assert as_case(again) == case
    assert_same_trace(trace, again)
    number = sum(len(words) > 1 for words in stripped(golden.splitlines()))
    assert len(case["events"]) == number


def test_the_text_of_a_trace_is_the_text_it_came_from(golden):
    assert render(trace_of(golden)) == golden


def test_every_table_of_an_event_list_keeps_the_schema(golden):
    trace = trace_of(golden)

    for name in schema.TABLES:
        schema.check(name, trace.table(name))


def test_no_event_list_has_a_defect(golden):
    assert trace_of(golden).defects.num_rows == 0


def test_the_golden_files_hold_the_oracles_own_event_lists(spec_folder):
    cases = json.loads((spec_folder / "waits-oracle.json").read_text())["cases"]

    assert [case["name"] for case in cases] == sorted(
        (file.stem for file in FILES), key=[case["name"] for case in cases].index
    )
    for case in cases:
        trace = trace_of(as_text(case))
        names = "ranks", "threads", "regions", "events"
        assert as_case(trace) == {name: case[name] for name in names}
        assert render(trace) == FILES[0].with_name(f"{case['name']}.txt").read_text()


def test_every_call_path_of_the_oracle_is_in_the_call_tree(spec_folder):
    for case in json.loads((spec_folder / "waits-oracle.json").read_text())["cases"]:
        tree = call_tree(trace_of(as_text(case)))
        paths: list[str] = []
        for row in tree.nodes.to_pylist():
            above = paths[row["parent"]] if row["parent"] else ""
            paths.append(f"{above}/{row['function']}".lstrip("/") if paths else "")

        told = {path for kind in ("scout26", "remapped") for _, _, path, _ in case[kind]}
        assert told <= {*paths[1:]}
        assert len(told) > 1
