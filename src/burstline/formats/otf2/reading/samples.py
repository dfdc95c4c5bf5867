"""Samples of an archive: the calling context that a thread was in when it was interrupted."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from burstline._core import RecordKind
from burstline.columns import AnyIntegers, Integers, Mask, take
from burstline.extrae import UNRESOLVED
from burstline.formats.otf2.numbers import PERIODS
from burstline.formats.otf2.reading.basis import ArchiveBasis
from burstline.formats.otf2.reading.details import EventRecords
from burstline.model import UNKNOWN, arrow_table

_COLUMNS: Final = ("location", "time_ns", "periods", "call_path")
_MOST: Final = 1 << 62


def sample_table(records: EventRecords, basis: ArchiveBasis) -> tuple[pa.Table, EventRecords]:
    """The table `samples`, and the records without those that it is made of.

    Periods are an attribute of ours; a sample without stands for one.
    """
    is_sample = records["kind"] == RecordKind.SAMPLE
    if not is_sample.any():
        return arrow_table("samples", dict.fromkeys(_COLUMNS, np.zeros(0, np.int64))), records
    samples = records.pick(np.flatnonzero(is_sample))
    is_periods = _are_periods(records, basis)
    periods = np.ones(len(samples), np.int64)
    given = records.pick(np.flatnonzero(is_periods))
    row = _row_of(samples, given)
    periods[row[row >= 0]] = np.clip(given["value"][row >= 0], 1, _MOST)
    is_own = np.zeros(len(is_sample), bool)
    is_own[np.flatnonzero(is_periods)[row >= 0]] = True
    columns = {
        "location": samples["location"],
        "time_ns": samples["time_ns"],
        "periods": periods,
        "call_path": _paths_of(samples["value"], basis),
    }
    rest = records.pick(np.flatnonzero(~is_sample & ~is_own))
    return arrow_table("samples", columns), rest


def _are_periods(records: EventRecords, basis: ArchiveBasis) -> Mask:
    """Which records are attributes of that name."""
    attributes = basis.archive.defined.attributes
    defined = basis.archive.defined
    named = [each for each, row in attributes.items() if defined.text(row[0]) == PERIODS]
    is_attribute = records["kind"] == RecordKind.ATTRIBUTE
    return is_attribute & np.isin(records["name"], np.array(named, np.int64))


def _row_of(samples: EventRecords, given: EventRecords) -> Integers:
    """The sample that each attribute is of: both have one ordinal; -1 without one."""
    event = dict(
        zip(
            zip(samples["location"].tolist(), samples["seq"].tolist(), strict=True),
            range(len(samples)),
            strict=True,
        )
    )
    keys = zip(given["location"].tolist(), given["seq"].tolist(), strict=True)
    return np.array([event.get(key, UNKNOWN) for key in keys], np.int64)


def _paths_of(context: AnyIntegers, basis: ArchiveBasis) -> Integers:
    """The row of each calling context, from the outermost function on."""
    numbers, which = np.unique(context, return_inverse=True)
    rows = [_path_of(number, basis) for number in numbers.tolist()]
    return take(np.array(rows, np.int64), which.reshape(-1))


def _path_of(number: int, basis: ArchiveBasis) -> int:
    if number <= basis.regions.unknown_row:
        return UNKNOWN
    chain = basis.regions.chain(number)
    if len(chain) == 1 and basis.regions.function(chain[0][0])[0] == UNRESOLVED:
        return UNKNOWN  # as we write a sample of nobody knows what
    return basis.paths.child(UNKNOWN, number)
