"""What children measure of waits: each function prepares, and returns the work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from burstline import Trace
from burstline.columns import NO_VALUE, UNKNOWN
from burstline.model import CODES, TableSchema

Task = Callable[[], dict[str, Any]]
Stamps = npt.NDArray[np.int64]  # (iterations, ranks)

__all__ = ["clocks", "waits"]

_WORK_NS: Final = 20_000
_CALL_NS: Final = 300
_BYTES: Final = 1024
# An iteration: regions, by their places in a step, and calls; each with its events.
_REGIONS: Final = ("step", "prepare", "fill", "solve")
_CALLS: Final = ("Irecv", "Send", "Wait", "Send", "Allreduce")
_EVENTS: Final = 23
"""Of an iteration, and a rank: 18 enters and leaves, 3 sides of messages, 2 of a collective."""


def waits(
    ranks: int, iterations: int, places: int, *, causes: bool, clock: str = "physical"
) -> Task:
    """Find the waits of a trace in which each step is at one of some places of the program."""
    from burstline.waits import states_of  # noqa: PLC0415 -- in the child

    trace = in_memory(ranks, iterations, places)
    if clock != "physical":
        trace = with_counters(trace)
    states_of(in_memory(2, 2, 1), None, causes=causes)

    def run() -> dict[str, Any]:
        profile = states_of(trace, None, clock=clock, causes=causes).profile
        return {
            "events": _EVENTS * ranks * iterations,
            "call_paths": profile.call_paths.num_rows,
            "metrics": len(profile.stored),
        }

    return run


def clocks(ranks: int, iterations: int) -> Task:
    """Stamp a trace by all five logical clocks, in one replay."""
    from burstline.clocks import CLOCKS, Effort, all_stamps  # noqa: PLC0415 -- in the child

    trace = with_counters(in_memory(ranks, iterations, 4))
    efforts = [Effort(clock) for clock in CLOCKS]
    all_stamps(with_counters(in_memory(2, 2, 1)), efforts)

    def run() -> dict[str, Any]:
        stamps = all_stamps(trace, efforts)
        ends = [each.end for each in stamps]
        return {"events": _EVENTS * ranks * iterations, "ends": ends}

    return run


def with_counters(trace: Trace) -> Trace:
    """The same, with work counters read where a call is entered and left."""
    import pyarrow as pa  # noqa: PLC0415 -- in the child

    from burstline.model import Trace, schema  # noqa: PLC0415 -- in the child

    names = "IR_BB", "IR_TOT_INS", "IR_LOOP_ITER"
    location, *columns = trace.arrays(
        "calls", "location", "enter_seq", "leave_seq", "enter_ns", "leave_ns"
    )
    seq, time_ns = (np.column_stack(columns[k : k + 2]).reshape(-1) for k in (0, 2))
    count = np.arange(len(seq)) % 1000
    tables = {name: trace.table(name) for name in schema.TABLES if name in trace}
    tables["readings"] = schema.arrow_table(
        "readings",
        {"location": np.repeat(location, 2), "seq": seq, "time_ns": time_ns}
        | dict.fromkeys(names, count),
        counters=names,
    )
    rows = [(name, "", "delta", 0) for name in names]
    tables["counters"] = schema.row_table("counters", rows)
    return Trace(dict[str, pa.Table](tables))


class _Program:
    """The stamps of all ranks, shape (iterations, ranks), as they exchange along a ring."""

    def __init__(self, ranks: int, iterations: int) -> None:
        rng = np.random.default_rng(0)
        self.ranks, self.iterations = ranks, iterations
        self.shape = iterations, ranks
        self.enter = np.zeros((9, iterations, ranks), np.int64)
        self.leave = np.zeros((9, iterations, ranks), np.int64)
        now = np.full(ranks, 1_000, np.int64)
        pairs = ranks // 2
        work = rng.integers(_WORK_NS // 2, _WORK_NS, (3, iterations, ranks))
        for step in range(iterations):
            enter, leave = self.enter[:, step], self.leave[:, step]
            enter[0] = now
            enter[1] = now + 10
            enter[2] = enter[1] + 50
            leave[2] = enter[2] + work[0, step]
            leave[1] = leave[2] + work[1, step] // 4
            enter[3] = leave[1] + 20
            leave[3] = enter[3] + _CALL_NS
            enter[4] = leave[3] + 20
            leave[4] = enter[4] + _CALL_NS
            enter[5] = leave[4] + 20
            leave[5] = np.maximum(enter[5], np.roll(enter[4], 1)) + _CALL_NS
            enter[6] = leave[5] + 20
            leave[6] = enter[6] + work[2, step]
            # Even ranks send, odd ranks receive: each waits for the other.
            enter[7] = leave[6] + 20
            both = enter[7][: 2 * pairs].reshape(-1, 2).max(axis=1)
            leave[7] = enter[7] + _CALL_NS
            leave[7][: 2 * pairs] = np.repeat(both, 2) + _CALL_NS
            enter[8] = leave[7] + 20
            leave[8] = enter[8].max() + rng.integers(1, _CALL_NS, ranks)
            leave[0] = leave[8] + 10
            now = leave[0] + 10
        self.end_ns = int(self.leave.max()) + 999


# Of the nine intervals of a step: which are calls, and the ordinals of their enters and leaves.
_IS_CALL: Final = np.array([0, 0, 0, 1, 1, 1, 0, 1, 1], bool)
_ENTER_SEQ: Final = np.array([0, 1, 2, 5, 7, 9, 11, 13, 15])
_LEAVE_SEQ: Final = np.array([17, 4, 3, 6, 8, 10, 12, 14, 16])
_PARENT: Final = np.array([0, 1, 2, 1])  # of the regions of a step, in it; 0: main
_SEQS: Final = 18


def in_memory(ranks: int, iterations: int, places: int) -> Trace:
    """The tables of a run of an even number of ranks: along a ring, in pairs, all together."""
    from burstline.model import Trace, schema  # noqa: PLC0415 -- in the child

    program = _Program(ranks, iterations)
    ids, zeros = np.arange(ranks), np.zeros(ranks, np.int64)
    names = ["main", *(f"{name}_{k}" for k in range(places) for name in _REGIONS)]
    tables: dict[str, dict[str, Any]] = {
        "locations": {
            "location": ids, "process": ids, "rank": ids,
            "application": zeros, "thread": zeros, "kind": zeros,
            "born_ns": zeros, "died_ns": zeros + program.end_ns,
            "name": [f"rank {rank}" for rank in range(ranks)],
        },
        "calls": _calls(program),
        "regions": _regions(program, places),
        "messages": _messages(program),
        "collectives": {
            "communicator": np.zeros(iterations, np.int64),
            "operation": np.full(iterations, CODES["MPI_Allreduce"]),
            "sequence": np.arange(iterations), "complete": np.ones(iterations, bool),
        },
        "collective_members": _members(program),
        "communicators": {
            "communicator": [0], "application": [0], "kind": [0], "members": [ids.tolist()],
            "ambiguous": [False], "source_id": [1],
        },
        "region_defs": {
            "region": np.arange(len(names)), "name": names,
            "paradigm": np.zeros(len(names), np.int64), "role": ["function"] * len(names),
        },
    }  # fmt: skip
    return Trace(
        {
            name: schema.arrow_table(name, _whole(schema.TABLES[name], columns))
            for name, columns in tables.items()
        }
    )


def _whole(table: TableSchema, columns: dict[str, Any]) -> dict[str, Any]:
    """All columns of a table: null where nothing is told."""
    rows = len(next(iter(columns.values())))
    absent = {"int64": NO_VALUE, "int32": UNKNOWN, "enum": UNKNOWN, "operation": UNKNOWN}
    return {
        column.name: np.full(rows, absent[column.type])
        if column.type in absent
        else [None] * rows
        for column in table.columns
    } | columns


def _by_rank(columns: Stamps) -> npt.NDArray[np.int64]:
    """Columns of intervals (kinds, iterations, ranks) as one, rank after rank."""
    return columns.transpose(2, 1, 0).reshape(-1)


def _seqs(program: _Program, of_step: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Ordinals of an event of each step, behind the enters of main and MPI_Init."""
    steps = 3 + _SEQS * np.arange(program.iterations)
    return np.broadcast_to(
        (of_step[:, None] + steps)[:, :, None], (*of_step.shape, *program.shape)
    )


