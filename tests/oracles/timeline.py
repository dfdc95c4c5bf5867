"""What a thread of a program of MPI alone does at a moment, looked up one by one."""

from __future__ import annotations

MAY_WAIT = {
    "MPI_Send", "MPI_Ssend", "MPI_Recv", "MPI_Wait", "MPI_Waitall", "MPI_Barrier", "MPI_Bcast",
    "MPI_Allreduce", "MPI_Reduce", "MPI_Scan",
}  # fmt: skip
KINDS = {"mpi_latesender": "late_sender", "mpi_latereceiver": "late_receiver"}


def kind_at(trace, waits, location, moment):
    """The name of the kind of a nanosecond of a location."""

    def holds(row, begin, end):
        return row["location"] == location and row[begin] <= moment < row[end]

    [where] = trace.locations.slice(location, 1).to_pylist()
    if not where["born_ns"] <= moment < where["died_ns"]:
        return "not_recorded"
    if any(holds(gap, "start_ns", "end_ns") for gap in trace.gaps.to_pylist()):
        return "not_recorded"
    for wait in waits.instances.to_pylist():
        until = wait["start_ns"] + wait["wait_ns"]
        if holds(wait | {"end": until}, "start_ns", "end"):
            return KINDS.get(wait["metric"], "collective")
    for call in trace.calls.to_pylist():
        if holds(call, "enter_ns", "leave_ns"):
            return _kind_of(trace, call)
    return "computing" if _has_calls(trace, location) else "not_recorded"


def _has_calls(trace, location):
    return location in trace.calls["location"].to_pylist()


def _kind_of(trace, call):
    operation, here = call["operation"], (call["location"], call["call"])
    if operation in ("MPI_Init", "MPI_Finalize"):
        return "ends"
    if operation not in MAY_WAIT:
        return "other_mpi"
    for message in trace.messages.to_pylist():
        sides = [(message["receiver_location"], message["receive_call"])]
        if message["send_done_from"] != "unknown":
            sides.append((message["sender_location"], message["send_done_call"]))
        if here in sides:
            return "transfer"
    complete = trace.collectives["complete"].to_pylist()
    for member in trace.collective_members.to_pylist():
        place = member["location"], member["done_call"]
        if member["done_call"] is None:
            place = member["location"], member["call"]
        if place == here and complete[member["collective"]]:
            return "transfer"
    return "blocked"
