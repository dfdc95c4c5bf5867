"""What holds for every matching, whatever the traffic."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from burstline.columns import codes, ordinal_within
from burstline.model import collective_instances, match_messages
from oracles import matching as oracle

traffic = st.lists(st.integers(0, 3), max_size=40)
parts = st.lists(
    st.tuples(st.integers(-1, 2), st.integers(0, 3), st.integers(-1, 3), st.integers(0, 1)),
    max_size=40,
)
wide = st.lists(
    st.tuples(st.integers(-(2**62), 2**62), st.integers(0, 1), st.integers(-(2**62), 2**62)),
    max_size=20,
)
SIZES = np.array([1, 2, 4])


def match(sends, receives):
    return match_messages(np.array(sends, np.int64), np.array(receives, np.int64)).tolist()


def columns(rows, width):
    return [np.array([row[k] for row in rows], np.int64) for k in range(width)]


@given(sends=traffic, receives=traffic)
def test_matching_agrees_with_its_twin(sends, receives):
    assert match(sends, receives) == oracle.match_messages(sends, receives)


@given(sends=traffic, receives=traffic)
def test_no_message_is_received_twice(sends, receives):
    partner = [send for send in match(sends, receives) if send >= 0]

    assert len(partner) == len(set(partner))


@given(sends=traffic, receives=traffic, new_names=st.permutations(range(4)))
def test_names_of_channels_do_not_matter(sends, receives, new_names):
    renamed = match([new_names[c] for c in sends], [new_names[c] for c in receives])

    assert renamed == match(sends, receives)


@given(sends=wide, receives=wide, repeated=st.booleans())
def test_channels_are_equal_exactly_where_all_columns_are(sends, receives, repeated):
    receives = receives + sends if repeated else receives

    of_sends, of_receives = codes(columns(sends, 3), columns(receives, 3))

    rows, names = sends + receives, [*of_sends.tolist(), *of_receives.tolist()]
    assert len(set(zip(rows, names, strict=True))) == len(set(rows)) == len(set(names))


@given(parts=parts)
def test_instances_agree_with_their_twin(parts):
    communicator, location, comm_rank, operation = columns(parts, 4)

    sequence = ordinal_within(communicator, location)
    found = collective_instances(
        communicator, sequence, location, comm_rank, operation, sizes=SIZES
    )

    expected = oracle.collective_instances(*(c.tolist() for c in columns(parts, 4)), SIZES)
    names = list(zip(found.communicator.tolist(), found.sequence.tolist(), strict=True))
    assert names == list(expected)
    assert found.complete.tolist() == [complete for _, complete in expected.values()]
    assert found.order.tolist() == [p for members, _ in expected.values() for p in members]
    assert found.instance.tolist() == [
        names.index(next(name for name in names if part in expected[name][0]))
        for part in range(len(parts))
    ]


@given(members=st.integers(1, 4), rounds=st.integers(0, 5), order=st.randoms())
def test_a_whole_run_has_only_complete_instances(members, rounds, order):
    locations = [rank for rank in range(members) for _ in range(rounds)]
    order.shuffle(locations)
    location = np.array(locations, np.int64)
    zeros = np.zeros_like(location)

    sequence = ordinal_within(location)
    found = collective_instances(
        zeros, sequence, location, location, zeros, sizes=np.array([members])
    )

    assert found.sequence.tolist() == list(range(rounds))
    assert found.complete.all()


def test_an_instance_whose_members_call_different_operations_is_not_complete():
    location, sequence = np.array([0, 1]), np.array([0, 0])
    for operations, complete in (([5, 5], True), ([5, 6], False)):
        found = collective_instances(
            np.zeros(2, np.int64),
            sequence,
            location,
            location,
            np.array(operations),
            sizes=np.array([2]),
        )
        assert found.complete.tolist() == [complete]
