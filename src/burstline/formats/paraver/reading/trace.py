"""From a ``.prv`` to a trace in memory, or to a store within a memory budget.

A scan makes journals by buckets of processes. In memory, all are built at once into the same
columns, and freed one by one: peak memory is little more than the tables. For a store, they are
moved to files when they outgrow their share, and each is built on its own, here or by workers.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline import _core
from burstline._core import CallKind
from burstline.columns import Integers, ordinal_within
from burstline.executor import Workers
from burstline.formats import intake
from burstline.formats.paraver.files.declarations import ONLY, said_in
from burstline.formats.paraver.reading import scan
from burstline.formats.paraver.reading.kernel_vocabulary import call_kinds, vocabulary
from burstline.formats.paraver.reading.ranges import (
    Buckets,
    Builders,
    Built,
    JournalFiles,
    Words,
    opened_by_worker,
    scan_shared,
)
from burstline.formats.paraver.reading.trace_file import OpenTrace, open_trace, valid_text
from burstline.model import LOOP_TYPES, LoopEvents, Loops, Trace, operations, schema
from burstline.progress import Progress

Columns = Mapping[str, npt.NDArray[Any]]
Types = Mapping[str, np.dtype[Any]]

LOOPS_LEFT_OUT: Final = "loops_left_out"
"""The defect of a trace whose loops are not read, for want of memory."""

# Calls that may return a communicator with the members of another: Extrae then reuses its id.
_TWIN_MAKERS: Final = [operations.CODES[name] for name in (
    "MPI_Comm_dup", "MPI_Comm_dup_with_info", "MPI_Comm_create", "MPI_Comm_create_group",
    "MPI_Comm_split", "MPI_Comm_split_type", "MPI_Cart_create", "MPI_Cart_sub",
    "MPI_Graph_create", "MPI_Dist_graph_create", "MPI_Dist_graph_create_adjacent",
    "MPI_Intercomm_merge",
)]  # fmt: skip
_NON_BLOCKING: Final = [operations.CODES[name] for name in operations.NON_BLOCKING_COLLECTIVES]
_BUCKETS: Final = 64
_MOST_BUCKETS: Final = 4096
_GZIP_RATIO: Final = 9
_SHARE_OF_JOURNAL: Final = 6
_PARTS_HERE: Final = 2
_FOUR_GIB = 1 << 32
_TWO_GIB = 1 << 31
_FLAGS: Final = {"send_done_from": np.int8, "is_link": np.int8}


def _column_types(names: str) -> Types:
    """The type of each column: places and calls fit into 32 bits."""
    return {
        name: np.dtype(
            np.int32 if name.endswith(("location", "call")) else _FLAGS.get(name, np.int64)
        )
        for name in names.split()
    }


_SENDS: Final = _column_types(
    "sender_location send_call send_ns send_seq send_leave_ns send_done_call send_done_ns "
    "send_done_seq send_done_from receiver_location size tag is_link"
)
_RECEIVES: Final = _column_types(
    "post_call post_ns post_seq receive_call receive_ns receive_seq"
)
_KEY: Final = _column_types("sender_location ordinal")


class ScannedSource(intake.Source[Buckets, Built]):
    """The journals of a trace, in one part, or one for each bucket if those are in `files`."""

    words_of_instance = "instance {number} of communicator {communicator}"

    def __init__(
        self,
        opened: OpenTrace,
        journal: _core.Journal,
        scanned: scan.Scanned,
        files: JournalFiles | None,
        *,
        raw: bool,
        threads: int,
        progress: Progress,
    ) -> None:
        self._opened, self._journal, self._files = opened, journal, files
        self._raw, self._threads, self._progress = raw, threads, progress
        self._loops, self._reads_loops = Loops(), opened.tells_loops
        self._assembly = opened.assembly(journal, scanned)
        named = self._assembly.counters, self._assembly.communicators
        self._words = vocabulary(opened.types, *named, opened.objects.application)
        self.counts: dict[str, Integers] = journal.counts(opened.layout)
        self._keep_states = raw or not self.counts["calls"].any()
        objects = opened.objects
        self._twins: set[int] = set()  # applications whose communicators may share ids
        # The format does not say how accurate clocks are.
        self.places = intake.Placement(
            objects.process.astype(np.int64),
            objects.application_of_task.astype(np.int64),
            objects.rank_of_task.astype(np.int64),
            0,
            is_part=said_in(scanned.comments, ONLY) is not None,
        )
        self.defects = scanned.defects
        bucket = opened.bucket[self.places.process]
        self._locations = np.bincount(bucket, minlength=opened.buckets)
        known = scanned.communicators
        self.members = [
            tuple(known[key].members.tolist()) for key in self._assembly.communicators
        ]
        self.counters = self._assembly.counter_names
        self.operations = self._assembly.operations
        if files is not None:
            self.borders = intake.window_borders
        in_one_part = files is None or opened.buckets == 1
        self.joining = _ExactOrder(
            self.places.process, self.defects, in_one_part=in_one_part, raw=raw
        )

    def leave_out_loops(self) -> None:
        """Build no events for the sake of loops, and no entries without them."""
        self._reads_loops = False
        self._assembly.regions.leave_out_loops()
        self.defects.note(LOOPS_LEFT_OUT, "info", "more memory is needed to read them")

    def parts(self) -> list[Buckets]:
        """All buckets at once if they stay in memory, else each of them."""
        count = self._opened.buckets
        tasks = len(self.places.rank)
        if self._files is None:
            return [Buckets(range(count), range(tasks))]
        first = np.searchsorted(self._opened.bucket, np.arange(count + 1)).tolist()
        return [
            Buckets(range(number, number + 1), range(first[number], first[number + 1]))
            for number in range(count)
        ]

    def shared(self, workers: Workers, files: JournalFiles) -> intake.Shared:
        """How workers build the parts of a trace that they have scanned into files."""
        opened, assembly = self._opened, self._assembly
        words = Words(
            tuple(opened.types.types().tolist()),
            tuple(assembly.counters),
            tuple(assembly.communicators.items()),
            raw=self._raw,
            loops=self._reads_loops,
            states=self._keep_states,
        )
        path, names = opened.path.absolute(), tuple(files.names)
        arguments = path, opened.buckets, files.folder, names, words
        return intake.Shared(workers, opened_by_worker, arguments, lambda _: (), path)

    def load(self, part: Buckets) -> Built:
        """The rows of some buckets; their journals are used up, one part after the other."""

        def done(bucket: int) -> None:
            # All in one part: the loop would not move before the end.
            if self._files is None:
                self._progress.advance(int(self._locations[bucket]))

        words, events = self._words, self._raw or self._reads_loops
        own = self._journal, self._opened.layout, words, self._files, events, self._keep_states
        return Builders(*own).build(part.buckets, self._threads, done)

    def group(self, part: Buckets, loaded: Built) -> intake.Group:
        """The group of a part, numbered after those before it."""
        built = loaded.columns
        calls = self._assembly.calls(built["calls"], loaded.paths)
        sends, receives = built.pop("sends"), built.pop("receives")
        raw = self._raw and not loaded.written
        tables = self._assembly.tables(built, loaded.extras, raw=raw)
        events = self._loop_events(built["events"]) if self._reads_loops else None
        built.clear()
        tables |= self._loops.tables(tables, self._assembly.regions.table(), events)
        makes_twins = np.isin(calls["operation"], _TWIN_MAKERS)
        makers = self._opened.objects.application[calls["location"][makes_twins]]
        self._twins.update(makers.tolist())
        parts = _collective_parts(calls)
        # A store has no tables of collectives where there are none.
        has_parts = self._files is None or len(parts["call"]) > 0
        first, last = np.searchsorted(
            self.places.process, (part.processes.start, part.processes.stop)
        )
        return intake.Group(
            tables,
            sends,
            receives,
            waiting=None,
            parts=parts if has_parts else None,
            locations=0 if self._files is None else int(last - first),
            written=loaded.written,
        )

    def _loop_events(self, events: Columns) -> LoopEvents:
        rows = np.flatnonzero(np.isin(events["type"], list(LOOP_TYPES)))
        names = ("location", "time_ns", "type", "value")
        location, time_ns, kind, value = (events[name][rows].astype(np.int64) for name in names)
        return LoopEvents(location, time_ns, kind, value, self._loop_name)

    def _loop_name(self, kind: int, value: int) -> str:
        return valid_text(self._assembly.pcf.value_label(kind, value) or "")

    def whole(self) -> dict[str, pa.Table]:
        """Tables that no part owns."""
        tables = self._opened.whole_tables(
            self._assembly, self._journal, self._twins, raw=self._raw
        )
        return tables | self._loops.definitions()


class _ExactOrder(intake.Joining):
    """Joins both sides of messages by the sender's location and the ordinal there."""

    # Of a trace in one part, receivers' sides come in the order of the senders', without a key.

    sends = _SENDS

    def __init__(
        self, process: Integers, defects: intake.Defects, *, in_one_part: bool, raw: bool
    ) -> None:
        self._process, self._defects = process, defects
        self._in_one_part, self._raw = in_one_part, raw
        self.receives = _RECEIVES if in_one_part else {**_KEY, **_RECEIVES}

    def senders(self, receives: Columns) -> Integers:
        """The process that sent what each receive took."""
        return self._process[receives["sender_location"]]

    def join(
        self, sends: Columns, receives: Columns
    ) -> tuple[dict[str, pa.Table], list[Columns]]:
        """Messages, and links of a raw trace, by sender and as in the file; no halves."""
        if not self._in_one_part:
            receives = _in_order(sends, receives)
        messages, links, negative = _message_tables(sends, receives)
        text = "taken as unsigned 32-bit numbers"
        self._defects.note("negative_message_size", "info", text, negative)
        return {"messages": messages} | ({"links": links} if self._raw else {}), []


