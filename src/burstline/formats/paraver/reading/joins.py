"""What looks across buckets: both sides of messages, and instances of collectives.

Rows come back from spools as matrices of int64, one column each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from burstline.columns import ordinal_within, to_numpy
from burstline.formats.paraver.reading.collectives import PART_COLUMNS, collective_tables
from burstline.formats.paraver.reading.in_memory import members_of, note_incomplete
from burstline.formats.paraver.reading.messages import join_sides, message_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from burstline.columns import Integers
    from burstline.formats.intake import Spool
    from burstline.formats.paraver.reading.assembly import Assembly
    from burstline.progress import Progress

SEND_COLUMNS: Final = (
    ("sender_location", np.int32),
    ("send_call", np.int32),
    ("send_ns", np.int64),
    ("send_seq", np.int64),
    ("send_leave_ns", np.int64),
    ("send_done_call", np.int32),
    ("send_done_ns", np.int64),
    ("send_done_seq", np.int64),
    ("send_done_from", np.int8),
    ("receiver_location", np.int32),
    ("size", np.int64),
    ("tag", np.int64),
    ("is_link", np.int8),
)
RECEIVE_COLUMNS: Final = (
    ("sender_location", np.int32),
    ("ordinal", np.int64),
    ("post_call", np.int32),
    ("post_ns", np.int64),
    ("post_seq", np.int64),
    ("receive_call", np.int32),
    ("receive_ns", np.int64),
    ("receive_seq", np.int64),
)
_PART_KINDS: Final = {
    "operation": np.int16,
    "location": np.int32,
    "call": np.int32,
    "communicator": np.int32,
    "root": np.int32,
}
_BYTES_PER_PART: Final = 600  # of a part while its instances are put together


def pack(columns: dict[str, npt.NDArray[Any]], names: tuple[str, ...]) -> Integers:
    """Put columns side by side: array of int64, shape (rows, columns)."""
    rows = np.empty((len(columns[names[0]]), len(names)), np.int64)
    for position, name in enumerate(names):
        rows[:, position] = columns[name]
    return rows


def _unpack(
    data: npt.NDArray[np.uint8], columns: tuple[tuple[str, type[Any]], ...]
) -> dict[str, npt.NDArray[Any]]:
    rows = data.view(np.int64).reshape(-1, len(columns))
    return {
        name: np.ascontiguousarray(rows[:, position]).astype(kind, copy=False)
        for position, (name, kind) in enumerate(columns)
    }


def join_messages(
    sends: npt.NDArray[np.uint8], receives: npt.NDArray[np.uint8], assembly: Assembly
) -> tuple[pa.Table, pa.Table]:
    """Join both sides of the messages that one bucket sent: messages and links."""
    senders = _unpack(sends, SEND_COLUMNS)
    joined = join_sides(senders, _unpack(receives, RECEIVE_COLUMNS))
    messages, links, negative = message_tables(senders, joined)
    if negative:
        text = "taken as unsigned 32-bit numbers"
        assembly.scanned.defects.note("negative_message_size", "info", text, negative)
    return messages, links


def join_collectives(
    parts: Spool,
    ranges: Spool,
    assembly: Assembly,
    *,
    buckets: int,
    memory: int,
    progress: Progress,
) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Put instances together a range of them at a time.

    Parameters
    ----------
    parts : Spool
        Parts of collectives by bucket, each bucket's sorted by location and call.
    ranges : Spool
        Takes the same by range of instances.
    assembly : Assembly
        Knows communicators and operations.
    buckets : int
        How many buckets there are.
    memory : int
        Bytes that may be used.
    progress : Progress
        Told when a bucket is distributed.

    Yields
    ------
    instances, members : pyarrow.Table
        In the order of communicators and sequences; `collective` counts through.
    """
    members = members_of(assembly)
    size = np.array([max(1, len(listed)) for listed in members] or [1], np.int64)
    # Instances per range, so that even those of the largest communicator fit.
    step = max(1, memory // 4 // (_BYTES_PER_PART * int(size.max())))
    keys: set[tuple[int, int]] = set()
    held: dict[tuple[int, int], int] = {}
    for bucket in range(buckets):
        columns = _parts_of(parts.take(bucket))
        sequence = ordinal_within(columns["communicator"], columns["location"])
        for key, rows in _by_range(columns["communicator"], sequence // step):
            number = held.setdefault(key, len(held))
            ranges.append(
                number, pack({n: columns[n][rows] for n in PART_COLUMNS}, PART_COLUMNS)
            )
            keys.add(key)
        progress.advance(1)
    count = 0
    for group in _batches(sorted(keys), size, step):
        first: dict[int, int] = {}
        for communicator, window in group:
            first.setdefault(communicator, window * step)
        data = [ranges.take(held[key]) for key in group]
        instances, rows = _join_range(data, first, assembly, members, count)
        count += instances.num_rows
        yield instances, rows


def _batches(
    keys: list[tuple[int, int]], size: Integers, step: int
) -> Iterator[list[tuple[int, int]]]:
    """Take small communicators together, large ones a window at a time."""
    group: list[tuple[int, int]] = []
    weight, most = 0, step * int(size.max())
    for key in keys:
        cost = step * int(size[key[0]]) if key[0] < len(size) else step
        if group and weight + cost > most:
            yield group
            group, weight = [], 0
        group.append(key)
        weight += cost
    if group:
        yield group


def _parts_of(data: npt.NDArray[np.uint8]) -> dict[str, npt.NDArray[Any]]:
    return _unpack(
        data, tuple((name, _PART_KINDS.get(name, np.int64)) for name in PART_COLUMNS)
    )


def _by_range(
    communicator: npt.NDArray[np.int32], window: Integers
) -> Iterator[tuple[tuple[int, int], Integers]]:
    rows = len(window)
    if not rows:
        return
    order = np.lexsort((window, communicator))
    a, b = communicator[order], window[order]
    borders = np.flatnonzero((a[1:] != a[:-1]) | (b[1:] != b[:-1])) + 1
    for first, last in zip([0, *borders.tolist()], [*borders.tolist(), rows], strict=True):
        # Within a range the order of locations and calls is kept: lexsort is stable.
        yield (int(a[first]), int(b[first])), order[first:last]


def _join_range(
    data: list[npt.NDArray[np.uint8]],
    first: dict[int, int],
    assembly: Assembly,
    members: list[list[int]],
    count: int,
) -> tuple[pa.Table, pa.Table]:
    columns = _parts_of(np.concatenate(data))
    order = np.lexsort((columns["call"], columns["location"]))
    columns = {name: values[order] for name, values in columns.items()}
    instances, rows = collective_tables(
        columns, assembly.objects.rank, members, assembly.operations
    )
    offset = np.zeros(max(first, default=0) + 1, np.int64)
    offset[list(first)] = list(first.values())
    communicator = to_numpy(instances["communicator"])
    sequence = to_numpy(instances["sequence"]) + offset[communicator]
    instances = instances.set_column(
        instances.schema.get_field_index("sequence"),
        instances.schema.field("sequence"),
        pa.array(sequence.astype(np.int32)),
    )
    rows = rows.set_column(
        0, rows.schema.field(0), pa.array(to_numpy(rows["collective"]) + count)
    )
    note_incomplete(assembly, instances)
    return instances, rows
