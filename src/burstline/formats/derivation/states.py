"""States of threads, and steps of locks, for a trace that has no records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from burstline import extrae
from burstline.columns import AnyIntegers, Integers, Mask, coded, enclosing, placed
from burstline.extrae import FORK_JOIN, IDLE, LOCK_TYPES, RUNNING, SYNCHRONISATION
from burstline.model import Trace, arrow_table, operations, schema

LOCK_TAKEN: Final = 39
"""Value of the lock status."""

_LOCKS: Final = ("lock", "critical", "ordered", "atomic")
_STATES: Final = {
    "parallel": FORK_JOIN,
    "team": RUNNING,
    "task": RUNNING,
    **dict.fromkeys(("barrier", "implicit_barrier", "join", "taskwait"), SYNCHRONISATION),
    **dict.fromkeys(("taskgroup", *_LOCKS), SYNCHRONISATION),
}
_SYNCHRONISING: Final = frozenset(
    [
        *(f"MPI_Win_{name}" for name in ("create", "free", "post", "start", "complete")),
        *(f"MPI_Win_{name}" for name in ("allocate", "allocate_shared", "create_dynamic")),
    ]
)


class LockSteps(NamedTuple):
    """Moments (location, time, seq) at which locks were taken and released, and addresses."""

    taken: tuple[Integers, Integers, Integers]
    released: tuple[Integers, Integers, Integers]
    address: Integers


def lock_steps(trace: Trace) -> LockSteps:
    """The steps of locks, but for releases at the end of a lock's region."""
    names = ("location", "lock", "acquire_ns", "acquire_seq", "release_ns", "release_seq")
    location, lock, acquire, acquire_seq, release, release_seq = _int64(
        trace.arrays("locks", *names)
    )
    where, region, leave_seq = trace.arrays("regions", "location", "region", "leave_seq")
    kinds = trace.arrays("region_defs", "source_type")[0]
    is_step = np.isin(kinds, list(LOCK_TYPES))[region] if len(region) else np.zeros(0, bool)
    span = _key_span(leave_seq, release_seq)
    ends = where[is_step].astype(np.int64) * span + leave_seq[is_step]
    let = release_seq >= 0
    let &= ~np.isin(location * span + release_seq, ends)
    return LockSteps(
        (location, acquire, acquire_seq), (location[let], release[let], release_seq[let]), lock
    )


def _int64(
    columns: Iterable[AnyIntegers], rows: Integers | slice = slice(None)
) -> tuple[Integers, ...]:
    return tuple(column[rows].astype(np.int64) for column in columns)


def openmp_states(trace: Trace) -> tuple[Integers, Integers, Integers, Integers]:
    """Location, begin, end, state in OpenMP: of the innermost region, idle outside of teams."""
    columns = trace.arrays(
        "regions", "location", "region", "enter_ns", "leave_ns", "enter_seq", "leave_seq"
    )
    defined = trace.table("region_defs")
    roles, paradigms = (defined[name].to_pylist() for name in ("role", "paradigm"))
    states = [
        _STATES.get(role, -1) if paradigm == "openmp" else -1
        for role, paradigm in zip(roles, paradigms, strict=True)
    ]
    state_of = np.array(states, np.int64)
    has_state = np.append(state_of, -1)[columns[1]] >= 0
    rows = np.flatnonzero(has_state)
    if not len(rows):
        return (np.zeros(0, np.int64),) * 4
    location, region, enter, leave, enter_seq, leave_seq = _int64(columns, rows)
    locks = np.isin(np.array(roles)[region], _LOCKS)
    leave, leave_seq = _until_taken(trace, locks, (location, enter_seq), (leave, leave_seq))
    span = _key_span(enter_seq, leave_seq)
    begin, end = location * span + enter_seq, location * span + leave_seq
    around = enclosing(begin, end)
    in_team = location[np.array(roles)[region] == "team"]
    base = placed(IDLE, in_team, trace.rows("locations"), RUNNING)
    base[trace.arrays("calls", "location")[0]] = RUNNING
    state = state_of[region]
    after = np.where(around >= 0, state[around], base[location])
    order = np.argsort(np.concatenate([begin, end]), kind="stable")
    where = np.concatenate([location, location])[order]
    time = np.concatenate([enter, leave])[order]
    return _state_pieces(trace, where, time, np.concatenate([state, after])[order], base)


def _key_span(*seq: AnyIntegers) -> int:
    return max(int(ordinals.max(initial=0)) for ordinals in seq) + 2


def _until_taken(
    trace: Trace, locks: Mask, begin: tuple[Integers, Integers], end: tuple[Integers, Integers]
) -> tuple[Integers, Integers]:
    """The ends of regions; of locks, the moment at which they were taken, if recorded."""
    where, when, seq = _int64(trace.arrays("locks", "location", "acquire_ns", "acquire_seq"))
    if not len(where):
        return end
    span = _key_span(seq, begin[1], end[1])
    keys = where * span + seq
    row = np.minimum(np.searchsorted(keys, begin[0] * span + begin[1]), len(keys) - 1)
    is_taken = locks & (where[row] == begin[0]) & (seq[row] >= begin[1]) & (seq[row] <= end[1])
    return np.where(is_taken, when[row], end[0]), np.where(is_taken, seq[row], end[1])