def _in_order(sends: Columns, receives: Columns) -> Columns:
    first = np.searchsorted(sends["sender_location"], receives["sender_location"])
    row = first + receives["ordinal"]
    joined = {}
    for name in _RECEIVES:
        joined[name] = np.empty_like(receives[name])
        joined[name][row] = receives[name]
    return joined


def _message_tables(sends: Columns, receives: Columns) -> tuple[pa.Table, pa.Table, int]:
    """Messages, links, and the number of sizes that were printed negative, now unsigned."""
    is_link = sends["is_link"].astype(bool)
    sides = {**sends, **receives}
    names = [column.name for column in schema.TABLES["links"].columns]
    links = schema.arrow_table("links", {name: sides[name][is_link] for name in names})
    if is_link.any():
        sides = {name: values[~is_link] for name, values in sides.items()}
    rows, size = len(sides["send_ns"]), sides["size"]
    negative = (size < 0) & (size >= -_TWO_GIB)
    if negative.any():
        size = np.where(negative, size + _FOUR_GIB, size)
    columns = {
        name: values for name, values in sides.items() if name not in {"is_link", "size", "tag"}
    }
    columns |= {
        "tag": sides["tag"].astype(np.int32),
        "sent_bytes": size,
        "received_bytes": size,
        "communicator": pa.nulls(rows, pa.int32()),
        "send_request": pa.nulls(rows, pa.int64()),
        "receive_request": pa.nulls(rows, pa.int64()),
    }
    return schema.arrow_table("messages", columns), links, int(np.count_nonzero(negative))


