"""The kernels of waits do what their slow twins here do, and refuse columns that do not fit."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstline import _core

NODES = 4
PLACES = 4  # of an event ordinal: before, enter, inside, leave


def ints(values):
    return np.array(values, np.int64)


def nodes_of(values):
    return np.array(values, np.int32)


@st.composite
def locations(draw):
    """Calls and regions of one location, as (is call, node, enter, leave, their ordinals)."""
    now, seq, stack, rows = draw(st.integers(0, 5)), 0, [], []
    for _ in range(draw(st.integers(0, 14))):
        now += draw(st.integers(0, 9))
        in_call = bool(stack) and rows[stack[-1]][0]
        if stack and (in_call or draw(st.booleans())):
            rows[stack[-1]][3], rows[stack.pop()][5] = now, seq
        else:
            stack.append(len(rows))
            is_call = draw(st.booleans())
            rows.append([is_call, draw(st.integers(0, NODES - 1)), now, None, seq, None])
        seq += 1
    while stack:
        now += draw(st.integers(0, 9))
        rows[stack[-1]][3], rows[stack.pop()][5] = now, seq
        seq += 1
    cuts = draw(st.lists(st.integers(0, PLACES * (seq + 1)), max_size=5))
    parts = [
        (k, draw(st.integers(0, 3)), draw(st.integers(0, 3)), draw(st.booleans()))
        for k, row in enumerate(rows)
        if not row[0] and draw(st.booleans())
    ]
    return rows, sorted(cuts), parts


def time_between_cuts(rows, cuts, parts):
    """Time of each node alone, by segment: what is innermost after a record, until the next."""
    time = [dict.fromkeys(range(NODES), 0) for _ in range(len(cuts) + 1)]
    parts = {row: (fork, join, here) for row, fork, join, here in parts}

    def segment(place):
        return sum(cut < place for cut in cuts)

    records = sorted(
        [(seq * PLACES + 1, k, True) for k, (_, _, _, _, seq, _) in enumerate(rows)]
        + [(seq * PLACES + 3, k, False) for k, (_, _, _, _, _, seq) in enumerate(rows)]
    )
    before = None
    stack = []
    for place, k, enters in records:
        fork, join, here = parts.get(k, (0, 0, False))
        now = rows[k][2 if enters else 3]
        if stack:
            until = now - fork if enters and here else now
            time[segment(place)][rows[stack[-1]][1]] += until - before
        before = now
        if enters:
            stack.append(k)
            time[segment(place + 2)][rows[k][1]] += fork
        else:
            stack.pop()
            time[segment(place)][rows[k][1]] += join
            before += join if here else 0
    return [{node: ns for node, ns in each.items() if ns} for each in time]


def intervals(whole, *, calls):
    """The columns of the calls, or the regions, of all locations, as the kernel takes them."""
    chosen = [[row for row in rows if row[0] == calls] for rows, _, _ in whole]
    begin = np.cumsum([0, *map(len, chosen)])
    rows = [row for each in chosen for row in each]
    columns = (ints([row[k] for row in rows]) for k in (2, 3, 4, 5))
    return (ints(begin), *columns, nodes_of([row[1] for row in rows]))


def segments_of(whole):
    """What the kernel says of locations: time by node of each segment of each."""
    parts, first = [], 0
    for rows, _, told in whole:
        number = {k: first + n for n, k in enumerate(k for k, r in enumerate(rows) if not r[0])}
        parts += [(number[k], *others) for k, *others in told]
        first += len(number)
    count = len(whole)
    nothing = ints([0] * count), ints([0] * count), nodes_of([-1] * count)
    row, fork, join, here = ([part[k] for part in parts] for k in range(4))
    begin, node, time, clipped = _core.segments(
        nothing,
        intervals(whole, calls=True),
        nodes_of([]),
        intervals(whole, calls=False),
        (ints(row), ints(fork), ints(join), np.array(here, np.uint8)),
        ints(np.cumsum([0, *(len(cuts) for _, cuts, _ in whole)])),
        ints([cut for _, cuts, _ in whole for cut in cuts]),
        NODES,
    )
    assert clipped == 0
    made = []
    for first, last in pairwise(begin):
        made.append(
            dict(zip(node[first:last].tolist(), time[first:last].tolist(), strict=True))
        )
        assert len(made[-1]) == last - first
    return made


@given(st.lists(locations(), min_size=1, max_size=3))
def test_time_between_points_is_that_of_the_innermost(whole):
    assert segments_of(whole) == [part for one in whole for part in time_between_cuts(*one)]


@given(locations())
def test_points_cut_time_and_lose_none(one):
    rows, _, parts = one
    whole = segments_of([(rows, [], parts)])[0]
    sums = dict.fromkeys(range(NODES), 0)
    for each in segments_of([one]):
        for node, ns in each.items():
            sums[node] += ns

    assert {node: ns for node, ns in sums.items() if ns} == whole


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-5, 5)), max_size=40))
def test_rows_are_in_order_of_group_and_key(rows):
    group, key = ([row[k] for row in rows] for k in (0, 1))

    order, begin = _core.order_within(nodes_of(group), ints(key), 4)

    assert order.tolist() == sorted(range(len(rows)), key=lambda row: rows[row])
    assert begin.tolist() == [sum(each < g for each in group) for g in range(5)]


MESSAGES = st.tuples(st.integers(0, 30), st.booleans(), st.booleans())


def overtaken(received):
    """Of each wait: the first later call's message that was sent before it, and its first."""
    calls = np.cumsum([not same for _, _, same in received]).tolist()
    waits = {}
    for k, (_, counts, _) in enumerate(received):
        if counts:
            waits[calls[k]] = k  # the last that counts, of a call
    by = [-1] * len(received)
    for call, wait in waits.items():
        later = (k for k in range(len(received)) if calls[k] > call)
        by[wait] = next((k for k in later if received[k][0] < received[wait][0]), -1)
    first = [-1 if one < 0 else by.index(one) for one in by]
    return calls, by, first


