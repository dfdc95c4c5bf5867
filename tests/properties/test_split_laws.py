# ruff: noqa: RUF001 -- lengths of a grid have a sign of multiplication between them
"""A law of a split that is told is true, and one by which programs part ranks is found."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstline.structure.communicators import split_laws
from oracles import partners as oracle

NODES = [0, 0, 0, 2, 2, 2, 1, 1, 1, 1, 1, 1]
PLANTED = [
    ("all ranks", 6), ("same half", 10), ("same rank mod 2", 8), ("same row of 4 × 4", 16),
    ("same column of 4 × 4", 16), ("same row of 3 × 5", 15), ("same column of 5 × 3", 15),
    ("same rank div 3", 8), ("same rank mod 3", 7), ("same rank mod 4", 11),
    ("same j of 3 × 3 × 3", 27), ("same i, k of 2 × 3 × 4", 24),
    ("same j, l of 2 × 3 × 2 × 5", 60), ("same node", 12),
]  # fmt: skip
GRIDS = [
    (["same row of 2 × 4", "same column of 2 × 4"], 8),
    (["same row of 4 × 2", "same column of 4 × 2"], 8),
    (["same i of 3 × 4 × 2", "same j of 3 × 4 × 2", "same k of 3 × 4 × 2"], 24),
    (["same i, j of 2 × 2 × 2", "same i, k of 2 × 2 × 2", "same j, k of 2 × 2 × 2"], 8),
]


def arrays(parts):
    return [np.array(part, np.int64) for part in parts]


def law(parts, world, node=None):
    return split_laws([arrays(parts)], world, None if node is None else np.array(node))[0]


@pytest.mark.parametrize(("text", "world"), PLANTED)
def test_a_law_that_a_split_obeys_is_found_in_any_order_of_its_members(text, world):
    draw = random.Random(1)  # noqa: S311 -- no secret
    parts = oracle.split(text, world, NODES)
    draw.shuffle(parts)
    for part in parts:
        draw.shuffle(part)

    assert law(parts, world, NODES[:world] if text == "same node" else None) == text


@pytest.mark.parametrize(("text", "world"), [each for each in PLANTED if "all" not in each[0]])
def test_one_rank_in_another_communicator_obeys_none(text, world):
    parts = oracle.split(text, world, NODES)
    parts[0].append(parts[-1].pop())

    found = law([part for part in parts if part], world)

    assert found is None or oracle.split(found, world) == sorted(map(sorted, parts))
    assert found != text


@pytest.mark.parametrize(("texts", "world"), GRIDS)
def test_splits_along_each_dimension_tell_the_grid(texts, world):
    splits = [arrays(oracle.split(text, world)) for text in texts]

    assert split_laws(splits, world) == texts


def test_some_communicators_of_a_split_obey_its_law():
    assert law([[4, 5, 6, 7], [8, 9, 10, 11]], 16) == "same row of 4 × 4"


def test_a_communicator_of_ranks_that_are_none_has_no_law():
    assert split_laws([arrays([[0, 1], [2, 9]]), arrays([[0, 1], [2, 3]])], 4) == [
        None,
        "same half",
    ]


@given(world=st.integers(2, 12), data=st.data())
def test_what_is_told_holds_for_each_communicator(world, data):
    nodes = [data.draw(st.integers(0, 2)) for _ in range(world)]
    splits = []
    for _ in range(data.draw(st.integers(1, 3))):
        modulus, width = data.draw(st.integers(1, world)), data.draw(st.integers(1, world))
        of_rank = [rank // width % modulus for rank in range(world)]
        parts = [[r for r in range(world) if of_rank[r] == k] for k in sorted(set(of_rank))]
        splits.append(data.draw(st.lists(st.sampled_from(parts), min_size=1, unique_by=id)))

    laws = split_laws([arrays(split) for split in splits], world, np.array(nodes))

    for split, text in zip(splits, laws, strict=True):
        if text is not None:
            told = oracle.split(text, world, nodes)
            assert all(sorted(part) in told for part in split)
