"""Small tables of a store are loaded once; large ones are not kept."""

from __future__ import annotations

import burstline
from burstline.formats.store import folder
from burstline.testing import trace_of

TEXT = """\
ranks 2
0 | 0 enter MPI_Init | 5 leave | 10 enter MPI_Finalize | 11 leave
1 | 0 enter MPI_Init | 5 leave | 10 enter MPI_Finalize | 11 leave
"""


def test_a_small_table_is_kept_and_a_large_one_is_not(tmp_path, monkeypatch):
    burstline.write(trace_of(TEXT), tmp_path / "a.store")
    trace = burstline.read(tmp_path / "a.store")

    assert trace.table("calls") is trace.table("calls")
    assert trace.table("calls").equals(trace_of(TEXT).calls)

    monkeypatch.setattr(folder, "_SMALL", 0)
    again = burstline.read(tmp_path / "a.store")
    assert again.table("calls") is not again.table("calls")
