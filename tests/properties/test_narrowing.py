"""A selection of a trace in a store is the selection of the same trace in memory."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import burstline
from burstline import MemoryBudgetError, Trace
from burstline.columns import Ordinals
from burstline.formats import store
from burstline.formats.paraver.editing.cut import completed
from burstline.formats.store import folder as store_folder
from burstline.model import Batched, schema
from burstline.selection import estimate_bytes, losses, narrowed, select
from burstline.testing import assert_same_trace, trace_of
from effort import examples
from paraver_text import HEADER, write_example
from properties.test_selection import cut_traces, rank_sets

GROWING = (
    *("calls", "messages", "bursts", "regions", "readings", "events", "states"),
    *("loop_entries", "loop_iterations", "call_loops"),
)


@pytest.fixture(autouse=True, scope="module")
def one_row_group_per_location():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store_folder, "_ROWS", 1)
        yield


class Lean(dict, Batched):
    """What a store holds, of which nothing that grows may be loaded whole."""

    def __init__(self, stored):
        super().__init__(dict.fromkeys(stored))
        self._stored = stored
        self.batches, self.rows = stored.batches, stored.rows
        self.rows_near = stored.rows_near

    def __getitem__(self, name):
        assert name not in GROWING, f"{name} was loaded whole"
        return self._stored[name]


@examples(0.5)
@given(cut=cut_traces(), data=st.data())
def test_selecting_from_a_store_is_selecting_from_memory(cut, data):
    trace, start, end = cut
    window, ranks = {"start_ns": start, "end_ns": end}, {"ranks": data.draw(rank_sets(trace))}
    regions = [window, {"start_ns": start}, {"end_ns": end}, ranks, window | ranks]
    region = data.draw(st.sampled_from(regions))
    with TemporaryDirectory() as folder:
        store.write(trace, Path(folder) / "run.store")
        stored = Trace(Lean(store.read(Path(folder) / "run.store")._tables))

        part, expected = select(stored, **region), select(trace, **region)

        assert_same_trace(part, expected)
        assert losses(stored, part) == losses(trace, expected)
        assert losses(narrowed(stored, **region), part) == losses(trace, expected)


@pytest.fixture
def one_moment(monkeypatch):
    """Let both cuts be made in one second: each notes when it was."""
    moment = datetime(2026, 1, 2, tzinfo=UTC)
    for module in ("files.declarations", "writing.prologue"):
        monkeypatch.setattr(f"burstline.formats.paraver.{module}.now", lambda: moment)


@pytest.mark.usefixtures("one_moment")
@pytest.mark.parametrize("start", [0, 120, 200, 300, 450])
@pytest.mark.parametrize("ranks", [None, [0], [1]])
def test_a_cut_from_a_store_is_the_cut_from_memory(tmp_path, start, ranks):
    trace = burstline.read(write_example(tmp_path))
    burstline.write(trace, tmp_path / "run.store")
    stored = burstline.read(tmp_path / "run.store")
    window = {"start_ns": start, "end_ns": start + 150}
    near = narrowed(stored, **window, ranks=ranks)

    part = completed(stored, select(near, **window, ranks=ranks), **window, near=near)

    expected = completed(trace, select(trace, **window, ranks=ranks), **window)
    assert_same_trace(part, expected)


BARRIERS = {1: [(100, 110), (300, 320)], 2: [(100, 150), (305, 320)]}


@pytest.mark.usefixtures("one_moment")
@pytest.mark.parametrize("start", [105, 110, 120, 150, 290, 301, 320])
@pytest.mark.parametrize("length", [3, 200])
def test_collectives_torn_by_a_cut_are_the_same_from_a_store(tmp_path, start, length):
    lines = "c:1:1:2:1:2\n" + "".join(
        f"2:{rank}:1:{rank}:1:{time}:50000002:{value}\n"
        for rank, calls in BARRIERS.items()
        for enter, leave in calls
        for time, value in ((enter, "8:50100004:1"), (leave, 0))
    )
    header = HEADER.replace("2(1,2):1:2(1:1,2:2),2", "1(2):1:2(1:1,1:1),1")
    trace = burstline.read(write_example(tmp_path, lines, header))
    store.write(trace, tmp_path / "run.store")
    stored = store.read(tmp_path / "run.store")
    window = {"start_ns": start, "end_ns": start + length}
    near = narrowed(stored, **window)

    part = completed(stored, select(near, **window), **window, near=near)

    assert_same_trace(part, completed(trace, select(trace, **window), **window))


def test_an_instance_that_nobody_took_part_in_stays(tmp_path):
    trace = trace_of("ranks 1 | 0 | 0 enter MPI_Barrier | 0 begin | 9 end | 9 leave")
    tables = {name: trace.table(name) for name in schema.TABLES if name in trace}
    tables["collective_members"] = trace.collective_members.slice(0, 0)
    trace = Trace(tables)
    store.write(trace, tmp_path / "run.store")
    stored = store.read(tmp_path / "run.store")

    part = select(stored, start_ns=20)

    assert part.collectives.num_rows == 1
    assert_same_trace(part, select(trace, start_ns=20))


LONG = "ranks 3 | " + " | ".join(
    f"{rank} " + " ".join(f"| {t} enter MPI_Wtime | {t + 5} leave" for t in range(0, 1000, 10))
    for rank in range(3)
)


@pytest.fixture
def stored(tmp_path):
    store.write(trace_of(LONG), tmp_path / "run.store")
    return store.read(tmp_path / "run.store")


def test_row_groups_of_other_locations_and_later_times_are_not_read(stored):
    only = np.array([False, True, False])

    assert {
        location
        for part in stored.batches("calls", ["location"], locations=only)
        for location in part["location"].to_pylist()
    } == {1}
    assert not list(stored.batches("calls", window=(2_000, 3_000)))
    assert len(list(stored.batches("calls"))) == 3


def test_what_a_part_takes_is_estimated_from_the_manifest(stored):
    whole = estimate_bytes(stored, ["calls"])

    assert whole == stored.estimate_bytes("calls")
    assert estimate_bytes(stored, ["calls"], ranks=[0]) * 3 == whole
    part = estimate_bytes(stored, ["calls"], start_ns=100, end_ns=200)
    assert 0.08 * whole < part < 0.15 * whole


def test_as_many_rows_as_the_memory_allows_are_held_and_more_refused(stored):
    region = {"start_ns": 0, "end_ns": 500}
    assert narrowed(stored, memory=100_000, **region).calls.num_rows == 153
    with pytest.raises(MemoryBudgetError, match="`end_ns`"):
        _ = narrowed(stored, memory=1_000, **region).calls

    held = sum(part.nbytes for part in stored.batches("calls"))
    assert narrowed(stored, memory=held).calls.num_rows == 300
    with pytest.raises(MemoryBudgetError):
        _ = narrowed(stored, memory=held - 1).calls


def test_near_a_window_is_what_touches_it_on_a_chosen_rank(tmp_path):
    touching = "| 5 enter MPI_Send n=1 | 10 leave | 12 enter MPI_Recv n=1 | 18 leave "
    trace = trace_of(
        "ranks 2 | counter n | 0 | 0 enter MPI_Init n=1 | 2 leave "
        f"| 3 enter MPI_Wtime n=1 | 3 leave {touching}"
        f"| 20 enter MPI_Wait n=1 | 25 leave | 30 enter MPI_Finalize n=1 | 31 leave "
        f"| 1 {touching}"
    )
    store.write(trace, tmp_path / "run.store")

    near = narrowed(store.read(tmp_path / "run.store"), start_ns=10, end_ns=20, ranks=[0])

    assert near.calls["enter_ns"].to_pylist() == [5, 12, 20]
    assert near.readings["time_ns"].to_pylist() == [12, 20]


@examples(0.5)
@given(
    names=st.sets(st.tuples(st.integers(0, 3), st.integers(0, 9))).map(sorted),
    asked=st.lists(st.tuples(st.integers(0, 4), st.integers(-1, 10))),
)
def test_rows_are_found_by_location_and_ordinal(names, asked):
    location, ordinal = np.array(names, np.int64).reshape(-1, 2).T
    where, what = np.array(asked, np.int64).reshape(-1, 2).T

    found = Ordinals(location, ordinal).rows(where, what)

    assert found.tolist() == [names.index(a) if a in names else -1 for a in asked]
