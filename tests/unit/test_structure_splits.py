# ruff: noqa: RUF001 -- lengths of a grid have a sign of multiplication between them
"""Calls on the communicators of a split stand once, with who is in them."""

from __future__ import annotations

import random

import pytest

from burstline.show.code_lines import pseudocode
from burstline.structure import detect, points
from burstline.testing import trace_of

WORLD = 12
ROWS = [list(range(4 * row, 4 * row + 4)) for row in range(3)]
COLUMNS = [list(range(column, WORLD, 4)) for column in range(4)]


def split_program(splits, *, paths=True, declared=None, nodes=None, roots=None):
    """Give a program of five iterations, each with a collective on each of the splits.

    For each communicator of a split, `roots` tells its member that is the root: in turn those
    of a text of digits.
    """
    number = {}
    for part in declared or [part for split in splits for part in split]:
        number[tuple(part)] = len(number) + 1
    lines = [f"ranks {WORLD}"]
    lines += [f"location {rank}.0 node {name}" for rank, name in enumerate(nodes or ())]
    lines += [f"communicator {k} members {' '.join(map(str, m))}" for m, k in number.items()]
    lines += [f"path {k} main file a.c line {k + 3}" for k in range(len(splits) * paths)]
    for rank in range(WORLD):
        lines.append(str(rank))
        time = 0
        for turn in range(5):
            for k, split in enumerate(splits):
                for place, part in enumerate(split):
                    if rank not in part:
                        continue
                    called = "MPI_Bcast" if roots else "MPI_Ibarrier"
                    called += f" path {k}" if paths else ""
                    called += f" comm {number[tuple(part)]}"
                    if roots and part[int(roots[place][turn % len(roots[place])])] == rank:
                        called += f" root {rank}"
                    lines.append(f"{time} enter {called}")
                    lines.append(f"{time + 2} leave")
                    time += 9
    return trace_of("\n".join(lines))


def listed(trace, method="exact"):
    return [line.text for line in pseudocode(detect(trace, method=method)) if line.item]


@pytest.mark.parametrize("method", ["exact", "seed", "auto"])
@pytest.mark.parametrize("paths", [True, False])
def test_a_split_is_one_line_with_its_law(method, paths):
    _, *calls = listed(split_program([ROWS, COLUMNS], paths=paths), method)

    assert calls == [
        "MPI_Ibarrier(3 communicators of 4 ranks: same row of 3 × 4)",
        "MPI_Ibarrier(4 communicators of 3 ranks: same column of 3 × 4)",
    ]


def test_communicators_of_splits_are_told_apart_in_any_order_of_the_trace():
    mixed = [part for pair in zip(ROWS, COLUMNS, strict=False) for part in pair]
    mixed += COLUMNS[3:]

    assert listed(split_program([ROWS, COLUMNS], paths=False, declared=mixed)) == listed(
        split_program([ROWS, COLUMNS], paths=True)
    )


def test_without_paths_communicators_that_leave_ranks_out_are_calls_of_their_own():
    _, *calls = listed(split_program([[[0, 1], [4, 5, 6]]], paths=False))

    assert {text for text in calls if "MPI" in text} == {"MPI_Ibarrier(2)", "MPI_Ibarrier(3)"}


@pytest.mark.parametrize(
    ("parts", "nodes", "said"),
    [
        ([[0, 1, 5], [2, 3, 4, 7, 9], [6, 8, 10, 11]], None, "3 communicators of 3..5 ranks"),
        (
            [list(range(5)), list(range(5, 12))],
            ["a"] * 5 + ["b"] * 7,
            "2 communicators of 5..7 ranks: same node",
        ),
    ],
    ids=["no law", "named after nodes"],
)
def test_a_split_tells_how_many_and_how_large_they_are_and_its_law(parts, nodes, said):
    assert listed(split_program([parts], nodes=nodes))[1] == f"MPI_Ibarrier({said})"
    # one communicator is named and not counted
    (call,) = detect(split_program([[list(range(WORLD))]])).as_dict()["loops"][0]["calls"]
    assert (call["communicator"], call["communicator_count"]) == ("2", 0)
    assert (call["communicators"], call["communicator_law"]) == ([], None)