def _calls(program: _Program) -> dict[str, Any]:
    """MPI_Init, the calls of each step, and MPI_Finalize."""
    ranks, iterations = program.ranks, program.iterations
    a_rank = 5 * iterations + 2
    operation = np.array([CODES[f"MPI_{name}"] for name in _CALLS])
    codes = np.broadcast_to(operation[:, None, None], (5, *program.shape)).copy()
    codes[3, :, 1::2] = CODES["MPI_Recv"]
    end = program.leave[0, -1]

    def column(of_steps: Stamps, first: Any, last: Any) -> npt.NDArray[np.int64]:
        whole = np.empty((ranks, a_rank), np.int64)
        whole[:, 0], whole[:, -1] = first, last
        whole[:, 1:-1] = _by_rank(of_steps).reshape(ranks, -1)
        return whole.reshape(-1)

    last_seq = 3 + _SEQS * iterations
    return {
        "location": np.repeat(np.arange(ranks), a_rank),
        "call": np.tile(np.arange(a_rank), ranks),
        "operation": column(codes, CODES["MPI_Init"], CODES["MPI_Finalize"]),
        "enter_ns": column(program.enter[_IS_CALL], 100, end + 50),
        "leave_ns": column(program.leave[_IS_CALL], 900, end.max() + 300),
        "enter_seq": column(_seqs(program, _ENTER_SEQ[_IS_CALL]), 1, last_seq),
        "leave_seq": column(_seqs(program, _LEAVE_SEQ[_IS_CALL]), 2, last_seq + 1),
    }


