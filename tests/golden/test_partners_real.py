# ruff: noqa: RUF001 -- lengths of a grid have a sign of multiplication between them
"""Partners of calls in real traces are those of their messages, their laws the source's."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

import burstline
from burstline.structure import Call, detect, walk

RECORDINGS = Path(__file__).parents[1] / "recordings"


def partners_by_hand(trace, application=0):
    """Give the partners by operation and line, counted from the messages of an application."""
    locations = trace.locations.to_pylist()
    rank = [row["rank"] for row in locations]
    is_own = [row["application"] == application for row in locations]
    calls = {
        (call["location"], call["call"]): call
        for call in trace.calls.to_pylist()
        if is_own[call["location"]]
    }
    frames = trace.call_paths.to_pylist()
    found, with_message = defaultdict(set), set()

    def place(call):
        path = call["call_path"]
        return call["operation"], None if path is None else frames[path]["line"]

    for message in trace.messages.to_pylist():
        sender, receiver = message["sender_location"], message["receiver_location"]
        for here, there, call in (
            (sender, receiver, message["send_call"]),
            (receiver, sender, message["post_call"]),
        ):
            made = calls.get((here, call))
            if made is not None and is_own[there]:
                found[place(made)].add(rank[there])
                with_message.add((here, call))
    for key, made in calls.items():
        if made["peer"] is not None and key not in with_message:  # as a probe names one
            found[place(made)].add(made["peer"])
    return dict(found)


def partners_found(structure):
    found = defaultdict(set)
    for item, _ in walk(structure.items):
        if isinstance(item, Call) and item.partners.count:
            assert item.partners.count == len(item.partners.ranks)
            found[item.operation, item.caller and item.caller.line].update(item.partners.ranks)
    return dict(found)


def every_trace(folder):
    """Give all traces in a folder and below; of one both packed and plain, the plain."""
    plain = set(folder.rglob("*.prv"))
    packed = [path for path in folder.rglob("*.prv.gz") if path.with_suffix("") not in plain]
    return sorted([*plain, *packed, *folder.rglob("*.otf2")])


def test_partners_are_those_of_the_messages_of_every_trace(real_traces):
    suffixes, with_partners = set(), 0
    for path in every_trace(real_traces):
        trace = burstline.read(path, raw=False)
        application = [row["application"] for row in trace.locations.to_pylist()]
        calling = {application[call["location"]] for call in trace.calls.to_pylist()}
        for each in sorted(calling):
            found = partners_found(detect(trace, method="exact", application=each))

            assert found == partners_by_hand(trace, each), (path, each)
            with_partners += bool(found)
        suffixes.add(path.suffix)
    assert suffixes == {".prv", ".gz", ".otf2"}
    assert with_partners > 30


@pytest.mark.parametrize("name", ["ring", "corners", "four", "two_nodes", "threads"])
def test_partners_are_those_of_the_messages_of_our_recordings(name):
    trace = burstline.read(RECORDINGS / name)
    by_hand = partners_by_hand(trace)

    assert partners_found(detect(trace, method="exact")) == by_hand


LAWS = {
    "npb_cg_S_8r": {
        "rank xor 2^i, i = 0..1",
        "rank xor 2^i, i = 1..0",
        "transpose of 2 × 2 pairs",
    },
    "npb_cg_S_4r_run1": {"rank xor 1", "transpose of 2 × 2"},
    "npb_sp_S_4r": {"rank xor 1", "(rank+2)%4", "rank xor 3"},
    "npb_mg_S_8r": {"rank xor 1", "rank xor 2", "(rank+4)%8", "rank xor 2^i, i = 0..2"},
    "npb_lu_S_4r": {"rank+1", "rank-1", "rank+2", "rank-2"},
    "minife_nx12_8r": {"all others"},
    "npb_ft_S_4r": {"all others"},  # of MPI_Alltoall; there are no messages
    "toy_irregular_run1": set(),
    "toy_t1_nested2": {"to (rank+1)%4, from (rank-1)%4"},
}


@pytest.mark.parametrize("name", LAWS)
def test_laws_are_those_of_the_source(real_traces, name):
    found = detect(burstline.read(real_traces / f"{name}.prv.gz", raw=False), method="exact")
    laws = [item.partners.law for item, _ in walk(found.items) if isinstance(item, Call)]

    assert LAWS[name] == {law.text for law in laws if law is not None}
    assert {law.share for law in laws if law is not None} <= {1.0}


@pytest.mark.parametrize(
    ("name", "grid"),
    [
        ("lulesh_27r_s4_i30", ("neighbours in 3 × 3 × 3, with diagonals", 1.0)),
        ("npb_lu_S_4r", ("neighbours in 2 × 2", 1.0)),
        ("npb_mg_S_8r", ("neighbours in 2 × 2 × 2", 1.0)),
        ("toy_irregular_run1", None),
        ("npb_ft_S_4r", None),
    ],
)
def test_the_grid_of_the_ranks_is_that_of_the_source(real_traces, name, grid):
    trace = burstline.read(real_traces / f"{name}.prv.gz", raw=False)

    assert detect(trace, method="exact").grid == grid
