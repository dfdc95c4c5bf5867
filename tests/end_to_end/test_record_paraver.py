"""What is recorded is a Paraver trace as Extrae would write it, and what the program did.

The program counts its own calls. Records are read with nothing of the package: the rules
of a writer, and the times and sizes that each kind of call gives to its records.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from oracles.prv_rules import broken
from recording import MPIS, Site, environment

PROGRAM = Path(__file__).parents[1] / "record" / "counts_itself.c"
RANKS, INT = 4, 4
CALLS = range(50000001, 50000006)
SENT, RECEIVED, ROOT, COMMUNICATOR = 50100001, 50100002, 50100003, 50100004
MISSES = 50000304
SEND, RECV, ISEND, IRECV, SENDRECV, START = 1, 2, 3, 4, 41, 123
BCAST, BARRIER, REDUCE, ALLTOALL = 7, 8, 9, 11
NAMES = {
    SEND: "Send", RECV: "Recv", ISEND: "Isend", IRECV: "Irecv", SENDRECV: "Sendrecv",
    START: "Start", 6: "Waitall", 59: "Waitany", 39: "Test",
    BCAST: "Bcast", BARRIER: "Barrier", REDUCE: "Reduce", ALLTOALL: "Alltoall",
}  # fmt: skip


class Records:
    """The records of a trace: (task, operation, enter, leave, pairs) of each call."""

    def __init__(self, path):
        self.calls, self.messages, self.misses, open_calls = [], [], Counter(), {}
        head, *lines = path.read_text().splitlines()
        self.members = {}
        for line in lines:
            if line.startswith("#"):
                continue  # a comment
            kind, *rest = line.split(":")
            fields = [int(field) for field in rest]
            if kind == "c":
                self.members[fields[1]] = fields[3:]
            elif kind == "2":
                self._event(fields, open_calls)
            elif kind == "3":
                self.messages.append(fields)
        assert not open_calls, head

    def _event(self, fields, open_calls):
        task, time = fields[2], fields[4]
        pairs = dict(zip(fields[5::2], fields[6::2], strict=True))
        self.misses[task] += pairs.get(MISSES, 0)
        for kind, value in pairs.items():
            if kind in CALLS and value:
                assert task not in open_calls
                open_calls[task] = (value, time, pairs)
            elif kind in CALLS:
                operation, enter, entry = open_calls.pop(task)
                self.calls.append((task, operation, enter, time, entry))


class Run:
    """A recorded run: its folder, what it printed, its records."""

    def __init__(self, tools, folder, built_once):
        self.site = Site(tools, folder, environment(built_once))
        self.site.compile("mpicc", PROGRAM, "-w")
        code, self.printed, said = self.site.record("--", *self.site.ranks(RANKS), "./app")
        assert code == 0, said
        self.trace = self.site.trace()
        self.records = Records(folder / "app.prv")

    def label(self, kind, value):
        """Read the label of a value in the .pcf."""
        sections = (self.site.folder / "app.pcf").read_text().split("EVENT_TYPE\n")
        (section,) = [
            one for one in sections if re.search(rf"^\d+ +{kind} ", one, re.MULTILINE)
        ]
        return re.search(rf"^{value} +(.+)$", section.partition("VALUES")[2], re.MULTILINE)[1]


@pytest.fixture(scope="module", params=MPIS)
def run(request, built_once, tmp_path_factory):
    """What was recorded under each MPI."""
    tools = request.getfixturevalue(request.param)
    return Run(tools, tmp_path_factory.mktemp(request.param), built_once)


def test_every_call_that_the_program_counts_is_there(run):
    counted = {
        (int(rank) + 1, name): int(count)
        for rank, name, count in re.findall(r"counted (\d) MPI_(\w+) (\d+)", run.printed)
    }
    assert len(counted) == RANKS * len(NAMES)
    found = Counter((task, NAMES.get(value)) for task, value, *_ in run.records.calls)
    for task, misses in run.records.misses.items():
        found[task, "Test"] += misses
    assert {key: found[key] for key in counted} == counted


def test_the_files_keep_the_rules_of_a_writer(run):
    assert broken(run.site.folder / "app.prv") == []


def test_every_message_has_both_sides_that_agree(run):
    messages = run.trace.messages.to_pylist()

    sends = {SEND, ISEND, SENDRECV}
    count = sum(value in sends for _, value, *_ in run.records.calls)
    assert len(messages) == count + 3 * RANKS  # three turns of a persistent request
    assert all(row["sent_bytes"] == row["received_bytes"] > 0 for row in messages)
    assert run.trace.defects.num_rows == 0


def test_no_message_arrives_before_it_left(run):
    """All processes read one clock, so that the stated accuracy is 0."""
    assert all(fields[11] >= fields[4] for fields in run.records.messages)


def test_records_of_messages_have_the_times_of_their_calls(run):
    entered = {
        (task, enter): (value, leave) for task, value, enter, leave, _ in run.records.calls
    }
    left = {(task, leave): (value, enter) for task, value, enter, leave, _ in run.records.calls}
    seen = Counter()
    for fields in run.records.messages:
        sender, receiver = fields[2], fields[8]
        send, send_leave = entered[sender, fields[4]]
        receive, receive_enter = left[receiver, fields[11]]
        assert fields[5] == (fields[4] if send in {SENDRECV, START} else send_leave)
        if receive in {RECV, SENDRECV}:
            assert fields[10] == receive_enter
        elif send == START:
            assert entered[receiver, fields[10]][0] == START
        else:
            assert left[receiver, fields[10]][0] == IRECV
        seen[NAMES[send], NAMES[receive]] += 1
    assert seen["Isend", "Waitall"] == 4 * RANKS
    assert seen["Sendrecv", "Sendrecv"] == 4 * RANKS
    assert seen["Start", "Waitall"] == 3 * RANKS
    assert seen["Send", "Waitany"] == seen["Send", "Test"] == 4 * 3


def test_collectives_carry_the_sizes_that_extrae_writes(run):
    turns = defaultdict(int)
    for task, value, _, _, pairs in run.records.calls:
        if value not in {BCAST, BARRIER, REDUCE, ALLTOALL}:
            assert COMMUNICATOR not in pairs or value not in NAMES
            continue
        turns[task, value] += 1
        size = INT * turns[task, value]
        members = run.records.members[pairs[COMMUNICATOR]]
        is_root = task == {BCAST: 2, REDUCE: 3}.get(value)
        assert task in members
        assert pairs.get(ROOT, 0) == is_root
        assert (pairs[SENT], pairs[RECEIVED]) == {
            BCAST: (size * is_root, size * (not is_root)),
            BARRIER: (0, 0),
            REDUCE: (size * (not is_root), size * is_root),
            ALLTOALL: (size, size * len(members)),
        }[value]
    alltoall = [
        run.records.members[pairs[COMMUNICATOR]]
        for _, value, _, _, pairs in run.records.calls
        if value == ALLTOALL
    ]
    assert sorted(map(len, alltoall)) == [1] * 8 + [2] * 8


def test_each_call_names_its_caller_and_not_the_library(run):
    lines = PROGRAM.read_text().splitlines()
    for _, value, _, _, pairs in run.records.calls:
        function = run.label(70000001, pairs[70000001])
        place = run.label(80000001, pairs[80000001])
        if value not in NAMES:
            continue
        assert function == f"MPI_{NAMES[value]}", function
        number = int(re.fullmatch(r"(\d+) \(counts_itself\.c\)", place)[1])
        assert "COUNTED(" in lines[number - 1]
