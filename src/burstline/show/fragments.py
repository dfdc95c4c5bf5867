"""A burst table that workers write: each some of its rows, as a file of its own.

::

    worker ─► fragment, its sums ─┐
    worker ─► fragment, its sums ─┴─► one file, as if it had been written here
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pyarrow as pa

from burstline import merge
from burstline.formats import atomic, store
from burstline.merge import PartSums, Shared
from burstline.model import POLL_GAP_NS, Trace
from burstline.progress import SILENCE, Progress
from burstline.show.table_files import table_writer


@dataclass(frozen=True, slots=True)
class Fragment:
    """Rows of a burst table: where they are, if they were asked for, and what they hold."""

    path: Path | None
    parts: list[PartSums]


def write_fragment(
    trace: Trace,
    *,
    whole: Trace,
    locations: range,
    folder: Path | None,
    ending: str,
    columns: Sequence[str] | None,
    min_duration_ns: int,
    poll_gap_ns: int = POLL_GAP_NS,
    longest: int,
    progress: Progress = SILENCE,  # noqa: ARG001 -- as of every fold
) -> Fragment:
    """Write the bursts of some locations into a file of a folder, or only sum them up."""
    schema = merge.table_schema(trace.counter_names, columns)
    parts = merge.burst_parts(
        trace,
        columns=columns,
        min_duration_ns=min_duration_ns,
        whole=whole,
        poll_gap_ns=poll_gap_ns,
        shared=_shared(whole),
        locations=locations,
    )
    if folder is None:
        return Fragment(None, [PartSums.of(part, longest) for part in parts])
    sums = []
    number, name = tempfile.mkstemp(dir=folder, suffix=ending)
    with os.fdopen(number, "wb") as file, table_writer(file, ending, schema) as writer:
        for part in parts:
            sums.append(PartSums.of(part, longest))
            if part.num_rows:
                writer.write_table(part)
    return Fragment(Path(name), sums)


@lru_cache(maxsize=1)
def _shared(whole: Trace) -> Shared:
    """What a worker keeps from part to part: these come in the order of locations."""
    return Shared(whole)


def join_parquet(fragments: Iterable[Fragment], path: Path) -> None:
    """Make one Parquet file of fragments; it appears whole or not at all."""
    paths = [fragment.path for fragment in fragments if fragment.path is not None]
    with atomic.output(path) as file:
        store.join(paths, file)


def rows_of(fragments: Iterable[Fragment]) -> Iterator[pa.Table]:
    """The rows of fragments that are Arrow files, part by part."""
    for fragment in fragments:
        if fragment.path is None:
            continue
        with pa.memory_map(str(fragment.path)) as mapped:
            file = pa.ipc.open_file(mapped)
            for number in range(file.num_record_batches):
                yield pa.Table.from_batches([file.get_batch(number)])
