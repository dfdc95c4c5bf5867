"""Regions of a .prv whose types cross: a leave closes the last open one of its own type."""

from __future__ import annotations

import burstline

LOOP, FUNCTION = 60000001, 60000018
EVENTS = [
    (10, LOOP, 1), (20, FUNCTION, 1),
    (30, LOOP, 0),  # crosses the function
    (40, LOOP, 2), (50, FUNCTION, 0), (60, LOOP, 3),
    (70, FUNCTION, 0),  # never entered
    (80, LOOP, 0), (90, LOOP, 0), (95, FUNCTION, 2),
    (100, 7, 1),  # the end of the trace
]  # fmt: skip


def test_regions_that_cross_are_closed_by_type_and_lie_in_the_last_open_one(tmp_path):
    lines = [f"2:1:1:1:1:{time}:{kind}:{value}\n" for time, kind, value in EVENTS]
    place = tmp_path / "crossing.prv"
    header = "#Paraver (01/02/2026 at 03:04):1000_ns:1(1):1:1(1:1)\n"
    place.write_text(header + "".join(lines), encoding="utf-8")

    regions = burstline.read(place).regions

    assert regions["enter_ns"].to_pylist() == [10, 20, 40, 60, 95]
    assert regions["leave_ns"].to_pylist() == [30, 50, 90, 80, 100]
    assert regions["parent"].to_pylist() == [None, 0, 1, 2, None]
