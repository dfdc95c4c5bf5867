"""The event lists of the wait-state oracle: to the text form, and back from a trace.

The lists' letters are E L S V IS IC IQ IV B C AL RL F J TB TE; see the reference data.
What is read back comes from the tables alone, not from the text form's own writer.
"""

from __future__ import annotations

import json

ROLES = {
    1: "function",
    3: "loop",
    5: "parallel",
    12: "critical",
    15: "barrier",
    16: "implicit_barrier",
    23: "one2all",
    24: "all2one",
    25: "all2all",
    26: "other_collective",
    28: "point2point",
}
PARADIGMS = {2: "user", 3: "openmp", 4: "mpi"}
OPERATIONS = {
    0: "MPI_Barrier",
    1: "MPI_Bcast",
    2: "MPI_Gather",
    4: "MPI_Scatter",
    6: "MPI_Allgather",
    9: "MPI_Alltoallv",
    11: "MPI_Allreduce",
    12: "MPI_Reduce",
    14: "MPI_Scan",
    15: "MPI_Exscan",
}
_NUMBERS = {name: number for number, name in OPERATIONS.items()}
_STATEMENTS = {
    "L": "leave",
    "S": "send to {} tag {} bytes {}",
    "V": "receive from {} tag {} bytes {}",
    "IS": "send to {} tag {} bytes {} request {}",
    "IC": "sent request {}",
    "IQ": "post request {}",
    "IV": "receive from {} tag {} bytes {} request {}",
    "B": "begin",
    "AL": "acquire {} order {}",
    "RL": "release {}",
    "F": "fork {}",
    "J": "join",
    "TB": "team begin {}",
    "TE": "team end {}",
}


def as_text(case):
    """Write a case of the oracle in the text form."""
    names = {region["id"]: json.dumps(region["name"]) for region in case["regions"]}
    lines = [f"ranks {case['ranks']} threads {case['threads']}"]
    for region in case["regions"]:
        role, paradigm = ROLES[region["otf2_role"]], PARADIGMS[region["otf2_paradigm"]]
        lines.append(f"region {names[region['id']]} paradigm {paradigm} role {role}")
    where = None
    for letters, location, time_ns, *rest in case["events"]:
        if location != where:
            where = location
            lines.append("{}.{}".format(*divmod(location, case["threads"])))
        if letters == "E":
            text = f"enter {names[rest[0]]}"
        elif letters == "C":
            _, root, sent, received = rest
            text = f"end sent {sent} received {received}"
            text += f" root {root}" if root >= 0 else ""
        else:
            text = _STATEMENTS[letters].format(*rest)
        lines.append(f"{time_ns} {text}")
    return "\n".join(lines)


def as_case(trace):
    """Read a case of the oracle back from the tables of a trace."""
    locations = trace.locations.to_pylist()
    roles = {role: number for number, role in ROLES.items()}
    paradigms = {paradigm: number for number, paradigm in PARADIGMS.items()}
    regions = [
        {
            "id": row["region"],
            "otf2_role": roles[row["role"]],
            "otf2_paradigm": paradigms[row["paradigm"]],
            "name": row["name"],
        }
        for row in trace.region_defs.to_pylist()
        if row["role"] != "team"
    ]
    return {
        "ranks": 1 + max(row["rank"] for row in locations),
        "threads": 1 + max(row["thread"] for row in locations),
        "regions": regions,
        "events": [event for _, _, event in sorted(_events(trace, regions))],
    }


def _events(trace, regions):
    yield from _of_regions(trace, {row["name"]: row["id"] for row in regions})
    yield from _of_messages(trace)
    yield from _of_collectives(trace)
    for row in trace.locks.to_pylist():
        lock = row["lock"], row["order"]
        yield _event(row["location"], row, "acquire", "AL", *lock)
        yield _event(row["location"], row, "release", "RL", *lock)


def _event(location, row, stamp, letters, *rest):
    return location, row[f"{stamp}_seq"], [letters, location, row[f"{stamp}_ns"], *rest]


def _of_regions(trace, number):
    definitions = trace.region_defs.to_pylist()
    for row in trace.calls.to_pylist():
        region = number[row["operation"]]
        yield _event(row["location"], row, "enter", "E", region)
        yield _event(row["location"], row, "leave", "L", region)
    for row in trace.regions.to_pylist():
        definition = definitions[row["region"]]
        is_team = definition["role"] == "team"
        region = definition["source_value"] if is_team else row["region"]
        yield _event(row["location"], row, "enter", "TB" if is_team else "E", region)
        yield _event(row["location"], row, "leave", "TE" if is_team else "L", region)
    for row in trace.teams.to_pylist():
        yield _event(row["fork_location"], row, "fork", "F", row["threads"])
        yield _event(row["fork_location"], row, "join", "J")


