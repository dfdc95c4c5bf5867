"""What the wrappers write for a program whose every call and byte is known."""

from __future__ import annotations

import os
import struct
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from burstline.formats.raw import operation_numbers
from burstline.model import operations
from recording import SETTINGS

PROGRAM = Path(__file__).with_name("every_call.c")
RAW = struct.Struct("<QHHIQQ")
ENTER, LEAVE, THREAD = 1, 2, 4
COLLECTIVE, ROOT, SEND, SEND_DONE, POST, RECEIVE, CANCELLED = range(10, 17)
FREED, COLLECTIVE_DONE, IO, RMA, PROBE, MISSES = range(17, 23)
RANK, COMMUNICATOR, MEMBERS, CLOCK = 30, 31, 32, 72
DOUBLE = 8


class Record(NamedTuple):
    time: int
    kind: int
    op: int
    a: int
    b: int
    c: int

    @property
    def peer(self) -> int:
        return self.a - (1 << 32) if self.a >> 31 else self.a

    @property
    def tag(self) -> int:
        low = self.b & 0xFFFFFFFF
        return low - (1 << 32) if low >> 31 else low


Run = dict[int, list[Record]]
Recorder = Callable[[str], Path]


def _records(path: Path) -> list[Record]:
    """Return the records of the first thread, whose pieces stand in order."""
    found, is_own = [], False
    for record in map(Record._make, RAW.iter_unpack(path.read_bytes()[4096:])):
        if record.kind == THREAD:
            is_own = record.a == 0
        elif is_own and record.kind:
            found.append(record)
    return found