@given(st.lists(st.lists(MESSAGES, max_size=15), min_size=1, max_size=3))
def test_waits_are_overtaken_by_the_first_message_that_was_sent_before(whole):
    calls, by, first = [], [], []
    for received in whole:
        its_calls, its_by, its_first = overtaken(received)
        shift = len(calls)
        calls += its_calls
        by += [one + shift if one >= 0 else -1 for one in its_by]
        first += [one + shift if one >= 0 else -1 for one in its_first]
    every = [message for received in whole for message in received]

    made = _core.wrong_order(
        ints(np.cumsum([0, *map(len, whole)])),
        ints(calls),
        ints([sent for sent, _, _ in every]),
        nodes_of([0] * len(every)),
        np.array([counts for _, counts, _ in every], np.uint8),
    )

    assert [column.tolist() for column in made] == [by, first]


def test_only_the_last_hundred_waits_are_remembered():
    sent = [*range(1000, 1150), 0]

    by, _ = _core.wrong_order(
        ints([0, len(sent)]),
        ints(range(len(sent))),
        ints(sent),
        nodes_of([0] * len(sent)),
        np.ones(len(sent), np.uint8),
    )

    assert by.tolist() == [-1] * 50 + [150] * 100 + [-1]


INTERVALS = (ints([0, 1]), ints([1]), ints([5]), ints([0]), ints([1]), nodes_of([0]))
NO_INTERVALS = (ints([0, 0]), *[ints([])] * 4, nodes_of([]))
NO_TEAMS = ints([]), ints([]), ints([]), np.zeros(0, np.uint8)
PROGRAM = ints([0]), ints([0]), nodes_of([-1])
POINTS = (
    ints([0, 1]), np.array([8], np.uint8), np.zeros(1, np.uint8), nodes_of([0]),
    *[ints([0])] * 3, ints([-1]), nodes_of([-1]), nodes_of([0]),
)  # fmt: skip
SEGMENTS = ints([0, 1, 1]), nodes_of([0]), ints([4])
NO_SERIAL = (ints([]),) * 4