def _of_messages(trace):
    ranks = trace.locations["rank"].to_pylist()
    for row in trace.messages.to_pylist():
        sender, receiver = row["sender_location"], row["receiver_location"]
        sent = ranks[receiver], row["tag"], row["sent_bytes"]
        received = ranks[sender], row["tag"], row["received_bytes"]
        if row["send_request"] is None:
            yield _event(sender, row, "send", "S", *sent)
        else:
            yield _event(sender, row, "send", "IS", *sent, row["send_request"])
            if row["send_done_from"] == "recorded":
                yield _event(sender, row, "send_done", "IC", row["send_request"])
        if row["receive_request"] is None:
            yield _event(receiver, row, "receive", "V", *received)
        else:
            yield _event(receiver, row, "post", "IQ", row["receive_request"])
            yield _event(receiver, row, "receive", "IV", *received, row["receive_request"])


def _of_collectives(trace, without=()):
    instances = trace.collectives.to_pylist()
    for row in trace.collective_members.to_pylist():
        instance = instances[row["collective"]]
        if instance["operation"] in without:
            continue
        root = -1 if instance["root"] is None else instance["root"]
        sizes = row["sent_bytes"], row["received_bytes"]
        yield _event(row["location"], row, "begin", "B")
        end = _NUMBERS[instance["operation"]], root, *sizes
        yield _event(row["location"], row, "end", "C", *end)


_ROLES_OF_CALLS = {
    15: {"Barrier"},
    23: {"Bcast", "Scatter", "Scatterv"},
    24: {"Reduce", "Gather", "Gatherv"},
    25: {"Allreduce", "Allgather", "Allgatherv", "Alltoall", "Alltoallv"},
    26: {"Scan", "Exscan"},
    28: {"Send", "Ssend", "Bsend", "Rsend", "Isend", "Recv", "Irecv", "Sendrecv", "Probe"},
}


def case_of(trace, program=None):
    """The event list of any trace whose collectives are all over the world.

    Operations of MPI become regions. Collectives inside of MPI_Init and MPI_Finalize are the
    recorder's own: they are dropped. A program is the root of all call paths, if it is named.
    """
    if len(set(trace.collectives["communicator"].to_pylist())) > 1:
        raise ValueError("collectives of several communicators have no event list")
    rows = trace.locations.to_pylist()
    threads = 1 + max(row["thread"] for row in rows)
    place = {row["location"]: row["rank"] * threads + row["thread"] for row in rows}
    regions, numbers = _all_regions(trace)
    events = [*_of_regions(trace, numbers), *_of_messages(trace)]
    events += _of_collectives(trace, without=("MPI_Init", "MPI_Init_thread", "MPI_Finalize"))
    for row in trace.locks.to_pylist():
        lock = row["lock"], row["order"]
        events.append(_event(row["location"], row, "acquire", "AL", *lock))
        events.append(_event(row["location"], row, "release", "RL", *lock))
    if program is not None:
        regions.append(_region(len(regions), program, 1, 2))
        number = regions[-1]["id"]
        for row in rows:
            if row["thread"] == 0:
                born, died = row["born_ns"], row["died_ns"]
                events.append((row["location"], -1, ["E", row["location"], born, number]))
                last = 1 + max(seq for where, seq, _ in events if where == row["location"])
                events.append((row["location"], last, ["L", row["location"], died, number]))
    # Where a call and what happens in it have one number, the call is around it.
    inside = {"E": 0, "B": 1, "L": 3}
    events.sort(key=lambda e: (e[0], e[1], inside.get(e[2][0], 2)))
    return {
        "ranks": 1 + max(row["rank"] for row in rows),
        "threads": threads,
        "regions": regions,
        "events": [[e[0], place[e[1]], *e[2:]] for _, _, e in events],
    }


def _region(number, name, role, paradigm):
    return {"id": number, "name": name, "otf2_role": role, "otf2_paradigm": paradigm}


def _all_regions(trace):
    roles = {name: role for role, name in ROLES.items()}
    paradigms = {name: paradigm for paradigm, name in PARADIGMS.items()}
    regions = [
        _region(
            row["region"], row["name"], roles.get(row["role"], 1), paradigms[row["paradigm"]]
        )
        for row in trace.region_defs.to_pylist()
    ]
    numbers = {row["name"]: row["id"] for row in regions}
    for name in sorted(set(trace.calls["operation"].to_pylist()) - set(numbers)):
        short = name.removeprefix("MPI_")
        role = next((r for r, names in _ROLES_OF_CALLS.items() if short in names), 1)
        numbers[name] = len(regions)
        regions.append(_region(len(regions), name, role, 4))
    return regions, numbers
