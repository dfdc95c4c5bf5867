"""If you doubt the sweep and the joins, read their twins: a loop over everything, per burst."""

from fractions import Fraction

from oracles.efficiency import waiting


def concurrency(nodes, bursts):
    """Average number of bursts on the same node, per burst; None where it cannot be said.

    `nodes` holds the node of each location, `bursts` rows of (location, start, end).
    """
    averages = []
    for location, start, end in bursts:
        if nodes[location] is None or start == end:
            averages.append(None)
            continue
        together = sum(
            max(0, min(end, other_end) - max(start, other_start))
            for other, other_start, other_end in bursts
            if nodes[other] == nodes[location]
        )
        averages.append(Fraction(together, end - start))
    return averages


def rows(trace, spanning):
    """Rows of a burst table as dictionaries; `spanning` names what ends spans."""
    places = trace.locations.to_pylist()
    calls = {(row["location"], row["call"]): row for row in trace.calls.to_pylist()}
    bursts = trace.bursts.to_pylist()
    spans = [(row["location"], row["start_ns"], row["end_ns"]) for row in bursts]
    shared = concurrency([place["node"] for place in places], spans)
    for row, together in zip(bursts, shared, strict=True):
        where, place = row["location"], places[row["location"]]
        own = [other for other in bursts if other["location"] == where]
        made = {
            "rank": place["rank"],
            "thread": place["thread"],
            "burst": row["burst"],
            "node": place["node"],
            "location": where,
            "application": place["application"],
            "start_ns": row["start_ns"],
            "end_ns": row["end_ns"],
            "duration_ns": row["end_ns"] - row["start_ns"],
            "polling_ns": row["polling_ns"],
            "waiting_ns": waiting(
                row["end_ns"] - row["start_ns"],
                *(row[name] for name in ("gap_ns", "polls", "polling_ns", "waiting_ns")),
                bound=5_000,
            ),
            "gap_ns": row["gap_ns"],
            "concurrency": None if together is None else float(together),
            "position": float(Fraction(own.index(row), len(own))),
            "region": _region(calls, row, places, spanning),
        }
        made |= {name: row[name] for name in trace.counter_names}
        for side in ("before", "after"):
            call = calls.get((where, row[f"call_{side}"]), {})
            made |= {f"{key}_{side}": value for key, value in _context(trace, call).items()}
        yield made


def _context(trace, call):
    names = {"bytes_sent": "sent_bytes", "bytes_received": "received_bytes"}
    told = {"operation": call.get("operation"), "tag": call.get("tag")}
    told |= {name: call.get(source) for name, source in names.items()}
    told["partner"] = call.get("peer")
    if told["partner"] is None and told["operation"] in {"MPI_Wait", "MPI_Waitall", "MPI_Test"}:
        senders = {
            trace.locations["rank"][row["sender_location"]].as_py()
            for row in trace.messages.to_pylist()
            if row["receiver_location"] == call["location"]
            and row["receive_call"] == call["call"]
        }
        told["partner"] = senders.pop() if len(senders) == 1 else None
    roots = [
        trace.collectives["root"][part["collective"]].as_py()
        for part in trace.collective_members.to_pylist()
        if call and (part["location"], part["call"]) == (call["location"], call["call"])
    ]
    told["root"] = roots[0] if roots else None
    return told


def _region(calls, row, places, spanning):
    if row["call_before"] is None and row["call_after"] is None:
        process = places[row["location"]]["process"]
        return sum(
            call["operation"] in spanning
            and places[call["location"]]["process"] == process
            and call["enter_ns"] <= row["start_ns"]
            for call in calls.values()
        )
    last = row["call_before"] if row["call_before"] is not None else row["call_after"] - 1
    return sum(
        call["operation"] in spanning and where == row["location"] and ordinal <= last
        for (where, ordinal), call in calls.items()
    )
