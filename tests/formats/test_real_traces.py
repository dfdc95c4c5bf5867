"""Every real trace at hand reads, and holds what its manifest or a plain count says."""

from __future__ import annotations

import gzip
import re
from collections import Counter

import pytest

import burstline
from burstline.model import schema

MPI_TYPES = {f"5000000{k}" for k in range(1, 6)}
_ROW = re.compile(r"^\| (\w+) \|[^|]*\| *\d+ *\|" + r" *(\d+) *\|" * 5)


def every_trace(folder):
    return sorted(
        [*folder.glob("*.prv.gz"), *folder.glob("*.prv"), *folder.glob("fixtures/*.prv")]
    )


def manifest(folder):
    """Give how many states, communications and calls the manifest counts in each file.

    Events are left out: it counts lines of two traces that are not in them.
    """
    text = (folder / "MANIFEST.md").read_text(encoding="utf-8")
    rows = [match.groups() for line in text.splitlines() if (match := _ROW.match(line))]
    return {
        f"{name}.prv.gz": (int(states), int(communications), int(calls))
        for name, _, states, _, communications, calls in rows
    }


def counted(path):
    opener = gzip.open if path.suffix == ".gz" else open
    kinds, calls = Counter(), 0
    with opener(path, "rt", encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            kinds[line[0]] += 1
            if line[0] == "2":
                pairs = line.split(":")[6:]
                calls += sum(
                    kind in MPI_TYPES and int(value) != 0
                    for kind, value in zip(pairs[::2], pairs[1::2], strict=True)
                )
    return kinds["1"], kinds["2"], kinds["3"], calls


def test_every_record_is_read_and_every_message_has_its_calls(real_traces):
    listed = manifest(real_traces)
    assert len(listed) > 20
    for path in every_trace(real_traces):
        trace = burstline.read(path)
        facts = trace.metadata
        links = trace.links.num_rows
        found = [
            int(facts[f"records_{kind}"]) for kind in ("states", "events", "communications")
        ]

        ours = (*found, trace.calls.num_rows)
        assert ours == counted(path), path.name
        states, _, *others = ours
        assert listed.get(path.name, (states, *others)) == (states, *others), path.name
        assert trace.messages.num_rows + links == found[2], path.name
        for column in ("send_call", "post_call", "receive_call"):
            assert trace.messages[column].null_count == 0, path.name
        for name in schema.TABLES:
            schema.check(name, trace.table(name))


@pytest.mark.parametrize("name", ["lulesh_8r_s4_i10_run1", "lulesh_8r_s4_i10_pie_aslr"])
def test_call_paths_are_told_apart_by_label_not_by_id(real_traces, name):
    trace = burstline.read(real_traces / f"{name}.prv.gz")
    paths = trace.call_paths.to_pylist()
    places = [(row["parent"], row["function"], row["file"], row["line"]) for row in paths]

    assert len(set(places)) == len(places)
    assert any(row["file"] == "lulesh.cc" and row["line"] == 2732 for row in paths)
