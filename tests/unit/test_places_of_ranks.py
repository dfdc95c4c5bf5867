"""Where ranks ran: the node that all slow ones are on, and bindings that changed."""

from __future__ import annotations

import pytest

import burstline
from burstline.answers import verdict_on_waits
from burstline.comparison import compare
from burstline.comparison import verdict as verdict_on_change
from burstline.testing import trace_of
from verdicts import MS, verdict

PATH = "path 0 main file solver.c line 42"


def on_nodes(works, nodes, *, placed=(), steps=25):
    """Ranks that compute in each step and meet, each on a node, ms of 100."""
    lines = [f"ranks {len(works)}", PATH, *placed]
    lines += [f'location {rank}.0 node "{node}"' for rank, node in enumerate(nodes)]
    for rank, work in enumerate(works):
        parts = [f"0 enter MPI_Init path 0 | {MS} leave"]
        for step in range(steps):
            begin, end = (1 + step * 100 + work) * MS, (101 + step * 100) * MS
            parts.append(f"{begin} enter MPI_Barrier path 0 | {begin} begin | {end} end")
            parts.append(f"{end} leave")
        end = (1 + steps * 100) * MS
        parts.append(f"{end} enter MPI_Finalize path 0 | {end + MS} leave")
        lines.append(f"{rank} | " + " | ".join(parts))
    return trace_of("\n".join(lines))


def cause_of(trace):
    run = burstline.open(trace)
    return verdict(run.waits())[-1]


@pytest.mark.parametrize(
    ("works", "nodes", "sockets", "said"),
    [
        ((20, 20, 90, 91), "aabb", "", "node b"),
        ((20, 20, 90, 91), "abab", "", ""),  # slow ranks are on both
        ((20, 20, 20, 91), "aabb", "", ""),  # one rank of the node is fast
        ((20, 20, 90, 91), "aaaa", "", ""),  # there is no other node
        ((20, 20, 20, 90, 91), "aabbb", "", ""),  # neither are all of the node
        ((20, 20, 20, 91), "aaab", "", ""),  # one rank is no pattern
        ((88, 90, 90, 91), "aabb", "", ""),  # nobody is slow
        ((20, 20, 90, 91), "aaaa", "0011", "socket 1 of node a"),
        ((20, 20, 20, 20, 90, 91), "aaaabb", "001101", "node b"),  # all of it
        ((20, 20, 20, 20, 90, 91), "aabbbb", "010011", "socket 1 of node b"),
        ((20, 20, 90, 91), "aaaa", "0101", ""),
        ((20, 20, 20, 91), "aaaa", "0011", ""),
        ((20, 20, 90, 91), "aaaa", ("0", "0", "1", "0-1"), ""),  # one was on both
        ((20, 20, 90, 91), "aaaa", "001", ""),  # where one was is not known
    ],
)
def test_a_node_or_socket_is_named_whose_ranks_are_the_slow_ones(works, nodes, sockets, said):
    placed = [
        f'row placements location {rank} sockets "{socket}"'
        for rank, socket in enumerate(sockets)
    ]

    cause = cause_of(on_nodes(works, nodes, placed=placed))

    told = "All 2 slow ranks, and no others, are on"
    assert (told in cause) is bool(said)
    assert ("on node" in cause) is said.startswith("node")
    assert not said or f"{told} {said}" in cause


def bound_to(part, launcher="Slurm"):
    return on_nodes(
        (20, 90),
        "ab",
        placed=[
            *(f"row placements location {k} allowed 0-3 bound_to {part}" for k in range(2)),
            f'meta launcher "{launcher}"',
        ],
    )


def test_a_binding_that_changed_is_told_with_both_runs():
    profiles = [
        burstline.wait_states(bound_to(part)).profile for part in ("socket", "core", "core")
    ]

    changed = verdict_on_change(compare([profiles[0]], [profiles[1]], names=("A", "B")))
    same = verdict_on_change(compare([profiles[1]], [profiles[2]], names=("A", "B")))

    assert profiles[0].attributes["binding"] == "socket"
    assert "changed" not in same
    assert changed.endswith("J is 1. Binding changed from socket to core between A and B.")


@pytest.mark.parametrize(
    ("allowed", "threads", "figure", "passed"),
    [
        (["0-1", "0-1"], 2, 1, True),
        (["3", "3"], 2, 0.5, False),
        (["0-7", "0-7", "2", "2"], 4, 0.5, False),
        (["0-1", "0-1", "0-1"], 3, 2 / 3, False),
        (["0-1", "five", "0-1"], 3, 1, True),
    ],
)
def test_who_may_use_few_processors_is_inferred_to_share_them(allowed, threads, figure, passed):
    placed = [f'row placements location {k} allowed "{each}"' for k, each in enumerate(allowed)]
    run = burstline.open(on_nodes([50] * threads, "a" * threads, placed=placed))

    check = run.verdict().checks[2]

    assert (check.passed, check.inferred) == (passed, True)
    assert check.figure == pytest.approx(figure)
    said = run.verdict().sentences[0].sentence
    assert ("inferred from those that they may use" in said) is not passed


def test_a_verdict_on_a_run_names_the_slow_node_and_processors_of_other_nodes_are_others():
    run = burstline.open(on_nodes((20, 20, 90, 91), "aabb"))
    [waits] = [each for each in run.verdict().sentences if each.question == "waits"]
    assert "; all 2 slow ranks, and no others, are on node b." in waits.sentence

    placed = [f"row placements location {k} allowed 0" for k in range(2)]
    run = burstline.open(on_nodes((50, 50), "ab", placed=placed))
    assert run.verdict().checks[2].passed


def test_a_cause_is_told_with_doubt_where_sharing_is_only_inferred():
    placed = [f"row placements location {k} allowed 3" for k in range(2)]

    cause = cause_of(on_nodes((90, 20), "aa", placed=placed))
    run = burstline.open(on_nodes((90, 20), "aa", placed=placed))
    waits = run.waits()
    judged, told, *_ = verdict_on_waits(waits, run.checks(waits))

    assert "inferred from those that they may use" in judged.sentence
    assert told.sentence.startswith("Rank 0 causes most of the largest wait")
    assert "As processors were probably shared, a part of it may be the machine's." in (
        told.sentence
    )
    assert "Look there first." in cause  # without the checks
