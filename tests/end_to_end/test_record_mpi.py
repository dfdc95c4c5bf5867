"""What becomes of programs in MPI's corners: counts known by construction, for every MPI."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow.compute as pc
import pytest

from burstline.formats.raw import read as read_raw
from burstline.model import Trace
from recording import SETTINGS

Recorded = Callable[..., Trace]
Recorder = Callable[[str], Path]

PROGRAMS = Path(__file__).parents[1] / "record"
DOUBLE = 8
THREADS, TURNS = 4, 200  # as mpi_threads.c has them


def _recorded(
    recorder: Recorder, folder: Path, tools: tuple[str, str], name: str, **settings: str
) -> Trace:
    compiler, launcher = tools
    program, raw = folder / name, folder / "raw"
    raw.mkdir()
    source = PROGRAMS / f"{name}.c"
    subprocess.run([compiler, "-w", "-pthread", "-o", program, source], check=True)
    told = [f"LD_PRELOAD={recorder(compiler)}", f"BURSTLINE_DIR={raw}", "BURSTLINE_COUNTERS="]
    told += [f"BURSTLINE_{key}={value}" for key, value in settings.items()]
    done = subprocess.run(
        [launcher, "-n", "2", "env", *told, program, folder / "file"],
        env=os.environ | SETTINGS,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.count("done") >= 2, done.stdout + done.stderr
    return read_raw(raw)


def _rows(trace: Trace, table: str, *columns: str) -> list[tuple[object, ...]]:
    lists = [trace.table(table)[name].to_pylist() for name in columns]
    return list(zip(*lists, strict=True))


def _operations(trace: Trace) -> dict[tuple[object, ...], object]:
    rows = _rows(trace, "calls", "location", "call", "operation")
    return {(location, call): operation for location, call, operation in rows}


MESSAGES = {  # of mpi_corners.c: tag, doubles: how many
    **{(1, length): 1 for length in range(1, 5)},
    (2, 2): 4,
    (3, 3): 2,
}
TOGETHER = """
Alltoallw Alltoall Allgather Bcast Cart_create Dist_graph_create_adjacent Comm_dup Comm_split
Comm_create | Neighbor_allgather Neighbor_alltoallv Comm_free | Neighbor_allgather
Neighbor_alltoallw Comm_free | Comm_create_group File_open File_set_view File_write_at_all
File_write_at_all_begin File_iread_at_all File_close Comm_free | Win_allocate Win_fence
Win_fence Win_free Comm_idup Comm_free | Comm_free
"""
MOVED = {  # operation: bytes that ranks 0 and 1 send, and receive
    "Alltoallw": ((9, 9), (2, 16)),
    "Alltoall": ((48, 48), (48, 48)),
    "Allgather": ((40, 40), (80, 80)),
    "Bcast": ((56, 0), (0, 56)),
    "Neighbor_alltoallv": ((16, 32), (32, 16)),
    "Neighbor_alltoallw": ((4, 0), (0, 4)),
}


class Corners:
    """Laws of mpi_corners.c; `recorded` is the fixture of an MPI."""

    def test_nothing_is_odd_and_every_message_is_known(self, recorded: Recorded) -> None:
        trace = recorded("mpi_corners")

        assert not trace.defects.num_rows, trace.defects.to_pylist()
        rows = _rows(trace, "messages", "tag", "sent_bytes", "received_bytes")
        assert Counter((tag, sent // DOUBLE) for tag, sent, _ in rows) == MESSAGES
        assert all(sent == received for _, sent, received in rows)
        self._check_matched(trace)
        self._check_collectives(trace)
        self._check_bytes(trace)

    @staticmethod
    def _check_matched(trace: Trace) -> None:
        """Know messages by their doubles; 1 and 3 were probed, and received last."""
        operation = _operations(trace)
        columns = ("tag", "sent_bytes", "receiver_location", "post_call", "receive_call")
        found = {
            size // DOUBLE: (operation[to, post], operation[to, call])
            for tag, size, to, post, call in _rows(trace, "messages", *columns)
            if tag == 1
        }
        assert found == {
            1: ("MPI_Mrecv", "MPI_Mrecv"),
            2: ("MPI_Recv", "MPI_Recv"),
            3: ("MPI_Imrecv", "MPI_Wait"),
            4: ("MPI_Recv", "MPI_Recv"),
        }

    @staticmethod
    def _check_collectives(trace: Trace) -> None:
        found: dict[object, list[str]] = {}
        for communicator, operation, complete in _rows(
            trace, "collectives", "communicator", "operation", "complete"
        ):
            assert complete
            found.setdefault(communicator, []).append(str(operation).removeprefix("MPI_"))
        assert sorted(found.values()) == sorted(part.split() for part in TOGETHER.split("|"))
        operation_of = _operations(trace)
        columns = ("location", "call", "done_call")
        done = {
            operation_of[where, call]: operation_of[where, last]
            for where, call, last in _rows(trace, "collective_members", *columns)
        }
        assert done["MPI_Comm_idup"] == done["MPI_File_iread_at_all"] == "MPI_Wait"
        assert done["MPI_File_write_at_all_begin"] == "MPI_File_write_at_all_end"

    @staticmethod
    def _check_bytes(trace: Trace) -> None:
        columns = ("location", "operation", "sent_bytes", "received_bytes")
        found: dict[str, dict[object, tuple[object, object]]] = {}
        for location, operation, sent, received in _rows(trace, "calls", *columns):
            name = str(operation).removeprefix("MPI_")
            if name in MOVED:
                found.setdefault(name, {})[location] = (sent, received)
        for name, (sent, received) in MOVED.items():
            assert found[name] == dict(enumerate(zip(sent, received, strict=True))), name

    def test_what_is_filtered_out_says_nothing_and_spoils_nothing(
        self, recorded: Recorded
    ) -> None:
        trace = recorded("mpi_corners", CALLS="-MPI_Isend,-MPI_Irecv,-MPI_Comm_dup")

        left_out = {"MPI_Isend", "MPI_Irecv", "MPI_Comm_dup"}
        assert not left_out & set(_operations(trace).values())
        tags = Counter(tag for (tag,) in _rows(trace, "messages", "tag"))
        assert tags == {1: 4, 2: 4}
        assert all(complete for (complete,) in _rows(trace, "collectives", "complete"))
        # What a receive brought is known when it completes, but not who sent it when.
        kinds = {kind for (kind,) in _rows(trace, "defects", "kind")}
        assert kinds == {"completion_without_start", "unmatched_receive"}

    def test_communicators_that_are_freed_take_no_memory(self, recorded: Recorded) -> None:
        trace = recorded("mpi_communicators")

        assert not trace.defects.num_rows, trace.defects.to_pylist()
        columns = ("sender_location", "receiver_location", "tag", "received_bytes")
        rows = Counter(_rows(trace, "messages", *columns))
        assert rows == {(0, 1, 5, 4): 1, (1, 0, 5, 4): 1}

    def test_without_calls_that_complete_requests_none_is_followed(
        self, recorded: Recorded
    ) -> None:
        trace = recorded("mpi_corners", CALLS="MPI_Bcast,MPI_Barrier")

        assert set(_operations(trace).values()) == {"MPI_Bcast"}
        assert _rows(trace, "collectives", "operation", "complete") == [("MPI_Bcast", True)]
        assert not trace.rows("messages")
        assert not trace.defects.num_rows, trace.defects.to_pylist()

    def test_a_rank_that_spins_on_polls_waits_and_one_that_computes_between_them_does_not(
        self, recorded: Recorded
    ) -> None:
        trace = recorded("mpi_polls")

        bursts = trace.bursts.filter(pc.greater(trace.bursts["polls"], 0)).to_pylist()
        operations = _operations(trace)
        ends = [operations[burst["location"], burst["call_after"]] for burst in bursts]
        assert ends == ["MPI_Test"] * 2, "polls are in the burst before the one that succeeds"
        spins, computes = bursts
        assert spins["waiting_ns"] > 0.9 * (spins["end_ns"] - spins["start_ns"])
        length = computes["end_ns"] - computes["start_ns"]
        assert computes["waiting_ns"] - computes["polling_ns"] < 0.1 * length

    def test_threads_that_call_at_once_keep_their_own_requests(
        self, recorded: Recorded
    ) -> None:
        trace = recorded("mpi_threads")

        columns = ("sender_location", "tag", "sent_bytes", "received_bytes", "send_done_call")
        rows = _rows(trace, "messages", *columns)
        sizes = Counter((tag, size) for _, tag, size, _, _ in rows)
        assert sizes == {
            (tag, length * DOUBLE): 2 * TURNS // 4
            for tag in range(THREADS)
            for length in range(1, 5)
        }
        assert all(size == got and done is not None for _, _, size, got, done in rows)
        assert not trace.defects.num_rows, trace.defects.to_pylist()
        barriers = Counter(
            (communicator, complete)
            for communicator, operation, complete in _rows(
                trace, "collectives", "communicator", "operation", "complete"
            )
            if operation == "MPI_Barrier"
        )
        assert sorted(barriers.values()) == [TURNS // 20] * THREADS
        assert all(complete for _, complete in barriers)


class TestOpenMpi(Corners):
    @pytest.fixture
    def recorded(
        self, recorder: Recorder, open_mpi: tuple[str, str], tmp_path: Path
    ) -> Recorded:
        return partial(_recorded, recorder, tmp_path, open_mpi)

    def test_processes_of_another_job_are_nobody_known(self, recorded: Recorded) -> None:
        trace = recorded("mpi_spawn")

        assert [tag for (tag,) in _rows(trace, "messages", "tag")] == [4, 4]
        assert _rows(trace, "defects", "kind", "count") == [("message_of_unknown_rank", 4)]


class TestMpich(Corners):
    @pytest.fixture
    def recorded(self, recorder: Recorder, mpich: tuple[str, str], tmp_path: Path) -> Recorded:
        return partial(_recorded, recorder, tmp_path, mpich)

    def test_what_mpi_4_brought_is_followed(self, recorded: Recorded) -> None:
        trace = recorded("mpi_four")

        assert not trace.defects.num_rows, trace.defects.to_pylist()
        rows = _rows(trace, "messages", "tag", "sent_bytes", "received_bytes")
        expected = {(4, 32, 32): 2, (5, 40, 40): 2, (6, 64, 64): 4, (7, 56, 56): 2}
        assert Counter(rows) == expected
        found = _rows(trace, "collectives", "operation", "root", "complete")
        pair = [("MPI_Bcast_init", 1, True), ("MPI_Allreduce_init", None, True)]
        assert found == [*pair, *pair, pair[1], ("MPI_Allgather", None, True)]
        operation = _operations(trace)
        for where, call, done in _rows(
            trace, "collective_members", "location", "call", "done_call"
        )[:-2]:
            assert str(operation[where, call]).startswith("MPI_Start")
            assert str(operation[where, done]).startswith("MPI_Wait")

    def test_a_program_with_sessions_only_has_ranks(self, recorded: Recorded) -> None:
        trace = recorded("mpi_session")

        assert not trace.defects.num_rows, trace.defects.to_pylist()
        assert _rows(trace, "locations", "rank") == [(0,), (1,)]
        assert Counter(_rows(trace, "messages", "sender_location", "tag")) == {
            (0, 1): 1,
            (1, 1): 1,
        }
        assert [name for (name,) in _rows(trace, "collectives", "operation")] == [
            "MPI_Comm_create_from_group",
            "MPI_Barrier",
            "MPI_Comm_free",
        ]