def _collective_parts(calls: Columns) -> Columns:
    """The calls that are parts of collectives on a known communicator, by location."""
    # The format has no id for instances of collectives: the k-th collective of each location
    # on a communicator is the k-th instance, unless tracing was disabled or duplicates of the
    # communicator share its id.
    kinds = np.append(call_kinds(), 0)
    code = calls["operation"]
    code_or_none = np.where((code >= 0) & (code < len(kinds) - 1), code, len(kinds) - 1)
    rows = np.flatnonzero(
        (kinds[code_or_none] & CallKind.COLLECTIVE != 0) & (calls["communicator"] >= 0)
    )
    operation, location, call = (
        calls[name][rows] for name in ("operation", "location", "call")
    )
    communicator = calls["communicator"][rows]
    # The completion of a non-blocking collective is not recorded.
    blocking = ~np.isin(operation, _NON_BLOCKING)
    return {
        "location": location,
        "call": call,
        "done_call": np.where(blocking, call, np.int32(schema.UNKNOWN)),
        "begin_ns": calls["enter_ns"][rows],
        "end_ns": calls["leave_ns"][rows],
        "begin_seq": calls["enter_seq"][rows],
        "end_seq": np.where(blocking, calls["leave_seq"][rows], schema.NO_VALUE),
        "sent_bytes": _or_zero(calls["sent_bytes"][rows]),
        "received_bytes": _or_zero(calls["received_bytes"][rows]),
        "communicator": communicator,
        "sequence": ordinal_within(communicator, location),
        "operation": operation,
        "own_root": calls["root"][rows],
        "named_root": np.full(len(rows), schema.UNKNOWN, np.int32),
    }


