"""The C statements around the real call in wrappers of each kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class Kind:
    """The statements of a wrapper, in their order."""

    first: tuple[str, ...] = ()
    before: tuple[str, ...] = ()  # where the thread records
    instead: dict[str, str] = field(default_factory=dict)  # arguments of the real call
    success: str = ""  # of a poll
    after: tuple[str, ...] = ()  # where the call is followed and succeeded
    last: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()  # the end of the record


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
_ROOT: Final = "@TELL_ROOT"


def _batch(count: str, statuses: str) -> tuple[str, str]:
    arguments = f"burst_follows(call), {count}, array_of_requests, {statuses}"
    return "struct burst_batch batch;", f"burst_batch_open(&batch, {arguments});"


def _follow(kind: str, peer: str = "MPI_PROC_NULL") -> str:
    return f"if (burst_follows(call)) burst_follow({kind}, request, id, comm, {peer});"


def _follow_apart(kind: str, request: str) -> str:
    """The statement that follows a transfer of a window or file, without a communicator."""
    arguments = f"{kind}, request, {request}, burst_known.no_comm, MPI_PROC_NULL"
    return f"if (burst_follows(call)) burst_follow({arguments});"


def _send(request: str) -> str:
    return f"burst_send(call.thread, comm, dest, tag, {_BYTES}, {request});"


def _post(request: str) -> str:
    return f"burst_post(call.thread, comm, source, tag, {_BYTES}, {request});"


def _with_status(function: str) -> str:
    return f"if (call.thread != NULL) {function}(call.thread, comm, known);"


def _exchange(send: str, receive: str, ids: tuple[str, str] = ("0", "0")) -> tuple[str, str]:
    return (
        f"burst_send(call.thread, comm, dest, sendtag, burst_bytes({send}), {ids[0]});",
        f"burst_post(call.thread, comm, source, recvtag, burst_bytes({receive}), {ids[1]});",
    )


def _exchange_begun(send: str, receive: str) -> Kind:
    arguments = f"*request, ids, comm, source, recvtag, burst_bytes({receive})"
    return Kind(
        first=_IDS,
        before=_exchange(send, receive, ("ids[0]", "ids[1]")),
        after=(f"if (burst_follows(call)) burst_follow_both({arguments});",),
    )


_UNMATCHED: Final = (
    "struct burst_match match = {NULL, 0};",
    f"if (call.follow) match = burst_unmatched(call.thread, *message, {_BYTES});",
)


def _collective(request: str) -> tuple[str, ...]:
    arguments = f"burst_collective(call.thread, comm, {request}, part.root, @SENT, @RECEIVED);"
    return (_PART, arguments, _ROOT)


def _io(written: str, read: str) -> str:
    return f"burst_io(call.thread, fh, {written}, {read});"


def _together(comm: str, request: str = "0") -> str:
    return f"burst_together(call.thread, {comm}, {request});"


def _together_on(kind: str, handle: str, request: str = "0") -> str:
    return f"burst_together_on(call.thread, {kind}, (uintptr_t){handle}, {request});"


def _file(written: str, read: str, before: tuple[str, ...] = ()) -> Kind:
    return Kind(
        first=(_OWN,),
        before=before,
        instead=_STATUS,
        after=(f"if (call.thread != NULL) {_io(written, read)}",),
    )


_WINDOW: Final = "BURST_WINDOW"
_FILE: Final = "BURST_FILE"
_CREATED: Final = "burst_comm_created(*@CREATED, @TAG);"
_RMA: Final = "burst_one_sided(call.thread, win, target_rank, @MOVED, @TRANSFER);"
_MOVED_IO: Final = _io("@TRANSFER == 1 ? @MOVED : 0", "@TRANSFER == 2 ? @MOVED : 0")

_MESSAGES: Final = {
    "send": Kind(before=(_send("0"),)),
    "isend": Kind(
        first=(_ID,), before=(_send("id"),), after=(_follow("BURST_IS_SEND", "dest"),)
    ),
    "receive": Kind(
        first=(_OWN,),
        before=(_post("0"),),
        instead=_STATUS,
        after=(_with_status("burst_received"),),
    ),
    "ireceive": Kind(
        first=(_POSTED_ID,),
        before=(_post("id"),),
        after=(_follow("BURST_IS_RECEIVE", "source"),),
    ),
    "sendrecv": Kind(
        first=(_OWN,),
        before=_exchange("sendcount, sendtype", "recvcount, recvtype"),
        instead=_STATUS,
        after=(_with_status("burst_received"),),
    ),
    "sendrecv_replace": Kind(
        first=(_OWN,),
        before=_exchange("count, datatype", "count, datatype"),
        instead=_STATUS,
        after=(_with_status("burst_received"),),
    ),
    "send_init": Kind(
        after=(f"burst_keep(BURST_IS_SEND, *request, comm, dest, tag, {_BYTES});",)
    ),
    "recv_init": Kind(
        after=(f"burst_keep(BURST_IS_RECEIVE, *request, comm, source, tag, {_BYTES});",)
    ),
    "start": Kind(first=("if (call.follow) burst_start(call.thread, *request);",)),
    "startall": Kind(
        first=(
            "for (int i = 0; call.follow && i < count; ++i)",
            "    burst_start(call.thread, array_of_requests[i]);",
        )
    ),
    "probe": Kind(first=(_OWN,), instead=_STATUS, after=(_with_status("burst_probed"),)),
    "iprobe": Kind(
        first=(_OWN,),
        instead=_STATUS,
        success="*flag",
        after=("if (*flag && call.thread != NULL) burst_probed(call.thread, comm, known);",),
    ),
    "mprobe": Kind(
        first=(_OWN,),
        instead=_STATUS,
        after=("burst_matched(call.thread, *message, comm, known);",),
    ),
    "improbe": Kind(
        first=(_OWN,),
        instead=_STATUS,
        success="*flag",
        after=("if (*flag) burst_matched(call.thread, *message, comm, known);",),
    ),
    "mrecv": Kind(
        first=(_OWN, *_UNMATCHED),
        instead=_STATUS,
        after=("if (call.thread != NULL) burst_received_matched(call.thread, match, known);",),
    ),
    "imrecv": Kind(first=_UNMATCHED, after=("burst_follow_matched(*request, match);",)),
    "isendrecv": _exchange_begun("sendcount, sendtype", "recvcount, recvtype"),
    "isendrecv_replace": _exchange_begun("count, datatype", "count, datatype"),
    "psend_init": Kind(
        after=(f"burst_keep(BURST_IS_SEND, *request, comm, dest, tag, {_PARTITIONS});",)
    ),
    "precv_init": Kind(
        after=(f"burst_keep_partitioned(*request, comm, source, tag, {_PARTITIONS});",)
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
        after=("burst_batch_one(&batch, call.thread, *indx, known);",),
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
        after=("if (*flag) burst_batch_one(&batch, call.thread, *indx, known);",),
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
        after=("burst_released(call.thread, asked);",),
    ),
    "cancel": Kind(first=("if (call.follow) burst_cancelling(*request);",)),
    "get_status": Kind(
        first=(_OWN,),
        instead=_STATUS,
        success="*flag",
        after=("if (*flag) burst_reported(call.thread, request, known);",),
    ),
}

_COLLECTIVES: Final = {
    "collective": Kind(before=_collective("0")),
    "icollective": Kind(
        first=(_ID,), before=_collective("id"), after=(_follow("BURST_IS_COLLECTIVE"),)
    ),
    "collective_init": Kind(after=(_PART, "@KEEP")),
}

_MANAGEMENT: Final = {
    "plain": Kind(),
    "init": Kind(after=("burst_initialized(call.thread);",)),
    "init_thread": Kind(after=("burst_initialized(call.thread);",)),
    "finalize": Kind(
        first=("if (call.follow) burst_finalizing(call.thread);",),
        beyond=("if (call.follow) burst_close(BURST_BY_FINALIZE, 0);",),
    ),
    "abort": Kind(first=("if (call.follow) burst_close(BURST_BY_ABORT, errorcode);",)),
    "session_init": Kind(after=("burst_session_begun(*session);",)),
    "session_finalize": Kind(first=("if (call.follow) burst_session_ending(*session);",)),
    # Collective over the communicator they are given, or over the one they make.
    "created": Kind(before=(_together("@PARENT"),), after=(_CREATED,)),
    "created_rooted": Kind(
        before=(
            _PART,
            "burst_collective(call.thread, comm, 0, part.root, 0, 0);",
            _ROOT,
        ),
        after=(_CREATED,),
    ),
    "created_alone": Kind(
        after=(_CREATED, f"if (call.thread != NULL) {_together('*@CREATED')}")
    ),
    "idup": Kind(
        first=(_ID, "const uint64_t name = call.follow ? burst_comm_reserved(comm) : 0;"),
        before=(_together("comm", "id"),),
        after=("burst_follow_dup(*request, id, newcomm, name);",),
    ),
    # Before the call: another thread may get the handle as soon as it is free.
    "comm_free": Kind(
        first=(
            f"if (call.thread != NULL) {_together('*comm')}",
            "if (call.follow) burst_comm_freed(*comm);",
        )
    ),
    "window": Kind(
        before=(_together("comm"),),
        after=("burst_object_created(BURST_WINDOW, (uintptr_t)*win, comm);",),
    ),
    "win_free": Kind(
        first=(
            f"if (call.thread != NULL) {_together_on(_WINDOW, '*win')}",
            "if (call.follow) burst_object_freed(BURST_WINDOW, (uintptr_t)*win);",
        )
    ),
    "win_fence": Kind(before=(_together_on(_WINDOW, "win"),)),
    "rma": Kind(before=(_RMA,)),
    "rma_request": Kind(before=(_RMA,), after=(_follow_apart("BURST_IS_OTHER", "0"),)),
    "file_open": Kind(
        before=(_together("comm"),),
        after=("burst_object_created(BURST_FILE, (uintptr_t)*fh, comm);",),
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
    "file_all": Kind(before=(_together_on(_FILE, "fh"),)),
    "file_request": Kind(before=(_MOVED_IO,), after=(_follow_apart("BURST_IS_OTHER", "0"),)),
    "file_request_all": Kind(
        first=(_ID,),
        before=(_MOVED_IO, _together_on(_FILE, "fh", "id")),
        after=(_follow_apart("BURST_IS_COLLECTIVE", "id"),),
    ),
    "file_begin": Kind(before=(_MOVED_IO, "burst_split_begin(call.thread, fh);")),
    "file_end": Kind(after=("burst_split_end(call.thread, fh);",)),
}

COMPLETIONS: Final = frozenset(_COMPLETIONS)
"""Kinds of the calls that complete requests or test them."""

KINDS: Final = _MESSAGES | _COMPLETIONS | _COLLECTIVES | _MANAGEMENT
"""The statements of each kind in the table of calls."""
