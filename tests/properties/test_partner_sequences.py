"""Messages are the same whether ranks share their sequences or each has its own."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from burstline.structure.sequences import Messages, Sequences
from partner_sequences import sequences_of

WORLD = 6
ENDS = st.tuples(st.integers(0, WORLD - 1), st.integers(0, WORLD - 1))
MESSAGES = st.lists(ENDS, min_size=1, max_size=40)


def ends_of(messages):
    return np.array(messages, np.int64).reshape(-1, 2).T


def sent_by(sequences, ranks, numbers):
    """Give the partners of each rank in order, those of its sequences one after the other."""
    found = {}
    for rank, number in zip(ranks.tolist(), numbers.tolist(), strict=True):
        own = sequences.chosen(np.array([number]))
        ahead = np.repeat(own.ahead, own.times)
        found.setdefault(rank, []).extend(((rank + ahead) % WORLD).tolist())
    return found


@given(MESSAGES)
def test_sequences_hold_the_messages_of_each_rank_in_order(messages):
    caller, partner = ends_of(messages)

    sequences, ranks, numbers = sequences_of(caller, partner, WORLD)

    expected = {rank: partner[caller == rank].tolist() for rank in np.unique(caller).tolist()}
    assert sent_by(sequences, ranks, numbers) == expected
    distinct = {
        (own.ahead.tobytes(), own.times.tobytes())
        for own in (sequences.chosen(np.array([number])) for number in set(numbers.tolist()))
    }
    assert len(distinct) == len(sequences.begin) - 1


@given(st.lists(MESSAGES, min_size=1, max_size=3))
def test_messages_of_parts_are_those_of_all(parts):
    made = [sequences_of(*ends_of(part), WORLD) for part in parts]
    joined, names = Sequences.of_all([own for own, _, _ in made])
    ranks = np.concatenate([own for _, own, _ in made])
    numbers = np.concatenate(
        [renamed[own] for renamed, (_, _, own) in zip(names, made, strict=True)]
    )

    found = Messages(joined, ranks, numbers, WORLD)

    caller, partner = ends_of([message for part in parts for message in part])
    pairs, counts = np.unique(caller * WORLD + partner, return_counts=True)
    assert found.pairs.tolist() == pairs.tolist()
    assert found.counts.tolist() == counts.tolist()
    busiest, seen = found.of_busiest(100)
    assert busiest == np.bincount(caller).argmax()
    assert seen.tolist() == partner[caller == busiest].tolist()
    assert found.vary == (len(pairs) > len(np.unique(caller)))
