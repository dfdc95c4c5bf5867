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

LISTINGS = sorted((Path(__file__).parent / "listings").glob("*.txt"))


RECORDED = Path(__file__).parent / "recorded"


@pytest.fixture(scope="module", params=LISTINGS, ids=[path.stem for path in LISTINGS])
def listing(request):
    name = f"{request.param.stem}.prv.gz"
    recorded = (RECORDED / name).exists()
    folder = RECORDED if recorded else request.getfixturevalue("real_traces")
    return request.param, burstline.detect(burstline.read(folder / name, raw=False))


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
