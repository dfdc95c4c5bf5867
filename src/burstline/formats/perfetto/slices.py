"""MPI calls and regions as slices of their thread, and gaps beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.columns import coded, to_numpy
from burstline.formats.perfetto.labels import microseconds
from burstline.formats.walk import Walk
from burstline.schema import NO_VALUE, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from burstline.columns import Integers
    from burstline.formats.perfetto.labels import Labels, Places
    from burstline.progress import Progress
    from burstline.trace import Trace

_SPAN: Final = ("enter_ns", "leave_ns", "enter_seq")
_CALL: Final = (
    "location", "operation", *_SPAN, "communicator", "peer", "tag", "root", "sent_bytes",
    "received_bytes", "call_path",
)  # fmt: skip
_REGION: Final = ("location", "region", *_SPAN, "call_path", "iterations")
_NUMBERS: Final = {"peer": UNKNOWN, "tag": UNKNOWN, "root": UNKNOWN}
_SIZES: Final = {"sent_bytes": "bytes sent", "received_bytes": "bytes received"}


def events(trace: Trace, places: Places, labels: Labels, progress: Progress) -> Iterator[str]:
    """Yield an event for each call and region, by location and begin."""
    calls, regions = Walk(trace, "calls", _CALL), Walk(trace, "regions", _REGION)
    for location, where in enumerate(places.where):
        called, entered = calls.of(location), regions.of(location)
        texts = [*_calls(called, labels), *_regions(entered, labels)]
        begin, end, seq = (
            np.concatenate([to_numpy(called[name]), to_numpy(entered[name])]) for name in _SPAN
        )
        order = np.lexsort((-end, seq, begin))
        ends = within(begin[order], end[order])
        rows = zip(order.tolist(), begin[order].tolist(), ends, strict=True)
        for row, first, last in rows:
            yield (
                f'{{"ph":"X",{where},"ts":{places.time(first)},'
                f'"dur":{microseconds(last - first)},{texts[row]}}}'
            )
        progress.advance(1)


def within(begins: Integers, ends: Integers) -> list[int]:
    """The ends of slices, no later than that of the slice they began in.

    >>> import numpy as np
    >>> within(np.array([0, 2, 9]), np.array([5, 7, 9]))
    [5, 5, 9]
    """
    shown = []
    around: list[int] = []
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        while around and around[-1] <= begin:
            around.pop()
        last = max(min(end, around[-1]) if around else end, begin)
        around.append(last)
        shown.append(last)
    return shown


def _calls(rows: pa.Table, labels: Labels) -> Iterator[str]:
    if not rows.num_rows:
        return
    names = labels.operations(coded(rows["operation"])[1])
    columns = [to_numpy(rows[name]).tolist() for name in _CALL]
    for _, operation, _, _, _, communicator, *numbers, path in zip(*columns, strict=True):
        arguments = [
            f'"{name}":{number}'
            for name, number in zip(_NUMBERS, numbers[:3], strict=True)
            if number != UNKNOWN
        ]
        arguments += [
            f'"{name}":{size}'
            for name, size in zip(_SIZES.values(), numbers[3:], strict=True)
            if size != NO_VALUE
        ]
        if communicator != UNKNOWN:
            arguments.append(f'"communicator":{labels.communicators[communicator]}')
        if path != UNKNOWN:
            arguments.append(f'"called from":{labels.path(path)}')
        yield f'"name":{names[operation]},"cat":"mpi","args":{{{",".join(arguments)}}}'


def _regions(rows: pa.Table, labels: Labels) -> Iterator[str]:
    columns = [to_numpy(rows[name]).tolist() for name in _REGION]
    for _, region, _, _, _, path, iterations in zip(*columns, strict=True):
        name, arguments = labels.regions[region]
        if iterations != NO_VALUE:
            arguments += f',"iterations":{iterations}'
        if path != UNKNOWN:
            arguments += f',"called from":{labels.path(path)}'
        yield f'"name":{name},"args":{{{arguments}}}'


def gaps(trace: Trace, places: Places) -> Iterator[str]:
    """Yield two events for each gap, on tracks beside the threads."""
    columns = ("location", "start_ns", "end_ns", "kind")
    for part in trace.batches("gaps", columns):
        for row in part.to_pylist():
            where = places.where[row["location"]]
            common = f'"cat":"gap","name":"not recorded: {row["kind"]}",'
            common += f'"id":{row["location"] + 1},{where},"ts":'
            yield f'{{"ph":"b",{common}{places.time(row["start_ns"])}}}'
            yield f'{{"ph":"e",{common}{places.time(row["end_ns"])}}}'
