# ruff: noqa: RUF001 -- lengths of a grid have a sign of multiplication between them
"""A law of partners that is told is true, and one that programs obey is found."""

from __future__ import annotations

import random
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstline.structure.partner_laws import grid_law, law_of_messages
from burstline.structure.sequences import Messages
from oracles import partners as oracle
from partner_sequences import sequences_of

PLANTED = [
    ("rank+3", 16), ("rank-1", 9), ("(rank+1)%8", 8), ("(rank-2)%7", 7), ("rank xor 3", 8),
    ("10-rank", 11), ("transpose of 4 × 4", 16), ("transpose of 3 × 5", 15),
    ("transpose of 3 × 3 pairs", 18), ("(0, +1) in 3 × 5, periodic", 15),
    ("(+1, 0, -1) in 3 × 4 × 3, periodic", 36), ("root 2", 6), ("rank±1", 9), ("rank±4", 12),
    ("(rank±1)%9", 9), ("all others", 6), ("neighbours in 3 × 4", 12),
    ("neighbours in 4 × 5, periodic", 20), ("neighbours in 3 × 3 × 3, with diagonals", 27),
    ("neighbours in 4 × 3 × 3, periodic", 36), ("neighbours in 2 × 3 × 2 × 3", 36),
    ("rank xor 2^i, i = 0..3", 16), ("rank xor 2^i, i = 2..0", 8),
    ("(rank+2^i)%11, i = 0..3", 11), ("rank xor k, k = 1..7", 8),
    ("(rank+k)%9, k = 2, 5, 3", 9),
]  # fmt: skip
ROUNDS = 6


def messages_of(text, world, draw):
    """Give the messages of a law, those of a round in any order."""
    found = []
    for rank in range(world):
        turn = 0
        for _ in range(ROUNDS * 8):
            expected = [p for p in oracle.partners(text, rank, world, turn) if 0 <= p < world]
            draw.shuffle(expected)
            found += [(rank, partner) for partner in expected]
            turn += len(expected)
    return found


def law(messages, world):
    caller, partner = np.array(messages, np.int64).reshape(-1, 2).T
    if not len(caller):
        return None
    return law_of_messages(Messages(*sequences_of(caller, partner, world), world))


@pytest.mark.parametrize(("text", "world"), PLANTED)
def test_a_law_that_all_messages_obey_is_found(text, world):
    messages = messages_of(text, world, random.Random(1))  # noqa: S311 -- no secret

    assert law(messages, world) == (text, 1.0)


@pytest.mark.parametrize(("text", "world"), PLANTED)
@pytest.mark.parametrize(("wrong", "is_told"), [(0.004, True), (0.2, False)])
def test_some_messages_elsewhere_are_not_explained(text, world, wrong, is_told):
    draw = random.Random(2)  # noqa: S311 -- no secret
    messages = messages_of(text, world, draw)
    for k in range(0, len(messages), round(1 / wrong)):
        others = set(range(world)) - {messages[k][1], messages[k][0]}
        messages[k] = messages[k][0], draw.choice(sorted(others))

    found = law(messages, world)

    assert (found is not None) == is_told
    if found is not None:
        assert found.text == text
        assert found.share == pytest.approx(oracle.share(text, messages, world), abs=0.01)
        assert found.share < 1


@pytest.mark.parametrize("seed", range(40))
def test_partners_by_chance_follow_no_law(seed):
    draw = random.Random(seed)  # noqa: S311 -- no secret
    world = draw.choice([6, 8, 16, 27])
    messages = [
        (rank, draw.choice([each for each in range(world) if each != rank]))
        for rank in range(world)
        for _ in range(draw.choice([5, 40, 400]))
    ]

    assert law(messages, world) is None


@given(
    world=st.integers(2, 9),
    pairs=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=30),
)
def test_what_is_told_holds_for_the_messages(world, pairs):
    messages = [(caller % world, partner % world) for caller, partner in pairs]

    found = law(messages, world)

    if found is not None:
        assert found.share >= 0.99
        assert found.share == oracle.share(found.text, messages, world)


@pytest.mark.parametrize(
    ("text", "world"), [each for each in PLANTED if each[0].startswith("neighbours")]
)
def test_the_grid_of_all_messages_is_found_whatever_calls_send_them(text, world):
    messages = messages_of(text, world, random.Random(3))  # noqa: S311 -- no secret
    caller, partner = np.array(messages).T

    assert grid_law(caller, partner, world) == (text, 1.0)
    assert grid_law(caller[caller > 0], partner[caller > 0], world) is None


def test_few_messages_among_a_claimed_million_of_ranks_take_little_memory():
    sender = np.array([0, 1])

    tracemalloc.start()
    law = grid_law(sender, sender[::-1], 1_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert law is None
    assert peak < 100_000