def changed(columns, place, value):
    return tuple(value if k == place else column for k, column in enumerate(columns))


@pytest.mark.parametrize(
    ("calls", "teams", "cuts", "place", "nodes"),
    [
        (changed(INTERVALS, 0, ints([0, 2])), NO_TEAMS, ints([0, 0]), ints([]), 1),
        (changed(INTERVALS, 1, ints([])), NO_TEAMS, ints([0, 0]), ints([]), 1),
        (changed(INTERVALS, 5, nodes_of([1])), NO_TEAMS, ints([0, 0]), ints([]), 1),
        (changed(INTERVALS, 3, ints([-1])), NO_TEAMS, ints([0, 0]), ints([]), 1),
        (changed(INTERVALS, 4, ints([2**62])), NO_TEAMS, ints([0, 0]), ints([]), 1),
        (INTERVALS, changed(NO_TEAMS, 0, ints([0])), ints([0, 0]), ints([]), 1),
        (INTERVALS, NO_TEAMS, ints([0, 1]), ints([]), 1),
        (INTERVALS, NO_TEAMS, ints([0]), ints([]), 1),
        (INTERVALS, NO_TEAMS, ints([0, 0]), ints([]), -1),
    ],
)
def test_columns_of_segments_that_do_not_fit_are_refused(calls, teams, cuts, place, nodes):
    with pytest.raises(ValueError, match=r"\w"):
        _core.segments(PROGRAM, calls, nodes_of([]), NO_INTERVALS, teams, cuts, place, nodes)


@pytest.mark.parametrize(
    ("points", "segments", "serial"),
    [
        (changed(POINTS, 0, ints([0, 2])), SEGMENTS, NO_SERIAL),
        (changed(POINTS, 1, np.array([9], np.uint8)), SEGMENTS, NO_SERIAL),
        (changed(POINTS, 3, nodes_of([1])), SEGMENTS, NO_SERIAL),
        (changed(POINTS, 4, ints([])), SEGMENTS, NO_SERIAL),
        (changed(POINTS, 7, ints([1])), SEGMENTS, NO_SERIAL),
        (changed(POINTS, 8, nodes_of([1])), SEGMENTS, NO_SERIAL),
        (changed(POINTS, 8, nodes_of([-2])), SEGMENTS, NO_SERIAL),
        (POINTS, changed(SEGMENTS, 0, ints([0, 1])), NO_SERIAL),
        (POINTS, changed(SEGMENTS, 1, nodes_of([1])), NO_SERIAL),
        (POINTS, SEGMENTS, changed(NO_SERIAL, 0, ints([0]))),
        (POINTS, SEGMENTS, (ints([0]), ints([-1]), ints([1]), ints([1]))),
        (POINTS, SEGMENTS, (ints([1]), ints([-1]), ints([0]), ints([1]))),
    ],
)
def test_columns_of_delays_that_do_not_fit_are_refused(points, segments, serial):
    with pytest.raises(ValueError, match=r"\w"):
        _core.delays(points, segments, serial, 1, 1, like_scalasca=False)


@pytest.mark.parametrize(("location", "end", "stops"), [(1, -1, [0]), (0, 2, [0]), (0, -1, [])])
def test_a_critical_path_that_ends_nowhere_is_refused(location, end, stops):
    with pytest.raises(ValueError, match=r"\w"):
        _core.critical_path(POINTS, SEGMENTS, 1, location, end, np.array(stops, np.uint8))


