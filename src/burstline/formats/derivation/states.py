"""States for a trace that has none: those of MPI calls, and running between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from burstline import extrae, operations
from burstline.columns import coded
from burstline.formats.derivation.openmp import openmp_states
from burstline.schema import arrow_table

if TYPE_CHECKING:
    from burstline.columns import Integers
    from burstline.trace import Trace


_SYNCHRONISING: Final = frozenset(
    [
        *(f"MPI_Win_{name}" for name in ("create", "free", "post", "start", "complete")),
        *(f"MPI_Win_{name}" for name in ("allocate", "allocate_shared", "create_dynamic")),
    ]
)


def _mpi(names: str) -> dict[str, None]:
    return dict.fromkeys(f"MPI_{name}" for name in names.split())


STATE_OF: Final[dict[str, int]] = {
    **dict.fromkeys(operations.IO, extrae.FILE_ACCESS),
    **dict.fromkeys(operations.RMA, extrae.MEMORY_TRANSFER),
    **dict.fromkeys(_SYNCHRONISING, extrae.OTHERS),
    **dict.fromkeys(operations.COLLECTIVES, extrae.COLLECTIVE),
    **dict.fromkeys(_mpi("Recv Mrecv"), extrae.RECEIVING),
    **dict.fromkeys(_mpi("Send Bsend Ssend Rsend"), extrae.SENDING),
    **dict.fromkeys(_mpi("Probe Iprobe Mprobe Improbe"), extrae.PROBING),
    **dict.fromkeys(
        _mpi("Wait Waitall Waitany Waitsome Test Testall Testany Testsome"), extrae.COMPLETING
    ),
    **dict.fromkeys(_mpi("Request_free Request_get_status Win_wait"), extrae.COMPLETING),
    **dict.fromkeys(_mpi("Bsend_init Send_init Rsend_init Ssend_init"), extrae.IMMEDIATE_SEND),
    **dict.fromkeys(operations.IMMEDIATE_SENDS, extrae.IMMEDIATE_SEND),
    **dict.fromkeys(_mpi("Psend_init Pready Pready_range Pready_list"), extrae.IMMEDIATE_SEND),
    **dict.fromkeys(_mpi("Recv_init Irecv Imrecv Precv_init"), extrae.IMMEDIATE_RECEIVE),
    **dict.fromkeys(_mpi("Parrived"), extrae.COMPLETING),
    **dict.fromkeys(
        _mpi("Sendrecv Sendrecv_replace Isendrecv Isendrecv_replace"), extrae.SEND_RECEIVE
    ),
}
"""State of a thread inside each operation; ``OTHERS`` inside all others."""


def call_states(trace: Trace) -> pa.Table:
    """The table `states`: per location a partition of the time from 0 to its last moment.

    Of calls, gaps and OpenMP regions that overlap, the one that began first counts.
    """
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
    where, begin, end, state = (
        np.concatenate(column).astype(np.int64) for column in zip(*pieces, strict=True)
    )
    return _partition(where, begin, end, state)


def _partition(where: Integers, begin: Integers, end: Integers, state: Integers) -> pa.Table:
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
    where, begin, end, state = (
        np.concatenate(column).astype(np.int64) for column in zip(*rows, strict=True)
    )
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