def _run(recorder: Recorder, folder: Path, tools: tuple[str, str], **settings: str) -> Run:
    compiler, launcher = tools
    program, raw = folder / "program", folder / "raw"
    raw.mkdir()
    subprocess.run([compiler, "-w", "-o", program, PROGRAM], check=True)
    preload = [f"LD_PRELOAD={recorder(compiler)}", f"BURSTLINE_DIR={raw}"]
    preload.append("BURSTLINE_COUNTERS=")
    preload += [f"BURSTLINE_{name}={value}" for name, value in settings.items()]
    words = [launcher, "-n", "2", "env", *preload, program, folder / "file"]
    done = subprocess.run(
        words,
        env=os.environ | SETTINGS,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.count("done") == 2  # launchers may glue lines
    lists = [_records(path) for path in raw.glob("*.raw")]
    return {next(r.a for r in found if r.kind == RANK): found for found in lists}


@pytest.fixture(scope="module")
def of_open_mpi(
    recorder: Recorder, open_mpi: tuple[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Run:
    return _run(recorder, tmp_path_factory.mktemp("open_mpi"), open_mpi, CLOCKS="all")


@pytest.fixture(scope="module")
def of_mpich(
    recorder: Recorder, mpich: tuple[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Run:
    return _run(recorder, tmp_path_factory.mktemp("mpich"), mpich, CLOCKS="all", MISSES="0")


def _calls(records: list[Record]) -> list[tuple[str, list[Record]]]:
    names, found = operation_numbers(), []
    for record in records:
        if record.kind == ENTER:
            found.append((names[record.op], []))
        elif record.kind != LEAVE and found:
            found[-1][1].append(record)
    return found


def _comm_names(records: list[Record]) -> dict[int, int]:
    return {record.a: record.b for record in records if record.kind == COMMUNICATOR}


def _messages(run: Run, kind: int) -> Counter[tuple[int, int, int, int, int]]:
    """Messages as (sender, receiver, communicator, tag, bytes)."""
    found: Counter[tuple[int, int, int, int, int]] = Counter()
    for rank, records in run.items():
        names = _comm_names(records)
        for r in records:
            if r.kind == kind and r.peer >= 0:
                ends = (rank, r.peer) if kind == SEND else (r.peer, rank)
                found[*ends, names[r.b >> 32], r.tag, r.c] += 1
    return found


def _collectives(rank: int) -> list[tuple[str, int, int]]:
    """Tell what every_call.c moves: operation, sent and received bytes."""
    one, root = 1 + rank, rank == 1
    doubles = [
        ("Barrier", 0, 0),
        ("Bcast", 2 * root, 2 * (not root)),
        ("Reduce", 3, 3 * root),
        ("Allreduce", 4, 4),
        ("Gather", 5, 10 * (not root)),
        ("Gather", 5, 10 * (not root)),
        ("Gatherv", one, 3 * (not root)),
        ("Scatter", 12 * (not root), 6),
        ("Scatterv", 3 * root, one),
        ("Allgather", 7, 14),
        ("Allgatherv", one, 3),
        ("Alltoall", 16, 16),
        ("Alltoallv", 2 * one, 3),
        ("Alltoallw", 1, 1),  # two floats
        ("Reduce_scatter", 3, one),
        ("Reduce_scatter_block", 6, 3),
        ("Scan", 2, 2),
        ("Exscan", 2, 2 * root),
        ("Ibcast", 3 * (not root), 3 * root),
        ("Barrier", 0, 0),
        ("Neighbor_alltoall", 8, 8),
        ("Allgather", 2, 2),  # of an intercommunicator
        ("Barrier", 0, 0),
    ]
    return [(f"MPI_{name}", sent * DOUBLE, got * DOUBLE) for name, sent, got in doubles]


class Laws:
    """What holds whichever MPI it is; `run` is the fixture of one."""

    def test_every_message_knows_both_sides(self, run: Run) -> None:
        sent = _messages(run, SEND)
        assert sent == _messages(run, RECEIVE)
        sizes = Counter((tag, size) for _, _, _, tag, size in sent.elements())
        singles = [(tag, (2 + tag) * DOUBLE) for tag in range(1, 7)]
        singles += [(7, 16), (9, 4), (10, 1)]
        assert sizes == Counter(dict.fromkeys(singles, 2) | {(8, 72): 6})

    def test_peers_are_world_ranks_in_every_communicator(self, run: Run) -> None:
        kinds = (SEND, RECEIVE, PROBE, RMA)
        for rank, records in run.items():
            peers = {r.peer for r in records if r.kind in kinds}
            assert peers <= {1 - rank, -1}

    def test_every_request_is_completed_once_by_the_call_that_did_it(self, run: Run) -> None:
        for records in run.values():
            begun = Counter(
                r.time for r in records if r.kind in {SEND, POST, COLLECTIVE} and r.time
            )
            ends = {SEND_DONE, RECEIVE, CANCELLED, COLLECTIVE_DONE, FREED}
            ended = Counter(r.time for r in records if r.kind in ends and r.time)
            assert begun == ended
            assert set(begun.values()) == {1}
            for name, said in _calls(records):
                if {r.kind for r in said if r.time} & ends:
                    assert name.startswith(("MPI_Wait", "MPI_Test", "MPI_Request_get_status"))

    def test_only_the_cancelled_receive_is_cancelled(self, run: Run) -> None:
        for records in run.values():
            posts = {r.time: r.tag for r in records if r.kind == POST}
            assert [posts[r.time] for r in records if r.kind == CANCELLED] == [999]

    def test_collectives_count_what_this_process_sends_and_receives(self, run: Run) -> None:
        for rank, records in run.items():
            found = [
                (name, r.b, r.c)
                for name, said in _calls(records)
                for r in said
                if r.kind == COLLECTIVE and name in operations.COLLECTIVES
            ]
            assert found == _collectives(rank)

    def test_the_root_says_so_and_all_name_it(self, run: Run) -> None:
        for rank, records in run.items():
            for _, said in _calls(records):
                for root in (r for r in said if r.kind == ROOT):
                    mine = next(r for r in said if r.kind == COLLECTIVE)
                    assert mine.op == (root.b == rank)

    def test_communicators_have_one_name_on_all_members_and_no_other_has_it(
        self, run: Run
    ) -> None:
        names = [_comm_names(run[rank]) for rank in (0, 1)]
        common = set(names[0].values()) & set(names[1].values())
        assert len(common) == 6
        for own in names:  # each its half of a split
            assert len(own) == len(set(own.values())) == len(common) + 1

    def test_one_sided_and_file_calls_count_bytes(self, run: Run) -> None:
        for rank, records in run.items():
            moved = [(r.op, r.peer, r.c) for r in records if r.kind == RMA]
            assert moved == [(1, 1 - rank, 24), (2, 1 - rank, 16)]
            assert [(r.b, r.c) for r in records if r.kind == IO] == [(40, 0), (0, 40)]

    def test_calls_of_the_library_to_itself_are_not_recorded(self, run: Run) -> None:
        for records in run.values():
            count = Counter(name for name, _ in _calls(records))
            assert count["MPI_Comm_dup"] == 0
            assert count["MPI_Init"] == count["MPI_Finalize"] == 1
            assert count["MPI_Comm_split"] == 2

    def test_enter_and_leave_alternate_in_the_order_of_time(self, run: Run) -> None:
        for records in run.values():
            calls = [r for r in records if r.kind in {ENTER, LEAVE}]
            assert [r.kind for r in calls] == [ENTER, LEAVE] * (len(calls) // 2)
            assert [r.op for r in calls[::2]] == [r.op for r in calls[1::2]]
            times = [r.time for r in calls]
            assert times == sorted(times)

    def test_the_clock_is_measured_at_the_beginning_and_at_the_end(self, run: Run) -> None:
        """Both processes share a clock, so that what is measured must agree with it."""
        for records in run.values():
            samples = [r for r in records if r.kind == CLOCK]
            assert [r.op for r in samples] == [0, 1]
            assert all(abs(r.b - r.time) <= r.c for r in samples)
        assert all(r.c > 0 for r in run[1] if r.kind == CLOCK)


class TestOpenMpi(Laws):
    @pytest.fixture
    def run(self, of_open_mpi: Run) -> Run:
        return of_open_mpi

    def test_polls_without_success_are_summed_up(self, run: Run) -> None:
        for records in run.values():
            assert Counter(name for name, _ in _calls(records))["MPI_Testall"] == 1


class TestMpich(Laws):
    @pytest.fixture
    def run(self, of_mpich: Run) -> Run:
        return of_mpich

    def test_polls_without_success_are_recorded_if_asked_for(self, run: Run) -> None:
        for records in run.values():
            assert not [r for r in records if r.kind == MISSES]
