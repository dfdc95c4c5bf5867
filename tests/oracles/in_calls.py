"""Slow twin of counters in calls: each call looks through all readings of its location."""

from __future__ import annotations


def inside(trace, name):
    """Give what a counter counted in each call; None unless it was read at both ends."""
    readings = [row for row in trace.table("readings").to_pylist() if row[name] is not None]
    calls = trace.calls.to_pylist()
    found = []
    for place, call in enumerate(calls):
        own = [row for row in readings if row["location"] == call["location"]]
        later = calls[place + 1] if place + 1 < len(calls) else None
        is_last = later is None or later["location"] != call["location"]
        end_seq = float("inf") if is_last else later["enter_seq"]
        at_enter = [
            row
            for row in own
            if call["enter_seq"] <= row["seq"] < call["leave_seq"]
            and row["time_ns"] == call["enter_ns"]
        ]
        at_leave = [
            row
            for row in own
            if call["leave_seq"] <= row["seq"] < end_seq and row["time_ns"] == call["leave_ns"]
        ]
        between = [
            row
            for row in own
            if call["enter_seq"] <= row["seq"] < call["leave_seq"] and row not in at_enter
        ]
        known = at_enter and at_leave
        found.append(sum(row[name] for row in between + at_leave) if known else None)
    return found
