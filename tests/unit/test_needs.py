"""What analyses need, and the cut that a refusal names."""

from __future__ import annotations

import re

import pytest

import burstline
from burstline.errors import MemoryBudgetError
from burstline.model import schema
from burstline.run import needs

BEGIN = 1_000_000_000  # of a trace of less than a millisecond
CALLS = 400


@pytest.fixture
def late(tmp_path):
    """Give a store of a thread that was born a second after time 0."""
    lines = [f"#Paraver (01/01/2026 at 00:00):{BEGIN + 2000 * CALLS}_ns:1(1):1:1(1:1)"]
    for number in range(CALLS):
        enter = BEGIN + 2000 * number
        lines += [f"2:1:1:1:1:{enter + 1000 * k}:50000003:{19 * (1 - k)}" for k in (0, 1)]
    text = tmp_path / "late.prv"
    text.write_text("\n".join([*lines, ""]), encoding="ascii")
    burstline.write(burstline.read(text), tmp_path / "late.store")
    return burstline.read(tmp_path / "late.store")


@pytest.mark.parametrize("region", [{}, {"start_ns": BEGIN // 2}, {"end_ns": 2 * BEGIN}])
def test_the_cut_that_a_refusal_names_holds_calls(late, region):
    wanted = needs.Needs(("calls", "bursts"), 50.0)
    needed = needs.bytes_needed(late, wanted, region)
    with pytest.raises(MemoryBudgetError) as refused:
        needs.bytes_required(late, needed // 2, wanted, region, "late.store")

    start, end = map(int, re.findall(r"_ns=(\d+)", refused.value.way_out))
    part = burstline.select(late, start_ns=start, end_ns=end)
    assert start == region.get("start_ns", 0)
    assert CALLS // 10 < part.calls.num_rows < CALLS


def test_the_cut_that_a_refusal_names_can_be_made(late):
    wanted = needs.Needs(("calls",), 2.0)
    needed = needs.bytes_needed(late, wanted)
    with pytest.raises(MemoryBudgetError) as refused:
        needs.bytes_required(late, needed - 1, wanted, {}, "late.store")

    start, end = map(int, re.findall(r"_ns=(\d+)", refused.value.way_out))
    window = {"start_ns": start, "end_ns": end}
    every = needs.Needs(tuple(schema.TABLES), needs.CUT_FROM_STORE)
    made = needs.bytes_needed(late, every, window)
    assert late.has_raw
    assert made < needed
