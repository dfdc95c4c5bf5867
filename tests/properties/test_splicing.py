"""More counters in a .prv: the kernels do what splitting lines at colons does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstline import _core
from burstline.formats.paraver.editing.splice import Additions, splice
from burstline.model import NO_VALUE
from oracles import splicing
from paraver_text import write_example

THREADS = {(1, 1, 1): 0, (1, 1, 2): 1, (1, 2, 1): 2}
CALLS = [50000001, 50000002, 50000003, 50000004, 50000005]
COUNTERS = [42000050, 42000059]

times = st.integers(0, 4)
pairs = st.tuples(
    st.sampled_from([50000001, 50000003, 42000050, 42000051, 42000059, 70000001]),
    st.sampled_from([0, 1, -5, 31, 2**63 - 1]),
)
threads = st.sampled_from([*THREADS, (1, 3, 1), (2, 1, 1)])


@st.composite
def lines(draw):
    application, task, thread = draw(threads)
    numbers = [draw(st.integers(0, 2)), application, task, thread, draw(times)]
    for kind, value in draw(st.lists(pairs, max_size=3)):
        numbers += [kind, value]
    head = draw(st.sampled_from(["2", "2", "2", "2", "1", "3", "#2"]))
    tail = draw(st.sampled_from(["", "", "", "\r", ":", ":7", " ", "x", ":7:", "::"]))
    return f"{head}:{':'.join(map(str, numbers))}{tail}\n".encode()


texts = st.lists(st.one_of(lines(), st.sampled_from([b"\n", b"2:\n", b"c:1:1:1:1\n"])))
moments = st.sets(st.tuples(st.integers(0, 2), times))


def found(text, wanted):
    layout = _core.Layout([2], [2, 1], [0, 0])
    ordered = sorted(wanted)
    begin = [sum(location < k for location, _ in ordered) for k in range(4)]
    moment, end, holds = _core.find_records(
        np.frombuffer(text, np.uint8),
        layout,
        np.array(begin, np.int64),
        np.array([time for _, time in ordered], np.int64),
        np.array(CALLS, np.int64),
        np.array(COUNTERS, np.int64),
    )
    named = [ordered[k] for k in moment.tolist()]
    return list(zip(named, end.tolist(), holds.tolist(), strict=True))


@given(texts, moments)
def test_records_are_those_that_splitting_at_colons_finds(some, wanted):
    text = b"".join(some)

    assert found(text, wanted) == splicing.records(text, THREADS, wanted, COUNTERS)


@given(texts, moments)
def test_a_line_without_an_end_is_no_place_for_pairs(some, wanted):
    text = b"".join(some)

    assert found(text + b"2:1:1:1:1:3:50000001:1", wanted) == found(text, wanted)


@given(
    st.binary(max_size=40),
    st.lists(st.integers(0, 40)),
    st.lists(st.integers(1, 2**31 - 1), max_size=3),
    st.data(),
)
def test_everything_but_the_pairs_stays_byte_by_byte(text, places, types, data):
    places = sorted(min(place, len(text)) for place in places)
    value = st.one_of(st.none(), st.integers(-(2**63) + 1, 2**63 - 1))
    row = st.lists(value, min_size=len(types), max_size=len(types))
    values = [data.draw(row) for _ in places]
    flat = [NO_VALUE if value is None else value for row in values for value in row]

    changed = _core.with_pairs(
        np.frombuffer(text, np.uint8),
        np.array(places, np.int64),
        np.array(types, np.int64),
        np.array(flat, np.int64),
    )

    assert changed.tobytes() == splicing.with_pairs(text, places, types, values)


SEND, RECEIVE, LEAVE = "50000001:1", "50000001:2", "50000001:0"
COUNT = "42000050:5"


@pytest.mark.parametrize(
    ("records", "values"),
    [
        ([SEND, COUNT], [None, 7]),
        ([f"{SEND}:{COUNT}", LEAVE], [7, None]),
        ([f"{SEND}:{COUNT}", LEAVE, RECEIVE], [None, None, 7]),
        ([f"{SEND}:{COUNT}", LEAVE, f"{RECEIVE}:{COUNT}", LEAVE], [7, None, 8, None]),
    ],
)
def test_of_several_records_in_a_moment_the_one_that_ends_the_burst_gets_its_values(
    tmp_path, records, values
):
    lines = [f"2:1:1:1:1:100:{record}" for record in records]
    some = np.array([value for value in values if value is not None])
    ends = np.full(len(some), 100)
    place = np.zeros(len(some), np.int32)
    source = write_example(tmp_path, "".join(f"{line}\n" for line in lines))

    splice(source, tmp_path / "out.prv", Additions(place, ends, {99: "more"}, [some], COUNTERS))

    _, *written = (tmp_path / "out.prv").read_text().splitlines()
    assert written == [
        line if value is None else f"{line}:99:{value}"
        for line, value in zip(lines, values, strict=True)
    ]