def _or_zero(size: Integers) -> Integers:
    return np.where(size == schema.NO_VALUE, 0, size)


def read(
    path: Path, *, raw: bool, memory: int | None, threads: int, progress: Progress
) -> Trace:
    """Read a ``.prv`` or ``.prv.gz``; what does not fit is refused before tables are made."""
    with open_trace(path, most_buckets=_BUCKETS) as opened:
        journal = _core.Journal(opened.layout)
        count = scan.JournalCount(opened.buckets, memory)
        scanned = opened.scan(
            journal, threads=threads, progress=progress, overflow=count.relieve
        )
        source = ScannedSource(
            opened, journal, scanned, None, raw=raw, threads=threads, progress=progress
        )
        held = count.bytes_of(journal)
        tables = scan.bytes_of_tables(source.counts, len(source.counters), raw=raw)
        intake.require_bytes(scan.bytes_of_whole(tables, held), memory, way_out=scan.WAY_OUT)
        if not raw and memory is not None and opened.tells_loops:
            tables = scan.bytes_of_tables(source.counts, len(source.counters), raw=True)
            if scan.bytes_of_whole(tables, held) > memory:
                source.leave_out_loops()
        return intake.hold(source, source.parts(), intake.Pace(progress=progress))


def convert(
    path: Path,
    target: Path,
    *,
    raw: bool,
    memory: int,
    threads: int,
    progress: Progress,
    workers: Workers | None = None,
) -> None:
    """Make a store of a ``.prv`` or ``.prv.gz`` within `memory` bytes, at least 256 MiB.

    `workers` scan ranges of the text and build some processes each.
    """
    intake.require_memory(memory)
    size = path.stat().st_size * (_GZIP_RATIO if path.suffix == ".gz" else 1)
    intake.require_disk(target.absolute().parent, int(size * scan.DISK))
    each = None if workers is None else workers.memory_each
    # A worker builds one part, where one is built here while another is written.
    at_once = memory if each is None else min(memory, _PARTS_HERE * each)
    buckets = min(int(size * scan.STREAMED / at_once) + 1, _MOST_BUCKETS)
    with (
        open_trace(path, most_buckets=buckets) as opened,
        intake.new_store(target) as (store, folder),
    ):
        journal = _core.Journal(opened.layout)
        most = memory // _SHARE_OF_JOURNAL
        files = JournalFiles(folder.absolute(), opened.buckets, memory=most)
        if workers is None:
            scanned = opened.scan(
                journal, threads=threads, progress=progress, overflow=files.relieve
            )
        else:
            scanned = scan_shared(
                opened, journal, files, workers, threads=threads, progress=progress
            )
        source = ScannedSource(
            opened, journal, scanned, files, raw=raw, threads=1, progress=progress
        )
        pace = intake.Pace(
            threads=1,
            writers=threads,
            parts_at_once=intake.parts_within(memory, most=memory),
            shared=None if workers is None else source.shared(workers, files),
            progress=progress,
        )
        intake.fill(store, folder, source, source.parts(), memory=memory, pace=pace)
