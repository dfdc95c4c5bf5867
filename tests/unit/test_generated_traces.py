"""The traces that benchmarks read are the traces they say they are."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import pytest
from benchmarks.generate import generate

OPENS = {4: "Irecv", 3: "Isend", 6: "Waitall", 10: "Allreduce", 31: "Init", 32: "Finalize"}
MPI = {50000001, 50000002, 50000003}


def dump(path):
    """Lines as integers, and per thread what happened: {thread: [(time, type, value)]}."""
    lines = [
        [int(field) for field in line.split(":")]
        for line in path.read_text().splitlines()
        if line[0] in "123"
    ]
    threads = defaultdict(list)
    for line in lines:
        if line[0] == 2:
            pairs = zip(line[6::2], line[7::2], strict=True)
            threads[line[3]] += [(line[5], kind, value) for kind, value in pairs]
    return lines, threads


def calls_of(events):
    """List the calls of one thread: (operation, entry, exit)."""
    stamps = [(time, value) for time, kind, value in events if kind in MPI]
    return [
        (OPENS[value], entry, leave)
        for (entry, value), (leave, end) in zip(stamps[::2], stamps[1::2], strict=True)
        if end == 0
    ]


@pytest.fixture(scope="module", params=[2, 5], ids=["2 ranks", "5 ranks"])
def made(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("generated") / "ring.prv"
    expected = generate(path, ranks=request.param, size=100_000, seed=1)
    return path, expected, *dump(path)


def test_what_is_promised_is_what_is_there(made):
    path, expected, lines, threads = made
    events = [line for line in lines if line[0] == 2]
    operations = [f"MPI_{call[0]}" for thread in threads for call in calls_of(threads[thread])]

    assert expected == {
        "ranks": len(threads),
        "bytes": path.stat().st_size,
        "lines": len(path.read_text().splitlines()) - 1,
        "states": sum(line[0] == 1 for line in lines),
        "events": len(events),
        "pairs": sum(map(len, threads.values())),
        "communications": sum(line[0] == 3 for line in lines),
        "value_sum": sum(value for thread in threads.values() for _, _, value in thread),
        "calls": {name: operations.count(name) for name in dict.fromkeys(expected["calls"])},
        "messages": sum(line[0] == 3 for line in lines),
        "collectives": operations.count("MPI_Allreduce") // len(threads),
        "bursts": len(operations) - len(threads),
        "duration_ns": max(line[5] for line in events),
    }


def test_states_and_events_are_in_order_of_time_and_states_have_no_hole(made):
    times = [line[5] for line in made[2] if line[0] != 3]
    assert times == sorted(times)

    states = defaultdict(list)
    for line in made[2]:
        if line[0] == 1:
            states[line[3]].append((line[5], line[6]))
    for spans in states.values():
        assert all(before[1] == after[0] for before, after in pairwise(spans))
        assert all(start < end for start, end in spans)


def test_every_message_stands_at_its_calls_and_right_after_the_senders_exit(made):
    _, _, lines, threads = made
    calls = {thread: calls_of(events) for thread, events in threads.items()}
    spans = {
        thread: {
            name: {call[1:] for call in mine if call[0] == name} for name in OPENS.values()
        }
        for thread, mine in calls.items()
    }
    for before, line in pairwise(lines):
        if line[0] != 3:
            continue
        sender, receiver = line[3], line[9]
        assert (line[5], line[6]) in spans[sender]["Isend"]
        assert line[11] in {leave for _, leave in spans[receiver]["Irecv"]}
        assert line[12] in {leave for _, leave in spans[receiver]["Waitall"]}
        assert before[:4] == [2, sender, 1, sender]
        assert before[5] == line[6]
        assert line[12] > line[5]


def test_nobody_leaves_an_allreduce_before_everybody_came(made):
    threads = made[3]
    reduces = [
        [call for call in calls_of(events) if call[0] == "Allreduce"]
        for events in threads.values()
    ]
    for members in zip(*reduces, strict=True):
        assert max(entry for _, entry, _ in members) < min(leave for _, _, leave in members)


def test_equal_arguments_give_equal_bytes(made, tmp_path):
    path, expected, *_ = made

    generate(tmp_path / "again.prv", ranks=expected["ranks"], size=100_000, seed=1)

    assert (tmp_path / "again.prv").read_bytes() == path.read_bytes()
