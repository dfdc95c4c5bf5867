"""Samples of call stacks that threads took of themselves."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from burstline.columns import Columns, concatenated, lookup
from burstline.formats.raw.events.timeline import Timeline
from burstline.formats.raw.files.layout import LATEST, Kind
from burstline.formats.raw.processes.clocks import Correction
from burstline.model import arrow_schema, arrow_table


class RecordedSamples:
    """The samples of all locations."""

    def __init__(self) -> None:
        self._samples: list[Columns] = []

    def add(self, line: Timeline, stacks: Mapping[int, int], correction: Correction) -> None:
        """Take in the samples of a location; `stacks`: the row of each in `call_paths`.

        They stand before the record that follows them, which may itself have been begun.
        """
        rows = line.of(Kind.SAMPLE)
        records = line.records[rows]
        self._samples.append(
            {
                "location": np.full(len(rows), line.location),
                "time_ns": line.when(records["time"], correction),
                "periods": np.clip(records["b"], 1, LATEST).astype(np.int64),
                "call_path": lookup(records["a"], stacks),
            }
        )

    def table(self) -> pa.Table:
        """The table `samples`."""
        samples = concatenated(arrow_schema("samples").names, self._samples)
        order = np.lexsort((samples["time_ns"], samples["location"]))
        return arrow_table("samples", {name: each[order] for name, each in samples.items()})