def test_the_plane_of_a_program_without_paths_knows_the_loop_of_a_split():
    trace = split_program([ROWS, COLUMNS], paths=False)

    plane = points(trace, detect(trace, method="exact"))

    assert set(plane.loop.tolist()) == {1}


UNEQUAL = [[0, 1, 2], [3, 4, 5, 6], [7, 8, 9, 10, 11]]


@pytest.mark.parametrize(
    ("split", "roots", "law", "said"),
    [
        (ROWS, "000", "first of each", ""),
        (ROWS, "333", "last of each", ""),
        (UNEQUAL, "234", "last of each", ""),
        (UNEQUAL, "222", "rank 2 of each", ""),
        # the order of the members is that of their communicator
        ([[3, 1, 0, 2], [4, 6, 7, 5], [9, 8, 11, 10]], "000", "first of each", ""),
        # a rank is in several of them
        ([[0, 1, 2], [2, 3, 4], [4, 5, 0]], "000", "first of each", ""),
        (ROWS, "012", None, "0..10 by 5"),  # another place in each
        (ROWS, ["01"] * 3, None, "0, 1, 4, 5, 8, 9"),  # in turn
        (ROWS, "033", None, "0, 7, 11"),  # the first of one, the last of others
    ],
)
def test_the_root_of_a_call_on_a_split_has_a_law_or_is_listed(split, roots, law, said):
    found = detect(split_program([split], roots=roots), method="exact")

    (call,) = found.as_dict()["loops"][0]["calls"]
    (text,) = [line.text for line in pseudocode(found) if line.kind == "call"]
    assert call["root_law"] == law
    assert text.endswith(f", root {law or said})")


@pytest.mark.parametrize("seed", range(8))
def test_communicators_are_those_of_the_calls_whatever_the_split(seed):
    draw = random.Random(seed)  # noqa: S311 -- no secret
    parts = [[] for _ in range(draw.randint(2, 6))]
    for rank in range(WORLD):
        draw.choice(parts).append(rank)
    split = [part for part in parts if part]

    found = detect(split_program([ROWS, split]), method="exact").as_dict()

    rows, drawn = found["loops"][0]["calls"]
    assert rows["communicators"] == ROWS
    assert drawn["communicators"] == (split if len(split) > 1 else [])
    assert drawn["communicator_count"] == (len(split) if len(split) > 1 else 0)


def test_members_that_are_too_many_to_list_are_counted():
    ranks = 1026
    declared = [
        f"communicator {k + 1} members {' '.join(map(str, range(513 * k, 513 * k + 513)))}"
        for k in range(2)
    ]
    calls = [
        f"{rank} | 1 enter MPI_Ibarrier path 0 comm {1 + rank // 513} | 2 leave"
        for rank in range(ranks)
    ]
    program = f"ranks {ranks} | {' | '.join(declared)} | path 0 main file a.c line 3"

    (call,) = detect(trace_of(" | ".join([program, *calls])), method="exact").outside

    assert (call.communicators.members, call.communicators.sizes) == (None, (513, 513))
    assert call.as_dict()["communicators"] is None
    assert call.as_dict()["communicator_law"] == "same half"


@pytest.mark.parametrize(("send", "law"), [("", "all others"), (" to 1 tag 1", None)])
def test_a_program_without_messages_exchanges_by_its_collectives(send, law):
    calls = " | ".join(
        f"{9 * k} enter MPI_Alltoall path 0 comm 0 | {9 * k + 2} leave" for k in range(5)
    )
    program = f"ranks 2 | path 0 main file a.c line 3 | 0 | {calls} | 50 enter MPI_Send"
    message = f" | 50 send{send} bytes 8 | 52 leave" if send else " | 52 leave"
    received = " | 50 enter MPI_Recv | 51 receive from 0 tag 1 | 52 leave" if send else ""

    found = detect(trace_of(f"{program}{message} | 1 | {calls}{received}"), method="exact")

    (call,) = found.as_dict()["loops"][0]["calls"]
    assert (call["peer_law"], call["peer_count"]) == (law, 0)
    assert call["peer_law_share"] == (law and 1.0)
