"""Events of an archive that share a moment and an ordinal come in the order they mean."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import burstline
from burstline.formats.otf2.writing.order import OrderedEvents, Turn, Written
from paraver_text import write_example


def at(*values):
    return np.array(values, np.int64)


def spans(events, *rows):
    """Add spans of region, enter and leave; each with its time for an ordinal."""
    region, enter, leave = (at(*column) for column in zip(*rows, strict=True))
    none = np.full(len(region), -1)
    events.add_spans((enter, enter), (leave, leave), region, none)


def in_order(events):
    kind, time, arguments = events.ordered()
    first = arguments.reshape(-1, 6)[:, 0]
    return [
        (Written(k).name.lower(), int(a), int(t))
        for k, a, t in zip(kind, first, time, strict=True)
    ]


def test_what_ends_is_left_before_what_begins_is_entered():
    events = OrderedEvents()
    spans(events, (1, 0, 10), (2, 10, 20))

    assert in_order(events) == [
        ("enter", 1, 0),
        ("leave", 1, 10),
        ("enter", 2, 10),
        ("leave", 2, 20),
    ]


def test_inner_spans_are_entered_last_and_left_first():
    events = OrderedEvents()
    spans(events, (1, 0, 10), (2, 0, 10), (3, 0, 5))

    names = [(kind, region) for kind, region, _ in in_order(events)]
    assert names == [
        ("enter", 1), ("enter", 2), ("enter", 3), ("leave", 3), ("leave", 2), ("leave", 1)
    ]  # fmt: skip


def test_a_span_without_length_is_entered_before_it_is_left():
    events = OrderedEvents()
    spans(events, (1, 0, 10), (2, 4, 4))

    assert [(kind, region) for kind, region, _ in in_order(events)] == [
        ("enter", 1), ("enter", 2), ("leave", 2), ("leave", 1)
    ]  # fmt: skip


def test_counters_come_first_completions_before_the_leave_and_starts_behind_the_enter():
    events = OrderedEvents()
    spans(events, (1, 0, 10), (2, 10, 20))
    events.add(Written.SEND, Turn.START, (at(10), at(10)), 7)
    events.add(Written.RECEIVE, Turn.COMPLETION, (at(10), at(10)), 8)
    events.add(Written.METRIC, Turn.METRIC, (at(10), at(10)), 9)
    events.add(Written.FORK, Turn.FORK, (at(10), at(10)), 2)
    events.add(Written.JOIN, Turn.JOIN, (at(10), at(10)), 0)

    assert [kind for kind, _, time in in_order(events) if time == 10] == [
        "metric", "receive", "leave", "join", "fork", "enter", "send"
    ]  # fmt: skip


def test_nothing_happens_before_0():
    events = OrderedEvents(-5)
    spans(events, (1, -9, 3))

    assert in_order(events) == [("enter", 1, 0), ("leave", 1, 8)]
    assert events.last_ns == 8


def test_attributes_without_an_event_are_left_out():
    events = OrderedEvents()
    events.add_attributes(at(3), at(0), at(1), at(7))

    assert in_order(events) == []


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=12))
def test_spans_that_lie_within_each_other_are_entered_and_left_as_a_stack(pairs):
    nested, around = [], []
    for enter, length in sorted(pairs, key=lambda pair: (pair[0], -sum(pair))):
        while around and around[-1] <= enter:
            around.pop()
        leave = min(enter + length + 1, around[-1] if around else 99)
        around.append(leave)
        nested.append((len(nested), enter, leave))
    events = OrderedEvents()
    spans(events, *nested)

    stack = []
    for kind, region, _ in in_order(events):
        if kind == "enter":
            stack.append(region)
        else:
            assert stack.pop() == region
    assert not stack


def test_a_paraver_trace_with_several_things_in_a_moment_gives_the_same_calls(tmp_path):
    trace = burstline.read(write_example(tmp_path), raw=False)

    burstline.write(trace, tmp_path / "run.otf2")

    again = burstline.read(tmp_path / "run.otf2")
    for name in ("operation", "enter_ns", "leave_ns"):
        assert again.calls[name].to_pylist() == trace.calls[name].to_pylist()
    assert again.messages["receive_ns"].to_pylist() == trace.messages["receive_ns"].to_pylist()
    assert "region_never_left" not in again.defects["kind"].to_pylist()