def _regions(program: _Program, places: int) -> dict[str, Any]:
    """The function `main` around all, and four regions of each step."""
    ranks, iterations = program.ranks, program.iterations
    a_rank = 4 * iterations + 1
    step = np.arange(iterations)
    kind = 1 + 4 * (step % places) + np.arange(4)[:, None]
    parent = np.where(_PARENT[:, None] > 0, 4 * step + _PARENT[:, None], 0)

    def column(of_steps: Stamps, first: Any) -> npt.NDArray[np.int64]:
        whole = np.empty((ranks, a_rank), np.int64)
        whole[:, 0] = first
        shape = (4, *program.shape)
        columns = of_steps if of_steps.ndim == len(shape) else of_steps[:, :, None]
        whole[:, 1:] = _by_rank(np.broadcast_to(columns, shape)).reshape(ranks, -1)
        return whole.reshape(-1)

    return {
        "location": np.repeat(np.arange(ranks), a_rank),
        "row": np.tile(np.arange(a_rank), ranks),
        "region": column(kind, 0),
        "enter_ns": column(program.enter[~_IS_CALL], 50),
        "leave_ns": column(program.leave[~_IS_CALL], program.end_ns),
        "enter_seq": column(_seqs(program, _ENTER_SEQ[~_IS_CALL]), 0),
        "leave_seq": column(_seqs(program, _LEAVE_SEQ[~_IS_CALL]), 5 + _SEQS * iterations),
        "parent": column(parent, UNKNOWN),
        "origin": np.zeros(ranks * a_rank, np.int64),
    }


def _messages(program: _Program) -> dict[str, Any]:
    """A message of each rank to the next in each step, and one from each even rank."""
    ranks, iterations = program.ranks, program.iterations
    ring = np.arange(ranks)
    pairs = 2 * np.arange(ranks // 2)
    sender, receiver = np.append(ring, pairs), np.append(np.roll(ring, -1), pairs + 1)
    # Numbers of the intervals, and of the calls in a step, on both sides.
    is_pair = np.arange(len(sender)) >= ranks
    send, post, receive = (np.where(is_pair, 7, one) for one in (4, 3, 5))
    call_of = np.cumsum(_IS_CALL) - 1
    step = np.arange(iterations)[:, None]
    order = np.argsort(
        np.broadcast_to(sender, (iterations, len(sender))), axis=None, kind="stable"
    )

    def rows(values: Stamps) -> npt.NDArray[np.int64]:
        return np.broadcast_to(values, (iterations, len(sender))).reshape(-1)[order]

    def call(kind: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return rows(1 + 5 * step + call_of[kind])

    def seq(
        kind: npt.NDArray[np.int64], of_step: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        return rows(3 + _SEQS * step + of_step[kind])

    return {
        "sender_location": rows(sender),
        "receiver_location": rows(receiver),
        "send_call": call(send), "send_done_call": call(send),
        "post_call": call(post), "receive_call": call(receive),
        "send_ns": rows(program.enter[send, step, sender]),
        "send_seq": seq(send, _ENTER_SEQ), "send_done_seq": seq(send, _LEAVE_SEQ),
        "send_leave_ns": rows(program.leave[send, step, sender]),
        "send_done_ns": rows(program.leave[send, step, sender]),
        "post_ns": rows(program.enter[post, step, receiver]),
        "receive_ns": rows(program.leave[receive, step, receiver]),
        "post_seq": seq(post, _ENTER_SEQ), "receive_seq": seq(receive, _LEAVE_SEQ),
        "send_done_from": np.zeros(len(order), np.int64),
        "tag": np.zeros(len(order), np.int64),
        "sent_bytes": np.full(len(order), _BYTES),
        "received_bytes": np.full(len(order), _BYTES),
    }  # fmt: skip


def _members(program: _Program) -> dict[str, Any]:
    """The members of the collective of each step."""
    ranks, iterations = program.ranks, program.iterations
    rank = np.tile(np.arange(ranks), iterations)
    step = np.repeat(np.arange(iterations), ranks)
    call = 5 + 5 * step
    size = np.full(len(rank), 8)
    return {
        "collective": step, "location": rank, "comm_rank": rank,
        "call": call, "done_call": call,
        "begin_ns": program.enter[8].reshape(-1), "end_ns": program.leave[8].reshape(-1),
        "begin_seq": 3 + _SEQS * step + 15, "end_seq": 3 + _SEQS * step + 16,
        "sent_bytes": size, "received_bytes": size,
    }  # fmt: skip
