"""The files beside a ``.prv``: labels (``.pcf``) and names of objects (``.row``).

::

    event_types, event_values, source lines  ->  Pcf
    locations, source lines                  ->  Row
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from burstline.formats.paraver.files.pcf import Pcf, TypeLabel, read_pcf
from burstline.formats.paraver.files.row import Row, read_row
from burstline.formats.paraver.writing.numbering import source_header, source_lines

if TYPE_CHECKING:
    from burstline.formats.paraver.writing.numbering import Numbering
    from burstline.trace import Trace


def labels(trace: Trace) -> Pcf:
    """The labels of a trace with raw tables, completed by those of the source."""
    other = read_pcf("\n".join(source_lines(trace, "pcf")).encode())
    in_order = sorted(trace.table("event_types").to_pylist(), key=lambda row: row["group"])
    types = {
        row["type"]: TypeLabel(row["label"], row["gradient"], row["group"]) for row in in_order
    }
    values: dict[int, dict[int, str]] = {}
    for row in trace.table("event_values").to_pylist():
        values.setdefault(row["group"], {})[row["value"]] = row["label"]
    return Pcf(
        types=types or other.types,
        values=values if types else other.values,
        precision=other.precision,
        states=other.states,
        state_colors=other.state_colors,
        gradient_names=other.gradient_names,
        gradient_colors=other.gradient_colors,
        options=other.options,
        semantic=other.semantic,
    )


def object_names(trace: Trace, names: Numbering) -> Row:
    """The names of the objects of a trace: the source's, if it has the same objects."""
    lines = source_lines(trace, "row")
    if lines and _is_whole(trace, names):
        return read_row("\n".join(lines).encode())
    declared = read_row("\n".join(lines).encode()).levels.get("NODE", ())
    node = np.maximum(names.node, 1)  # a trace without a resource model may call it 0
    count = int(node.max()) if not names.cpus else len(names.cpus)
    nodes = [f"node{number}" for number in range(1, count + 1)]
    nodes[: len(declared)] = declared[:count]
    for number, name in zip(node, trace.locations["node"].to_pylist(), strict=True):
        if name:
            nodes[int(number) - 1] = name
    cpus = [name for name, size in zip(nodes, names.cpus, strict=False) for _ in range(size)]
    cpus = cpus or [nodes[int(number) - 1] for number in node]
    digits = len(str(len(cpus)))
    return Row(
        {
            "CPU": tuple(f"{number:0{digits}}.{node}" for number, node in enumerate(cpus, 1)),
            "NODE": tuple(nodes),
            "THREAD": tuple(trace.locations["name"].to_pylist()),
        }
    )


def _is_whole(trace: Trace, names: Numbering) -> bool:
    header = source_header(trace)
    if header is None or names.renumbered:
        return False
    declared = sum(int(layout.threads.sum()) for layout in header.applications)
    return declared == trace.locations.num_rows
