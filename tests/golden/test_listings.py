"""Programs as they are written in their sources: what `structure` prints of real traces.

Each listing was checked by hand against the source of its program. `BURSTLINE_PAGES=write`
writes them anew.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import burstline
from burstline.show.code_lines import pseudocode
from burstline.structure import Call, walk

HERE = Path(__file__).parent


def listings():
    """Each listing and the folder of its trace, or the fixture that gives the folder."""
    for path in sorted((HERE / "listings").glob("*.txt")):
        if (HERE / "recorded" / f"{path.stem}.prv.gz").exists():
            yield pytest.param((path, HERE / "recorded"), id=path.stem)
        else:
            needs = pytest.mark.needs("real_traces")
            yield pytest.param((path, None), id=path.stem, marks=needs)


@pytest.fixture(scope="module", params=listings())
def listing(request):
    path, folder = request.param
    trace = (folder or request.getfixturevalue("real_traces")) / f"{path.stem}.prv.gz"
    return path, burstline.detect(burstline.read(trace, raw=False))


def test_a_program_is_listed_as_in_its_source(listing):
    path, found = listing
    lines = [
        f"{line.file:<24.24} {line.line:>5}  {'  ' * line.depth}{line.text.partition('  #')[0]}"
        for line in pseudocode(found)
    ]
    text = "".join(f"{line.rstrip()}\n" for line in lines)

    if os.environ.get("BURSTLINE_PAGES") == "write":
        path.write_text(text, encoding="utf-8")
    else:
        assert text == path.read_text(encoding="utf-8")


def test_nothing_is_lost_and_few_nodes_say_it(listing):
    path, found = listing

    printed = sum(isinstance(item, Call) for item, _ in walk(found.items))
    assert found.fidelity == 1.0
    assert found.nodes <= 1.6 * printed
    assert found.conditions.unexplained <= UNEXPLAINED.get(path.stem, 0)


UNEXPLAINED: dict[str, int] = {}
"""Conditions that depend on data of the program, or on time."""
