"""Where processes stop: nothing crosses the cut, and what is made before it can be made."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

import burstline
from burstline.model import COUNTED
from burstline.signature import events_of, signature_of
from burstline.signature.cut import cut_of, happens_before, places_near
from burstline.testing import trace_of
from simulator import simulate

ENDS = ("sende", "send_call"), ("receive", "receive_call")


def places(trace, events):
    """How many events are left before each call, and whose process it is, by hand."""
    process_of = trace.arrays("locations", "process")[0]
    numbers = {int(process): n for n, process in enumerate(sorted(set(process_of.tolist())))}
    place, counted = {}, set(events.row.tolist())
    made = dict.fromkeys(numbers.values(), 0)
    for row, call in enumerate(trace.calls.to_pylist()):
        process = numbers[int(process_of[call["location"]])]
        place[call["location"], call["call"]] = process, made[process]
        made[process] += row in counted
    return place


def crossing(trace, events, counts):
    """Messages and instances of which one end is made and another is not."""
    place = places(trace, events)

    def is_made(location, call):
        process, before = place[location, call]
        return before < counts[process]

    messages = [
        [is_made(each[side + "r_location"], each[call]) for side, call in ENDS]
        for each in trace.messages.to_pylist()
        if all(each[call] is not None for _, call in ENDS)
    ]
    members = {}
    for member in trace.collective_members.to_pylist():
        made = is_made(member["location"], member["call"])
        members.setdefault(member["collective"], set()).add(made)
    return sum(a != b for a, b in messages), sum(len(made) > 1 for made in members.values())


def demands_of(trace, events):
    """What calls demand of each other, wherever the cut is."""
    ends = {number: (0, 0, events.count(number) + 1) for number in range(len(events.ranks))}
    return happens_before(trace, places_near(trace, events, ends))


def cuts(events, share):
    total = np.diff(events.begin)
    return np.floor(share * total).astype(np.int64), total


@given(st.integers(0, 5_000), st.floats(0, 1))
def test_nothing_crosses_the_cut_of_a_random_program(seed, share):
    trace = trace_of(simulate(seed).text)
    assume(COUNTED.intersection(trace.calls["operation"].to_pylist()))
    events = events_of(trace)
    assume((np.diff(events.row) > 0).all())
    wanted, total = cuts(events, share)

    cut = cut_of(demands_of(trace, events), wanted, total + 1)

    assert crossing(trace, events, cut.counts) == (0, 0)
    assert cut.crossing == 0
    assert (cut.counts >= wanted).all()


def test_nothing_crosses_the_cuts_of_real_traces(real_traces):
    found = sorted([*real_traces.glob("*.prv.gz"), *real_traces.glob("otf2/*/*.otf2")])
    assert found
    for path in found:
        trace = burstline.read(path)
        events = events_of(trace)
        demands = demands_of(trace, events)
        for share in (0.05, 0.5):
            wanted, total = cuts(events, share)
            cut = cut_of(demands, wanted, total)
            assert crossing(trace, events, cut.counts) == (0, 0), path.name
            assert (cut.counts <= total).all(), path.name


def test_messages_that_are_always_on_their_way_are_counted():
    # Each step receives what was sent two steps before: a cut that nothing crosses is the end.
    trace = trace_of(pipelined(20))
    events = events_of(trace)
    wanted, total = cuts(events, 0.3)

    strict = cut_of(demands_of(trace, events), wanted, total + 1)
    least = cut_of(demands_of(trace, events), wanted, total // 2)

    assert strict.counts.tolist() == total.tolist()
    assert least.crossing == 2 * 2
    assert crossing(trace, events, least.counts) == (least.crossing, 0)


def test_a_cut_is_looked_for_farther_than_where_it_is_expected():
    # One rank sends to nobody a hundred times before it comes to where the other waits.
    lines: list[list[str]] = [[], []]
    for begin in range(0, 6000, 1000):
        ends = f"{begin + 990} begin | {begin + 1000} end | {begin + 1000} leave"
        sends = [
            f"{begin + 9 * k} enter MPI_Send | {begin + 9 * k + 8} leave" for k in range(100)
        ]
        lines[1] += [*sends, f"{begin + 990} enter MPI_Barrier | {ends}"]
        lines[0] += [f"{begin + 5} enter MPI_Barrier | {ends}"]
    trace = trace_of(" | ".join(["ranks 2 | 0", *lines[0], "1", *lines[1]]))

    found = signature_of([trace], within=0.2)

    assert [process.cut for process in found.processes] == [2, 202]


def pipelined(steps):
    """Two ranks that send to each other, and receive what was sent two steps before."""
    lines = ["ranks 2"]
    for rank in (0, 1):
        lines.append(str(rank))
        for k in range(steps + 2):
            begin = 100 * k
            if k < steps:
                lines += [
                    f"{begin} enter MPI_Send",
                    f"{begin + 5} send to {1 - rank} tag {k} bytes 8",
                    f"{begin + 10} leave",
                ]
            if k >= 2:
                lines += [
                    f"{begin + 20} enter MPI_Recv",
                    f"{begin + 25} receive from {1 - rank} tag {k - 2} bytes 8",
                    f"{begin + 30} leave",
                ]
    return " | ".join(lines)
