"""What the wrappers of each kind do, in C statements around the real call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class Kind:
    """The statements of a wrapper."""

    first: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    instead: dict[str, str] = field(default_factory=dict)
    success: str = ""
    learnt: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()


_BYTES: Final = "burst_bytes(count, datatype)"
_PARTITIONS: Final = "burst_bytes(partitions * count, datatype)"
_OWN: Final = "MPI_Status own, *known = status == MPI_STATUS_IGNORE ? &own : status;"
_STATUS: Final = {"status": "known"}
_STATUSES: Final = {"array_of_statuses": "batch.statuses"}
# A start that is filtered out is followed too: a send that nobody recorded has nothing to
# complete (id 0), but what a receive brought is known when it completes.
_ID: Final = "const uint64_t id = call.thread != NULL ? burst_new_id() : 0;"
_POSTED_ID: Final = "const uint64_t id = call.follow ? burst_new_id() : 0;"
_IDS: Final = (
    "uint64_t ids[2] = {0, 0};",
    "if (call.thread != NULL) ids[0] = burst_new_id();",
    "if (call.follow) ids[1] = burst_new_id();",
)
_ASKED: Final = "const MPI_Request asked = *request;"
_ONE: Final = (
    "burst_completed(error == MPI_SUCCESS ? call.thread : NULL, asked, request, known);"
)
_PART: Final = "const struct burst_part part = @PART;"
_USE: Final = "(void)part;"
_ROOT: Final = "@TELL_ROOT"


def _batch(count: str, statuses: str) -> tuple[str, str]:
    told = f"burst_follows(call), {count}, array_of_requests, {statuses}"
    return "struct burst_batch batch;", f"burst_batch_open(&batch, {told});"


def _follow(kind: str, peer: str = "MPI_PROC_NULL") -> str:
    return f"if (burst_follows(call)) burst_follow({kind}, request, id, comm, {peer});"


def _follow_apart(kind: str, request: str) -> str:
    """Follow what belongs to no communicator: a transfer of a window or file."""
    told = f"{kind}, request, {request}, burst_known.no_comm, MPI_PROC_NULL"
    return f"if (burst_follows(call)) burst_follow({told});"


def _send(request: str) -> str:
    return f"burst_send(call.thread, comm, dest, tag, {_BYTES}, {request});"


def _post(request: str) -> str:
    return f"burst_post(call.thread, comm, source, tag, {_BYTES}, {request});"


def _told(function: str) -> str:
    return f"if (call.thread != NULL) {function}(call.thread, comm, known);"


def _exchange(send: str, receive: str, ids: tuple[str, str] = ("0", "0")) -> tuple[str, str]:
    return (
        f"burst_send(call.thread, comm, dest, sendtag, burst_bytes({send}), {ids[0]});",
        f"burst_post(call.thread, comm, source, recvtag, burst_bytes({receive}), {ids[1]});",
    )


def _exchange_begun(send: str, receive: str) -> Kind:
    told = f"*request, ids, comm, source, recvtag, burst_bytes({receive})"
    return Kind(
        first=_IDS,
        known=_exchange(send, receive, ("ids[0]", "ids[1]")),
        learnt=(f"if (burst_follows(call)) burst_follow_both({told});",),
    )


_UNMATCHED: Final = (
    "struct burst_match match = {NULL, 0};",
    f"if (call.follow) match = burst_unmatched(call.thread, *message, {_BYTES});",
)


def _collective(request: str) -> tuple[str, ...]:
    told = f"burst_collective(call.thread, comm, {request}, part.root, @SENT, @RECEIVED);"
    return (_PART, told, _ROOT)


def _io(written: str, read: str) -> str:
    return f"burst_io(call.thread, fh, {written}, {read});"


def _together(comm: str, request: str = "0") -> str:
    return f"burst_together(call.thread, {comm}, {request});"


def _together_on(kind: str, handle: str, request: str = "0") -> str:
    return f"burst_together_on(call.thread, {kind}, (uintptr_t){handle}, {request});"


def _file(written: str, read: str, known: tuple[str, ...] = ()) -> Kind:
    return Kind(
        first=(_OWN,),
        known=known,
        instead=_STATUS,
        learnt=(f"if (call.thread != NULL) {_io(written, read)}",),
    )


_WINDOW: Final = "BURST_WINDOW"
_FILE: Final = "BURST_FILE"
_CREATED: Final = "burst_comm_created(*@CREATED, @TAG);"
_RMA: Final = "burst_one_sided(call.thread, win, target_rank, @MOVED, @TRANSFER);"
_MOVED_IO: Final = _io("@TRANSFER == 1 ? @MOVED : 0", "@TRANSFER == 2 ? @MOVED : 0")

_MESSAGES: Final = {
    "send": Kind(known=(_send("0"),)),
    "isend": Kind(
        first=(_ID,), known=(_send("id"),), learnt=(_follow("BURST_IS_SEND", "dest"),)
    ),
    "receive": Kind(
        first=(_OWN,), known=(_post("0"),), instead=_STATUS, learnt=(_told("burst_received"),)
    ),
    "ireceive": Kind(
        first=(_POSTED_ID,),
        known=(_post("id"),),
        learnt=(_follow("BURST_IS_RECEIVE", "source"),),
    ),
    "sendrecv": Kind(
        first=(_OWN,),
        known=_exchange("sendcount, sendtype", "recvcount, recvtype"),
        instead=_STATUS,
        learnt=(_told("burst_received"),),
    ),
    "sendrecv_replace": Kind(
        first=(_OWN,),
        known=_exchange("count, datatype", "count, datatype"),
        instead=_STATUS,
        learnt=(_told("burst_received"),),
    ),
    "send_init": Kind(
        learnt=(f"burst_keep(BURST_IS_SEND, *request, comm, dest, tag, {_BYTES});",)
    ),
    "recv_init": Kind(
        learnt=(f"burst_keep(BURST_IS_RECEIVE, *request, comm, source, tag, {_BYTES});",)
    ),
    "start": Kind(first=("if (call.follow) burst_start(call.thread, *request);",)),
    "startall": Kind(
        first=(
            "for (int i = 0; call.follow && i < count; ++i)",
            "    burst_start(call.thread, array_of_requests[i]);",
        )
    ),
    "probe": Kind(first=(_OWN,), instead=_STATUS, learnt=(_told("burst_probed"),)),
    "iprobe": Kind(
        first=(_OWN,),
        instead=_STATUS,
        success="*flag",
        learnt=("if (*flag && call.thread != NULL) burst_probed(call.thread, comm, known);",),
    ),
    "mprobe": Kind(
        first=(_OWN,),
        instead=_STATUS,
        learnt=("burst_matched(call.thread, *message, comm, known);",),
    ),
    "improbe": Kind(
        first=(_OWN,),
        instead=_STATUS,
        success="*flag",
        learnt=("if (*flag) burst_matched(call.thread, *message, comm, known);",),
    ),
    "mrecv": Kind(
        first=(_OWN, *_UNMATCHED),
        instead=_STATUS,
        learnt=("if (call.thread != NULL) burst_received_matched(call.thread, match, known);",),
    ),
    "imrecv": Kind(first=_UNMATCHED, learnt=("burst_follow_matched(*request, match);",)),
    "isendrecv": _exchange_begun("sendcount, sendtype", "recvcount, recvtype"),
    "isendrecv_replace": _exchange_begun("count, datatype", "count, datatype"),
    "psend_init": Kind(
        learnt=(f"burst_keep(BURST_IS_SEND, *request, comm, dest, tag, {_PARTITIONS});",)
    ),
    "precv_init": Kind(
        learnt=(f"burst_keep_partitioned(*request, comm, source, tag, {_PARTITIONS});",)
    ),
    "parrived": Kind(success="*flag"),
}

_COMPLETIONS: Final = {
    "wait": Kind(
        first=(_OWN, _ASKED), instead=_STATUS, last=(f"if (burst_follows(call)) {_ONE}",)
    ),
    "waitall": Kind(
        first=_batch("count", "array_of_statuses"),
        instead=_STATUSES,
        last=("burst_batch_all(&batch, call.thread, error);", "burst_batch_shut(&batch);"),
    ),
    "waitany": Kind(
        first=(_OWN, *_batch("count", "known")),
        instead=_STATUS,
        learnt=("burst_batch_one(&batch, call.thread, *indx, known);",),
        last=("burst_batch_shut(&batch);",),
    ),
    "waitsome": Kind(
        first=_batch("incount", "array_of_statuses"),
        instead=_STATUSES,
        last=(
            "burst_batch_some(&batch, call.thread, *outcount, array_of_indices, error);",
            "burst_batch_shut(&batch);",
        ),
    ),
    "test": Kind(
        first=(_OWN, _ASKED),
        instead=_STATUS,
        success="*flag",
        last=(f"if (burst_follows(call) && (error != MPI_SUCCESS || *flag)) {_ONE}",),
    ),
    "testall": Kind(
        first=_batch("count", "array_of_statuses"),
        instead=_STATUSES,
        success="*flag",
        last=(
            "if (error != MPI_SUCCESS || *flag) burst_batch_all(&batch, call.thread, error);",
            "burst_batch_shut(&batch);",
        ),
    ),
    "testany": Kind(
        first=(_OWN, *_batch("count", "known")),
        instead=_STATUS,
        success="*flag",
        learnt=("if (*flag) burst_batch_one(&batch, call.thread, *indx, known);",),
        last=("burst_batch_shut(&batch);",),
    ),
    "testsome": Kind(
        first=_batch("incount", "array_of_statuses"),
        instead=_STATUSES,
        success="*outcount != 0",
        last=(
            "burst_batch_some(&batch, call.thread, *outcount, array_of_indices, error);",
            "burst_batch_shut(&batch);",
        ),
    ),
    "request_free": Kind(
        first=(_ASKED,),
        learnt=("burst_released(call.thread, asked);",),
    ),
    "cancel": Kind(first=("if (call.follow) burst_cancelling(*request);",)),
    "get_status": Kind(
        first=(_OWN,),
        instead=_STATUS,
        success="*flag",
        learnt=("if (*flag) burst_reported(call.thread, request, known);",),
    ),
}

_COLLECTIVES: Final = {
    "collective": Kind(known=_collective("0")),
    "icollective": Kind(
        first=(_ID,), known=_collective("id"), learnt=(_follow("BURST_IS_COLLECTIVE"),)
    ),
    "collective_init": Kind(learnt=(_PART, "@KEEP")),
}

_MANAGEMENT: Final = {
    "plain": Kind(),
    "init": Kind(learnt=("burst_initialized(call.thread);",)),
    "init_thread": Kind(learnt=("burst_initialized(call.thread);",)),
    "finalize": Kind(
        first=("if (call.follow) burst_finalizing(call.thread);",),
        beyond=("if (call.follow) burst_close(BURST_BY_FINALIZE, 0);",),
    ),
    "abort": Kind(first=("if (call.follow) burst_close(BURST_BY_ABORT, errorcode);",)),
    "session_init": Kind(learnt=("burst_session_begun(*session);",)),
    "session_finalize": Kind(first=("if (call.follow) burst_session_ending(*session);",)),
    # Collective over the communicator they are given, or over the one they make.
    "created": Kind(known=(_together("@PARENT"),), learnt=(_CREATED,)),
    "created_rooted": Kind(
        known=(
            _PART,
            "burst_collective(call.thread, comm, 0, part.root, 0, 0);",
            _ROOT,
        ),
        learnt=(_CREATED,),
    ),
    "created_alone": Kind(
        learnt=(_CREATED, f"if (call.thread != NULL) {_together('*@CREATED')}")
    ),
    "idup": Kind(
        first=(_ID, "const uint64_t name = call.follow ? burst_comm_reserved(comm) : 0;"),
        known=(_together("comm", "id"),),
        learnt=("burst_follow_dup(*request, id, newcomm, name);",),
    ),
    # Before the call: another thread may get the handle as soon as it is free.
    "comm_free": Kind(
        first=(
            f"if (call.thread != NULL) {_together('*comm')}",
            "if (call.follow) burst_comm_freed(*comm);",
        )
    ),
    "window": Kind(
        known=(_together("comm"),),
        learnt=("burst_object_created(BURST_WINDOW, (uintptr_t)*win, comm);",),
    ),
    "win_free": Kind(
        first=(
            f"if (call.thread != NULL) {_together_on(_WINDOW, '*win')}",
            "if (call.follow) burst_object_freed(BURST_WINDOW, (uintptr_t)*win);",
        )
    ),
    "win_fence": Kind(known=(_together_on(_WINDOW, "win"),)),
    "rma": Kind(known=(_RMA,)),
    "rma_request": Kind(known=(_RMA,), learnt=(_follow_apart("BURST_IS_OTHER", "0"),)),
    "file_open": Kind(
        known=(_together("comm"),),
        learnt=("burst_object_created(BURST_FILE, (uintptr_t)*fh, comm);",),
    ),
    "file_close": Kind(
        first=(
            f"if (call.thread != NULL) {_together_on(_FILE, '*fh')}",
            "if (call.follow) burst_object_freed(BURST_FILE, (uintptr_t)*fh);",
        )
    ),
    "file_write": _file("burst_done_bytes(known)", "0"),
    "file_read": _file("0", "burst_done_bytes(known)"),
    "file_write_all": _file("burst_done_bytes(known)", "0", (_together_on(_FILE, "fh"),)),
    "file_read_all": _file("0", "burst_done_bytes(known)", (_together_on(_FILE, "fh"),)),
    "file_all": Kind(known=(_together_on(_FILE, "fh"),)),
    "file_request": Kind(known=(_MOVED_IO,), learnt=(_follow_apart("BURST_IS_OTHER", "0"),)),
    "file_request_all": Kind(
        first=(_ID,),
        known=(_MOVED_IO, _together_on(_FILE, "fh", "id")),
        learnt=(_follow_apart("BURST_IS_COLLECTIVE", "id"),),
    ),
    "file_begin": Kind(known=(_MOVED_IO, "burst_split_begin(call.thread, fh);")),
    "file_end": Kind(learnt=("burst_split_end(call.thread, fh);",)),
}

COMPLETIONS: Final = frozenset(_COMPLETIONS)
"""Kinds of the calls that end a request, or tell that it has ended."""

KINDS: Final = _MESSAGES | _COMPLETIONS | _COLLECTIVES | _MANAGEMENT
"""What the wrapper of each kind of the table of calls does."""
