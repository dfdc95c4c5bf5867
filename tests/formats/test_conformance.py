"""Every story reads as the same trace from every format, but for what a format cannot say."""

from __future__ import annotations

from fnmatch import fnmatch

import pytest

import burstline
from burstline.model import schema
from burstline.testing import assert_same_trace
from stories import FORMATS, STORIES

OF_A_FORMAT = {"metadata", "source", *schema.RAW_TABLES, "event_types", "event_values"}
"""Tables that say how a file put it, not what happened."""
ORDINALS = {"*.*seq": "each format counts the events that it has"}
NUMBERS = {"messages.send_done_from": "the text infers what others record"}
PLACES = {"locations.node": "a node without a name is given one"}
COUNTERS = {"counter_sets": "sets of counters follow from what is read together"}
REGIONS = {
    "region_defs*": "regions are those that occur, numbered anew",
    "regions.region": "see region_defs",
}
TEAMS = {"regions.team": "a parallel region is in the team that it forks"}
LINES = {"defects.first": "a text has a line where others have a location"}
ITERATIONS = {"*.iterations": "how many iterations a thread has is not told"}
PRV = {
    **ORDINALS,
    **NUMBERS,
    **PLACES,
    **COUNTERS,
    **REGIONS,
    **TEAMS,
    **ITERATIONS,
    "locations.cpu": "each thread is given a CPU",
    "communicators.kind": "a group of all ranks is the world, one of one rank its own",
    "counters.*": "counters are in the order of their types",
    "gaps": "a thread that begins late was not watched before",
    "*.communicator": "a message names no communicator",
    "calls.peer": "only messages name a partner, not probes and transfers",
    "calls.tag": "see calls.peer",
    "half_messages": "a message has two sides",
    "defects*": "see half_messages; that a rank has no MPI_Finalize is all it tells of an end",
    "calls.*_bytes": "see half_messages",
    "messages.*_request": "requests have no record",
    "messages.send_done_*": "see messages.*_request",
    "messages.post_ns": "an immediate receive is posted when its call is left",
    "messages.send_leave_ns": "MPI_Sendrecv has sent when it is entered",
    "collective_members.done_call": "what runs in the background ends when begun",
    "collective_members.end_ns": "see collective_members.done_call",
}
LIMITS: dict[str, dict[str, str]] = {
    "txt": {},
    "store": {},
    "csv": {},
    "parquet": {},
    "prv": PRV,
    "prv.gz": PRV,
    "otf2": {
        **ORDINALS,
        **NUMBERS,
        **PLACES,
        "locations.name": "a name is that of a process and of its thread",
        **REGIONS,
        **ITERATIONS,
        **LINES,
        "call_paths*": "the caller of a call is the region around it",
        "*.call_path": "see call_paths",
        "calls.peer": "only messages name a partner, not probes and transfers",
        "calls.tag": "see calls.peer",
        "calls.*_bytes": "see calls.peer",
    },
    "raw": {
        **ORDINALS,
        **NUMBERS,
        **PLACES,
        **COUNTERS,
        **REGIONS,
        **TEAMS,
        **LINES,
        "readings.*": "the first reading of a thread is what later ones count from",
        "locations.born_ns": "all processes begin with their files",
        "calls.communicator": "probes, transfers and posted receives name theirs",
        "half_messages.*": "see calls.communicator; what one call completes has one ordinal",
        "call_paths*": "paths are addresses, which programs resolve",
        "*.call_path": "see call_paths",
    },
}
"""What each format says otherwise, or not at all, and why."""


def differences(found, expected):
    """Name each column of two traces that differs, and each table with other rows."""
    for name in schema.TABLES:
        schema.check(name, found.table(name))
        if name in OF_A_FORMAT:
            continue
        one, other = found.table(name), expected.table(name)
        if one.num_rows != other.num_rows:
            yield name
            continue
        for column in other.column_names:
            if one[column].to_pylist() != other[column].to_pylist():
                yield f"{name}.{column}"


def limits_of(form, name):
    return [pattern for pattern in LIMITS[form] if fnmatch(name, pattern)]


@pytest.mark.parametrize("form", FORMATS)
def test_every_story_comes_back_but_for_what_the_format_cannot_say(tmp_path, form):
    needed = set()
    for story in STORIES:
        for name in differences(story.read(tmp_path, form), story.trace):
            assert limits_of(form, name), f"{story.name}: {name}"
            needed.update(limits_of(form, name))
    assert needed == set(LIMITS[form])


@pytest.mark.parametrize("source", ["prv", "otf2", "raw"])
@pytest.mark.parametrize("story", STORIES, ids=[story.name for story in STORIES])
def test_what_was_read_is_the_same_from_a_store(tmp_path, story, source):
    for name in ("in", "out"):
        (tmp_path / name).mkdir()
    trace = story.read(tmp_path / "in", source)

    burstline.write(trace, tmp_path / "out" / "run.store")

    again = burstline.read(tmp_path / "out" / "run.store")
    assert_same_trace(again, trace, tables=set(schema.TABLES) - {"metadata"})