def _state_pieces(
    trace: Trace, where: Integers, time: Integers, state: Integers, base: Integers
) -> tuple[Integers, Integers, Integers, Integers]:
    born, died = trace.arrays("locations", "born_ns", "died_ns")
    last = np.ones(len(where), bool)
    last[:-1] = where[1:] != where[:-1]
    end = np.where(last, died[where], np.append(time[1:], schema.NO_VALUE))
    first = np.append(True, last[:-1])
    where = np.concatenate([where, where[first]])
    begin = np.concatenate([time, born[where[len(time) :]]])
    end = np.concatenate([end, time[first]])
    state = np.concatenate([state, base[where[len(time) :]]])
    is_piece = (state != RUNNING) & (begin < end)
    return where[is_piece], begin[is_piece], end[is_piece], state[is_piece]


def _mpi_names(names: str) -> dict[str, None]:
    return dict.fromkeys(f"MPI_{name}" for name in names.split())


STATE_OF: Final[dict[str, int]] = {
    **dict.fromkeys(operations.IO, extrae.FILE_ACCESS),
    **dict.fromkeys(operations.RMA, extrae.MEMORY_TRANSFER),
    **dict.fromkeys(_SYNCHRONISING, extrae.OTHERS),
    **dict.fromkeys(operations.COLLECTIVES, extrae.COLLECTIVE),
    **dict.fromkeys(_mpi_names("Recv Mrecv"), extrae.RECEIVING),
    **dict.fromkeys(_mpi_names("Send Bsend Ssend Rsend"), extrae.SENDING),
    **dict.fromkeys(_mpi_names("Probe Iprobe Mprobe Improbe"), extrae.PROBING),
    **dict.fromkeys(operations.COMPLETIONS, extrae.COMPLETING),
    **dict.fromkeys(_mpi_names("Request_free Win_wait"), extrae.COMPLETING),
    **dict.fromkeys(
        _mpi_names("Bsend_init Send_init Rsend_init Ssend_init"), extrae.IMMEDIATE_SEND
    ),
    **dict.fromkeys(operations.IMMEDIATE_SENDS, extrae.IMMEDIATE_SEND),
    **dict.fromkeys(
        _mpi_names("Psend_init Pready Pready_range Pready_list"), extrae.IMMEDIATE_SEND
    ),
    **dict.fromkeys(_mpi_names("Recv_init Irecv Imrecv Precv_init"), extrae.IMMEDIATE_RECEIVE),
    **dict.fromkeys(_mpi_names("Parrived"), extrae.COMPLETING),
    **dict.fromkeys(
        _mpi_names("Sendrecv Sendrecv_replace Isendrecv Isendrecv_replace"), extrae.SEND_RECEIVE
    ),
}
"""State of a thread inside each operation; ``OTHERS`` inside all others."""


def call_states(trace: Trace) -> pa.Table:
    """The table `states`: of what overlaps, the first to begin counts; nothing is left out."""
    code, names = coded(trace.table("calls")["operation"])
    state_of = np.array([STATE_OF.get(name, extrae.OTHERS) for name in names], np.int64)
    gap_kinds = trace.table("gaps")["kind"].cast(pa.string()).to_pylist()
    gap_state = {
        "flush": extrae.FILE_ACCESS,
        "tracing_off": extrae.TRACING_DISABLED,
        "not_created": extrae.NOT_CREATED,
    }
    location, born, died = trace.arrays("locations", "location", "born_ns", "died_ns")
    pieces = [
        (*trace.arrays("calls", "location", "enter_ns", "leave_ns"), state_of[code]),
        (
            *trace.arrays("gaps", "location", "start_ns", "end_ns"),
            np.array([gap_state.get(kind, extrae.RUNNING) for kind in gap_kinds], np.int64),
        ),
        (location, np.zeros_like(born), born, np.full_like(born, extrae.NOT_CREATED)),
        (location, died, died, np.full_like(born, extrae.RUNNING)),
        openmp_states(trace),
    ]
    where, begin, end, state = _int64(map(np.concatenate, zip(*pieces, strict=True)))
    return _partition_of_time(where, begin, end, state)


def _partition_of_time(
    where: Integers, begin: Integers, end: Integers, state: Integers
) -> pa.Table:
    """The table `states`: overlaps clipped, holes within a location running."""
    order = np.lexsort((end, begin, where))
    where, begin, end, state = where[order], begin[order], end[order], state[order]
    # one running maximum serves all locations: each is lifted above the one before it
    span = int(end.max(initial=0)) + 1
    lift = where * span
    reached = np.maximum.accumulate(end + lift) - lift
    same = np.zeros(len(where), bool)
    same[1:] = where[1:] == where[:-1]
    before = np.where(same, np.concatenate([[0], reached[:-1]]), 0)
    clipped = np.maximum(begin, before)
    holes = same & (before < clipped)
    rows = [
        (where, clipped, end, state),
        (where[holes], before[holes], clipped[holes], np.full(holes.sum(), extrae.RUNNING)),
    ]
    where, begin, end, state = _int64(map(np.concatenate, zip(*rows, strict=True)))
    is_span = begin < end
    order = np.lexsort((begin[is_span], where[is_span]))
    return arrow_table(
        "states",
        {
            "location": where[is_span][order].astype(np.int32),
            "begin_ns": begin[is_span][order],
            "end_ns": end[is_span][order],
            "state": state[is_span][order],
        },
    )
