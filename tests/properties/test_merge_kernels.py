"""Laws of the kernels that match bursts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstline import _core
from oracles import merging

COSTS = {"place": 0.6, "size": 0.2, "most": 0.01, "limit": 0.3, "turn": 0.02, "window": 64}
labels = st.lists(st.integers(0, 5), max_size=40)


def tokens(label, *, kind=None, place=None, size=None, turn=None):
    n = len(label)
    return (
        np.array(label, np.int32),
        np.array(label if kind is None else kind, np.int32),
        np.linspace(0, 1, n) if place is None else np.array(place, float),
        np.zeros(n) if size is None else np.array(size, float),
        np.full(n, 0.15),
        np.zeros(n, np.int32) if turn is None else np.array(turn, np.int32),
    )


def pairs(same):
    return [(k, int(other)) for k, other in enumerate(same) if other >= 0]


@given(labels, labels, st.integers(-3, 3), st.sampled_from([-(2**31), 2**31 - 1]))
def test_as_many_tokens_are_aligned_as_a_longest_common_subsequence_has(
    one, other, ahead, extreme
):
    """Whatever turns are, as long as they cost less than to leave anything out."""
    longest = merging.longest_common(one, other)
    for turns, cost in (
        ((None, None), 0.02),
        ((0, ahead), 0.002),
        ((extreme, -1 - extreme), 0.0),
    ):
        sides = [
            tokens(side, turn=None if turn is None else np.full(len(side), turn))
            for side, turn in zip((one, other), turns, strict=True)
        ]
        assert len(pairs(_core.align(*sides, **COSTS | {"turn": cost}))) == longest


@given(labels, labels, st.integers(4, 80))
def test_aligned_tokens_are_alike_and_never_cross(one, other, window):
    found = pairs(_core.align(tokens(one), tokens(other), **COSTS | {"window": window}))

    assert all(one[k] == other[m] for k, m in found)
    assert [m for _, m in found] == sorted({m for _, m in found})


@given(st.integers(0, 400), st.lists(st.integers(0, 400), max_size=20), st.integers(4, 64))
def test_what_only_one_run_has_is_left_out(n, where, window):
    common = [k % 7 for k in range(n)]
    longer = list(enumerate(common))
    for number, place in enumerate(where):
        longer.insert(place % (len(longer) + 1), (None, 1000 + number))

    same = _core.align(
        tokens(common), tokens([label for _, label in longer]), **COSTS | {"window": window}
    )

    kept = [k for k, (twin, _) in enumerate(longer) if twin is not None]
    assert same.tolist() == kept


def test_a_long_stretch_that_only_one_run_has_is_left_out():
    common = [k % 11 for k in range(900)]
    extra = [100 + k % 13 for k in range(5000)]

    same = _core.align(
        tokens([*common, 50, *common]), tokens([*common, *extra, 50, *common]), **COSTS
    )

    assert same.tolist() == [*range(900), *range(5900, 6801)]


def test_of_neighbours_that_are_alike_the_place_tells_which_is_missing():
    same = _core.align(
        tokens([1, 1, 1, 2], place=[0, 0.3, 0.6, 1]),
        tokens([1, 1, 2], place=[0, 0.6, 1]),
        **COSTS,
    )

    assert same.tolist() == [0, -1, 1, 2]


def test_tokens_of_a_kind_are_the_same_only_if_their_sizes_are_near():
    def sized(size):
        return tokens([size], kind=[0], size=[size], place=[0.5])

    assert _core.align(sized(100), sized(90), **COSTS).tolist() == [0]
    assert _core.align(sized(100), sized(1), **COSTS | {"size": 0.4}).tolist() == [-1]


def test_of_turns_that_are_alike_the_number_tells_which_is_missing():
    turns = [turn for turn in range(9) for _ in range(4)]
    one, other = [1, 2, 3, 4] * 9, [1, 2, 3, 4] * 8
    left = turns[:12] + turns[16:]

    same = _core.align(tokens(one, turn=turns), tokens(other, turn=left), **COSTS)

    assert same.tolist() == [*range(12), *[-1] * 4, *range(12, 32)]


turning = st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 3)), max_size=25)


@given(turning, turning, st.sampled_from([0.0, 0.02, 0.125]))
def test_turns_are_weighed_as_the_oracle_weighs_them(ours, theirs, cost):
    columns = [list(zip(*side, strict=True)) or [(), ()] for side in (ours, theirs)]

    same = _core.align(
        *(tokens(label, turn=turn) for label, turn in columns),
        **COSTS | {"turn": cost, "place": 0.0},
    )

    found = pairs(same)
    left_out = len(ours) + len(theirs) - 2 * len(found)
    differ = sum(ours[k][1] != theirs[m][1] for k, m in found)
    expected = merging.least_cost(ours, theirs, gap=0.15, turn=cost)
    assert left_out * 0.15 + differ * cost == pytest.approx(expected, abs=1e-5)


def test_turns_that_are_off_from_somewhere_on_shift_nothing_behind():
    """Where all is alike, what they differed by before says which is which."""
    own, alike = range(100, 220), [1, 2, 3] * 80
    label, turn = [*own, *alike], [k // 3 for k in range(360)]
    other = [number + (number >= 10) for number in turn]

    same = _core.align(tokens(label, turn=turn), tokens(label, turn=other), **COSTS)

    assert same.tolist() == list(range(360))


def test_a_window_too_small_and_columns_of_different_length_are_refused():
    for window in (3, 0):
        with pytest.raises(ValueError, match="window"):
            _core.align(tokens([1]), tokens([2]), **COSTS | {"window": window})
    label, *rest = tokens([1, 2])
    with pytest.raises(ValueError, match="equally long"):
        _core.align((label[:1], *rest), tokens([1]), **COSTS)


things = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 12), st.integers(0, 4), st.integers(0, 3)),
    max_size=15,
)


@given(things, things, st.sampled_from([0.0, 0.5, 1.0]))
def test_what_is_left_over_is_paired_as_the_oracle_pairs_it(ours, theirs, tolerance):
    def columns(rows):
        columns = zip(*rows, strict=True) if rows else ((),) * 4
        types = (np.int32, np.int64, np.int64, float)
        return tuple(np.array(each, kind) for each, kind in zip(columns, types, strict=True))

    same = _core.pair_near(columns(ours), columns(theirs), tolerance)

    assert same.tolist() == merging.pair_near(ours, theirs, tolerance)


eighths = st.integers(0, 8).map(lambda number: number / 8)
partners = st.integers(-1, 1)
burst = st.tuples(
    eighths, st.sampled_from([0, 8, 64]), st.sampled_from([0, 8]), partners, partners
)
bursts = st.lists(burst, max_size=12).map(sorted)


def grouped(groups):
    rows = [burst for group in groups for burst in group]
    begin = np.cumsum([0, *map(len, groups)]).astype(np.int64)
    columns = np.array(rows, float).reshape(-1, 5).T
    sizes = [np.ascontiguousarray(columns[k]) for k in range(3)]
    partners = [columns[k].astype(np.int32) for k in (3, 4)]
    return (begin, *sizes, *partners)


@given(st.lists(st.tuples(bursts, bursts), min_size=1, max_size=3), st.booleans())
def test_the_most_alike_of_a_group_are_matched_first(groups, both_sizes):
    ours, theirs = zip(*groups, strict=True)

    same = _core.pair_alike(
        grouped(ours),
        grouped(theirs),
        place=0.6,
        size=0.2,
        partner=0.2,
        limit=0.3,
        both_sizes=both_sizes,
        block=256,
    )

    expected, offset = [], 0
    for mine, others in groups:
        expected += [
            m + offset if m >= 0 else -1
            for m in merging.pair_alike(mine, others, both_sizes=both_sizes)
        ]
        offset += len(others)
    assert same.tolist() == expected
