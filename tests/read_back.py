"""Cuts that are written and read again, which are to be what was selected."""

from __future__ import annotations

import numpy as np

import burstline
from burstline.formats.paraver.editing.cut import completed
from burstline.selection import select, shift
from oracles.prv_rules import broken
from paraver_text import write_example

CALL = ["location", "call", "operation", "enter_ns", "leave_ns"]
MESSAGE = ["sender_location", "send_call", "send_ns", "receiver_location", "receive_call"]
REGION = ["location", "row", "enter_ns", "leave_ns", "parent"]


def assert_reads_back(trace, copy, start, end):
    """Require that a cut, of one window or one of each location, is what was selected there."""
    selected = select(trace, start_ns=start, end_ns=end)
    begins = np.atleast_1d(start)
    offset = int(begins[begins < end].min())
    part = shift(completed(trace, selected, start_ns=start, end_ns=end), -offset)
    burstline.write(part, copy, overwrite=True)

    again, expected = burstline.read(copy), shift(selected, -offset)
    for name, columns in (("calls", CALL), ("messages", MESSAGE), ("regions", REGION)):
        found, wanted = (
            one.table(name).select(columns).to_pylist() for one in (again, expected)
        )
        assert found == wanted, name
    assert _callers(again) == _callers(expected)
    assert broken(copy) == []
    return selected


def _callers(trace):
    paths = trace.call_paths["function"].to_pylist()
    found = trace.calls["call_path"].to_pylist()
    return [None if path is None else paths[path] for path in found]


def write_barriers(folder):
    """Write a trace of two ranks and two barriers; give its path."""
    barriers = {1: [(100, 110), (300, 320)], 2: [(100, 150), (305, 320)]}
    lines = "c:1:1:2:1:2\n" + "".join(
        f"2:{rank}:1:{rank}:1:{time}:50000002:{value}\n"
        for rank, calls in barriers.items()
        for enter, leave in calls
        for time, value in ((enter, "8:50100004:1"), (leave, 0))
    )
    header = "#Paraver (01/02/2026 at 03:04):1000_ns:1(2):1:2(1:1,1:1),1"
    return write_example(folder, lines, header)
