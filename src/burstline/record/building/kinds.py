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


def _object_created(kind: str, handle: str) -> Kind:
    created = f"burst_object_created({kind}, (uintptr_t)*{handle}, comm);"
    return Kind(before=(_together("comm"),), after=(created,))


def _object_freed(kind: str, handle: str) -> Kind:
    together = f"if (call.thread != NULL) {_together_on(kind, f'*{handle}')}"
    freed = f"if (call.follow) burst_object_freed({kind}, (uintptr_t)*{handle});"
    return Kind(first=(together, freed))


_WINDOW: Final = "BURST_WINDOW"
_FILE: Final = "BURST_FILE"
_CREATED: Final = "burst_comm_created(*@CREATED, @TAG);"
_RMA: Final = "burst_one_sided(call.thread, win, target_rank, @MOVED, @TRANSFER);"
_MOVED_IO: Final = _io("@TRANSFER == 1 ? @MOVED : 0", "@TRANSFER == 2 ? @MOVED : 0")


def _status(function: str, before: tuple[str, ...] = ()) -> Kind:
    """A call whose status tells `function` what came, also where nobody asked for one."""
    after = (f"if (call.thread != NULL) {function}(call.thread, comm, known);",)
    return Kind(first=(_OWN,), before=before, instead=_STATUS, after=after)


def _status_if(after: str) -> Kind:
    """A poll with a status, and what to do where it succeeded."""
    after = f"if (*flag) {after}"
    return Kind(first=(_OWN,), instead=_STATUS, success="*flag", after=(after,))


def _kept(function: str, place: str, size: str = _BYTES) -> Kind:
    return Kind(after=(f"{function}*request, comm, {place}, tag, {size});",))


def _batch(
    count: str, *last: str, after: str = "", success: str = "", known: bool = False
) -> Kind:
    """A call that completes some of many requests, with statuses or the one that is known."""
    statuses = "known" if known else "array_of_statuses"
    arguments = f"burst_follows(call), {count}, array_of_requests, {statuses}"
    opening = ("struct burst_batch batch;", f"burst_batch_open(&batch, {arguments});")
    return Kind(
        first=(_OWN, *opening) if known else opening,
        instead=_STATUS if known else _STATUSES,
        success=success,
        after=(after,) if after else (),
        last=(*last, "burst_batch_shut(&batch);"),
    )


_ALL: Final = "burst_batch_all(&batch, call.thread, error);"
_ANY: Final = "burst_batch_one(&batch, call.thread, *indx, known);"
_SOME: Final = "burst_batch_some(&batch, call.thread, *outcount, array_of_indices, error);"

_MESSAGES: Final = {
    "send": Kind(before=(_send("0"),)),
    "isend": Kind((_ID,), (_send("id"),), after=(_follow("BURST_IS_SEND", "dest"),)),
    "receive": _status("burst_received", (_post("0"),)),
    "ireceive": Kind(
        (_POSTED_ID,), (_post("id"),), after=(_follow("BURST_IS_RECEIVE", "source"),)
    ),
    "sendrecv": _status(
        "burst_received", _exchange("sendcount, sendtype", "recvcount, recvtype")
    ),
    "sendrecv_replace": _status(
        "burst_received", _exchange("count, datatype", "count, datatype")
    ),
    "send_init": _kept("burst_keep(BURST_IS_SEND, ", "dest"),
    "recv_init": _kept("burst_keep(BURST_IS_RECEIVE, ", "source"),
    "start": Kind(first=("if (call.follow) burst_start(call.thread, *request);",)),
    "startall": Kind(
        first=(
            "for (int i = 0; call.follow && i < count; ++i)",
            "    burst_start(call.thread, array_of_requests[i]);",
        )
    ),
    "probe": _status("burst_probed"),
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
    "improbe": _status_if("burst_matched(call.thread, *message, comm, known);"),
    "mrecv": Kind(
        first=(_OWN, *_UNMATCHED),
        instead=_STATUS,
        after=("if (call.thread != NULL) burst_received_matched(call.thread, match, known);",),
    ),
    "imrecv": Kind(first=_UNMATCHED, after=("burst_follow_matched(*request, match);",)),
    "isendrecv": _exchange_begun("sendcount, sendtype", "recvcount, recvtype"),
    "isendrecv_replace": _exchange_begun("count, datatype", "count, datatype"),
    "psend_init": _kept("burst_keep(BURST_IS_SEND, ", "dest", _PARTITIONS),
    "precv_init": _kept("burst_keep_partitioned(", "source", _PARTITIONS),
    "parrived": Kind(success="*flag"),
}

_COMPLETIONS: Final = {
    "wait": Kind(
        first=(_OWN, _ASKED), instead=_STATUS, last=(f"if (burst_follows(call)) {_ONE}",)
    ),
    "waitall": _batch("count", _ALL),
    "waitany": _batch("count", after=_ANY, known=True),
    "waitsome": _batch("incount", _SOME),
    "test": Kind(
        first=(_OWN, _ASKED),
        instead=_STATUS,
        success="*flag",
        last=(f"if (burst_follows(call) && (error != MPI_SUCCESS || *flag)) {_ONE}",),
    ),
    "testall": _batch("count", f"if (error != MPI_SUCCESS || *flag) {_ALL}", success="*flag"),
    "testany": _batch("count", after=f"if (*flag) {_ANY}", success="*flag", known=True),
    "testsome": _batch("incount", _SOME, success="*outcount != 0"),
    "request_free": Kind(first=(_ASKED,), after=("burst_released(call.thread, asked);",)),
    "cancel": Kind(first=("if (call.follow) burst_cancelling(*request);",)),
    "get_status": _status_if("burst_reported(call.thread, request, known);"),
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
        before=(_PART, "burst_collective(call.thread, comm, 0, part.root, 0, 0);", _ROOT),
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
    "window": _object_created(_WINDOW, "win"),
    "win_free": _object_freed(_WINDOW, "win"),
    "win_fence": Kind(before=(_together_on(_WINDOW, "win"),)),
    "rma": Kind(before=(_RMA,)),
    "rma_request": Kind(before=(_RMA,), after=(_follow_apart("BURST_IS_OTHER", "0"),)),
    "file_open": _object_created(_FILE, "fh"),
    "file_close": _object_freed(_FILE, "fh"),
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
