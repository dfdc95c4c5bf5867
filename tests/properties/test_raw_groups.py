"""However processes are grouped, and wherever what is between them is kept: one trace."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import burstline
import raw_files
from burstline import errors
from burstline.formats import store
from burstline.formats.intake.reading import Pace, read_parts
from burstline.formats.intake.target import HeldRows, HeldTables, PackedRows, Spool
from burstline.formats.raw import read as read_raw
from burstline.formats.raw.files.layout import Kind
from burstline.formats.raw.source import RawSource
from burstline.formats.store.folder import StoreWriter
from burstline.model import Trace, schema
from effort import examples

RANKS = 3
_UNKNOWN_CALL = 900
_ranks, _tags = st.integers(0, RANKS - 1), st.sampled_from([0, 0, 1])
_sources = st.sampled_from([raw_files.ANY_SOURCE, *range(RANKS), RANKS])
_requests = st.integers(0, 2)
_placed = (_ranks, _tags, _requests)
_details = st.one_of(
    st.builds(lambda to, tag, r: raw_files.send(to, tag=tag, request=r), *_placed),
    st.builds(
        lambda to, tag, r: raw_files.post(to, tag=tag, request=r), _sources, _tags, _requests
    ),
    st.builds(
        lambda to, tag, r: raw_files.receive(to, tag=tag, request=r), _ranks, _tags, _requests
    ),
    st.builds(raw_files.sent, _requests),
    st.builds(
        lambda r, own: raw_files.collective(request=r, root=own), _requests, st.booleans()
    ),
    st.builds(raw_files.root, _ranks),
    st.builds(raw_files.collective_done, _requests),
    st.builds(lambda n: raw_files.record(22, b=n, c=n), st.integers(0, 3)),
)
_between = st.one_of(
    st.builds(lambda n: raw_files.record(51, a=n), st.integers(1, 3)),
    st.builds(lambda n: raw_files.record(52, a=n), st.integers(1, 3)),
    st.builds(lambda n: raw_files.record(50, a=n, b=1), st.sampled_from([7, 8, 50000001])),
    st.builds(lambda n: raw_files.record(70, b=1, c=n), st.integers(0, 2)),
    st.builds(lambda n: raw_files.record(57, op=n % 8, a=1, b=1, c=1), st.integers(1, 8)),
)
_operations = st.sampled_from(
    ["MPI_Send", "MPI_Irecv", "MPI_Waitall", "MPI_Sendrecv", "MPI_Bcast", _UNKNOWN_CALL, 901]
)
_steps = st.lists(
    st.tuples(
        _ranks, _operations, st.lists(_details, max_size=3), st.lists(_between, max_size=1)
    ),
    max_size=25,
)


def _run(steps, *, has_threads):
    run = raw_files.Run(RANKS, hosts=["a", "b", "a"])
    threads = (
        [run.thread(rank, 1) for rank in range(RANKS)] if has_threads else list(run.threads)
    )
    for rank in range(RANKS):
        run[rank].add(raw_files.named(37, 0, f"counter_{rank % 2}"))
        run[rank].add(raw_files.named(38, 1 + rank, f"part_{rank // 2}"))
        run[rank].add(raw_files.named(35, 1, "/bin/app"), raw_files.stack(1, (1, 16 * rank)))
    for number, (rank, operation, details, between) in enumerate(steps):
        now = 100 + 10 * number
        thread = (run.threads, threads)[number % 2][rank]
        thread.call(operation, now, now + 5, *details, stack=1, before=[now], after=[now + 3])
        thread.add(
            *(part.replace(b"\0" * 8, (now + 7).to_bytes(8, "little"), 1) for part in between)
        )
    now = 100 + 10 * len(steps)
    for rank in range(RANKS):
        halves = [
            raw_files.send((rank + 1) % RANKS, tag=5),
            raw_files.receive((rank - 1) % RANKS, tag=5),
        ]
        run[rank].call("MPI_Sendrecv", now, now + 5, *halves)
    return run.end(now + 10)


def _tables(trace):
    found = {name: trace.table(name) for name in schema.TABLES if name in trace}
    return {
        name: (table.column_names, [column.to_pylist() for column in table.columns])
        for name, table in found.items()
    }


def _stored(folder, target, *, most, records=False, raw=True):
    """Convert with groups as small as wanted; hardly a row stays in memory."""
    source = RawSource(folder, operations=raw_files.NUMBERS, raw=raw, records=records)
    target.mkdir()
    with StoreWriter(target, source.counters) as writer:
        spill = writer.folder / "spill"
        spill.mkdir()
        read_parts(
            source,
            source.parts(most, most),
            writer,
            lambda name, types: PackedRows(Spool(spill, name, 100), types),
            Pace(threads=1, parts_at_once=2),
        )
        writer.finish(source.operations)
    return store.read(target)


def _read(folder, **options):
    try:
        return _tables(read_raw(folder, operations=raw_files.NUMBERS, **options))
    except errors.FormatError as error:
        return str(error)


def _in_slices(folder, most, tables=None):
    """Read with slices of about so many records, all in memory."""
    tables = tables or HeldTables()
    try:
        source = RawSource(folder, operations=raw_files.NUMBERS, raw=False)
    except errors.FormatError as error:
        return str(error)
    pace = Pace(threads=2, parts_at_once=2)
    read_parts(source, source.parts(most, most), tables, lambda _, types: HeldRows(types), pace)
    return _tables(Trace(tables.finish(source.operations)))


class _HalfMessages(HeldTables):
    """Counts the rows of half messages that come at a time."""

    def __init__(self):
        super().__init__()
        self.counts = []

    def append(self, name, table):
        if name == "half_messages":
            self.counts.append(table.num_rows)
        super().append(name, table)


def test_of_a_process_in_several_slices_few_half_messages_are_taken_at_a_time(tmp_path):
    run = raw_files.Run(2)
    for k in range(40):
        run[0].call("MPI_Send", 10 * k + 1, 10 * k + 2, raw_files.send(1, tag=k))
    tables = _HalfMessages()

    _in_slices(run.write(tmp_path), 8, tables)

    assert sum(tables.counts) == 40
    assert max(tables.counts) <= 3


@examples(0.4)
@given(_steps, st.booleans(), st.integers(1, 60), st.integers(1, 3))
def test_neither_groups_nor_threads_nor_cuts_change_a_trace(steps, has_threads, most, threads):
    with tempfile.TemporaryDirectory() as name:
        folder = _run(steps, has_threads=has_threads).write(name)

        found = _read(folder, records_at_once=most, threads=threads)

        assert found == _read(folder, threads=1)
        if not has_threads:
            assert _in_slices(folder, most) == _read(folder, raw=False)


@examples(0.4)
@given(_steps, st.booleans(), st.integers(1, 60), st.booleans())
def test_a_store_made_in_groups_holds_the_tables_of_memory(steps, has_threads, most, raw):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "files"
        folder.mkdir()
        _run(steps, has_threads=has_threads).write(folder)

        found = _tables(_stored(folder, Path(name) / "run.store", most=most, raw=raw))

        assert found == _read(folder, raw=raw)


@examples(0.2)
@given(_steps, st.integers(1, 60), st.booleans())
def test_a_prv_by_way_of_a_store_is_the_prv_of_memory(steps, most, raw):
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        folder = place / "files"
        folder.mkdir()
        _run(steps, has_threads=False).write(folder)
        whole = read_raw(folder, raw=raw, operations=raw_files.NUMBERS)

        stored = _stored(folder, place / "run.store", most=most, records=True, raw=raw)
        for trace, label in ((whole, "whole"), (stored, "stored")):
            burstline.write(trace, place / f"{label}.prv")

        for ending in ("prv", "pcf", "row"):
            bodies = [
                (place / f"{label}.{ending}").read_bytes().partition(b"):")[2]
                for label in ("whole", "stored")
            ]
            assert bodies[0] == bodies[1]


_long = st.lists(
    st.tuples(
        st.sampled_from(["MPI_Irecv", "MPI_Isend", "MPI_Mprobe", "MPI_Mrecv", "MPI_Waitall"]),
        st.integers(0, 3),
        st.sampled_from([raw_files.ANY_SOURCE, 0, 1]),
    ),
    max_size=30,
)


def _detail(operation, request, source):
    return {
        "MPI_Irecv": [raw_files.post(source, tag=5, request=request)],
        "MPI_Isend": [raw_files.send(1, tag=5, request=request)],
        "MPI_Mprobe": [raw_files.record(21, time=request, a=1, b=5 | 1 << 32)],
        "MPI_Mrecv": [
            raw_files.post(1, tag=5, request=request),
            raw_files.receive(1, tag=5, request=request),
        ],
        "MPI_Waitall": [raw_files.receive(1, tag=5, request=request), raw_files.sent(request)],
    }[operation]


# the receive that ends a request of the first slice takes a message probed for in the second
@example([("MPI_Irecv", 1, 1), ("MPI_Mprobe", 1, 1), ("MPI_Waitall", 1, 1)], 1)
@examples(0.4)
@given(_long, st.integers(1, 12))
def test_requests_and_probes_go_on_across_cuts(steps, most):
    run = raw_files.Run(2)
    for number, (operation, request, source) in enumerate(steps):
        now = 10 + 10 * number
        run[0].call(operation, now, now + 4, *_detail(operation, request, source))
        run[1].call("MPI_Send", now, now + 4, raw_files.send(0, tag=5))
    with tempfile.TemporaryDirectory() as name:
        folder = run.end(1000).write(name)

        assert _in_slices(folder, most) == _read(folder, raw=False)


@pytest.mark.parametrize("most", [1, 4, 8, 12])
def test_a_call_that_is_never_left_may_stand_before_a_cut(tmp_path, most):
    run = raw_files.Run(1)
    run[0].add(raw_files.named(37, 0, "cycles"))
    run[0].enter("MPI_Init", 10, counters=[1])
    for now in range(20, 60, 10):
        run[0].call("MPI_Barrier", now, now + 5, before=[now], after=[now + 5])
    folder = run.end(100).write(tmp_path)

    assert _in_slices(folder, most) == _read(folder, raw=False)


_words = st.one_of(st.integers(0, 9), st.integers(0, 2**64 - 1), st.just(2**61 - 1))
_records = st.builds(
    lambda kind, op, time, a, b, c: raw_files.record(kind, op=op, time=time, a=a, b=b, c=c),
    st.sampled_from([int(kind) for kind in Kind]),
    st.integers(0, 5),
    _words,
    _words,
    _words,
    _words,
)


_LATEST = 2**61 - 1
_CLOCKS_FAR_APART = [
    [],
    [
        raw_files.record(54, op=3, time=_LATEST, a=_LATEST, b=_LATEST, c=_LATEST),
        raw_files.record(72, op=3, time=_LATEST, a=9, b=0, c=0),
    ],
    [
        raw_files.record(0, op=4, time=2, a=2, b=_LATEST, c=9),
        raw_files.record(1, op=1, time=_LATEST, a=2, b=_LATEST, c=2),
        raw_files.record(50, op=2, time=_LATEST, a=_LATEST, b=_LATEST, c=3),
        raw_files.record(72, op=0, time=0, a=_LATEST, b=_LATEST, c=0),
    ],
]


# of a thread without a call, a record of what a call received
@example([[], [raw_files.receive(0)]], 1)
@example(_CLOCKS_FAR_APART, 1)
@examples(0.4)
@given(st.lists(st.lists(_records, max_size=30), min_size=2, max_size=4), st.integers(1, 40))
def test_whatever_the_records_are_groups_do_not_show(threads, most):
    with tempfile.TemporaryDirectory() as name:
        for number, records in enumerate(threads):
            begin = raw_files.record(30, a=number % 3, b=3)
            data = raw_files.header(number // 2, number % 2) + begin + b"".join(records)
            (Path(name) / f"p-{number}.raw").write_bytes(data)

        found = _read(Path(name), records_at_once=most, threads=2)

        assert found == _read(Path(name), threads=1)
        assert _in_slices(Path(name), most) == _read(Path(name), raw=False)