def test_columns_of_received_messages_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="one after another"):
        _core.wrong_order(
            ints([0, 2]), ints([0]), ints([0]), nodes_of([0]), np.zeros(1, np.uint8)
        )
    with pytest.raises(ValueError, match="in a group"):
        _core.order_within(nodes_of([1]), ints([0]), 1)


@st.composite
def nests(draw):
    """Rows of two locations, each as (location, enter, leave, parent), and moments there."""
    rows = []
    for place in range(2):
        stack, seq = [-1], 0
        for opens in draw(st.lists(st.booleans(), max_size=12)):
            seq += draw(st.integers(1, 3))
            if opens:
                rows.append([place, seq, 10**6, stack[-1]])
                stack.append(len(rows) - 1)
            elif len(stack) > 1:
                rows[stack.pop()][2] = seq
    moments = draw(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 30)), max_size=20))
    return rows, sorted(moments) if draw(st.booleans()) else moments


@given(nests())
def test_the_innermost_row_of_a_moment_is_the_last_that_was_entered_and_not_left(whole):
    rows, moments = whole
    location, enter, leave, parent = ([row[k] for row in rows] for k in range(4))
    columns = ints([0, location.count(0), len(rows)]), ints(enter), ints(leave), ints(parent)

    open_ = _core.innermost(
        columns, nodes_of([m[0] for m in moments]), ints([m[1] for m in moments])
    )

    for (place, seq), row in zip(moments, open_.tolist(), strict=True):
        inside = [k for k, r in enumerate(rows) if r[0] == place and r[1] < seq <= r[2]]
        assert row == max(inside, default=-1)


def test_without_parents_the_innermost_row_is_the_last_entered_or_none():
    columns = ints([0, 2]), ints([1, 2]), ints([9, 3]), ints([])

    found = _core.innermost(columns, nodes_of([0, 0, 5]), ints([3, 4, 4]))
    assert found.tolist() == [1, -1, -1]


def path_of(item, parent, symbol):
    """The symbols from the root to an item; of one that is in a circle or below it, its own."""
    chain = []
    while item >= 0 and len(chain) <= len(parent):
        chain.append(symbol[item])
        item = parent[item]
    chain = chain[:1] if item >= 0 else chain
    return [each for each in reversed(chain) if each >= 0]


@given(st.data())
def test_items_have_the_path_of_the_symbols_above_them(data):
    count = data.draw(st.integers(0, 12))
    items = st.integers(-1, count - 1)
    parent = data.draw(st.lists(items, min_size=count, max_size=count))
    symbol = data.draw(st.lists(st.integers(-1, 2), min_size=count, max_size=count))

    path, above, last = (
        column.tolist() for column in _core.paths_of(ints(parent), ints(symbol))
    )

    whole = [[]]
    for up, symbols in zip(above[1:], last[1:], strict=True):
        whole.append([*whole[up], symbols])
    assert [whole[each] for each in path] == [path_of(k, parent, symbol) for k in range(count)]
    assert len({tuple(each) for each in whole}) == len(whole)


def test_many_paths_are_told_apart():
    parent = [-1, *range(200), *range(200)]
    symbol = [7] * 201 + [8] * 200

    path, above, last = _core.paths_of(ints(parent), ints(symbol))

    assert len(above) == len(last) == 402
    assert len(set(path.tolist())) == 401


@pytest.mark.parametrize(
    "call",
    [
        lambda: _core.paths_of(ints([0, 2]), ints([1, 1])),
        lambda: _core.paths_of(ints([-1]), ints([])),
        lambda: _core.innermost(
            (ints([0, 1]), ints([1]), ints([2]), ints([0])), nodes_of([0]), ints([1])
        ),
        lambda: _core.innermost(
            (ints([0, 2]), ints([1]), ints([2]), ints([])), nodes_of([0]), ints([1])
        ),
    ],
)
def test_what_is_no_nest_is_refused(call):
    with pytest.raises(ValueError, match=r"parent|location"):
        call()
