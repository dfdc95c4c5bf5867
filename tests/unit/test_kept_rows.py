"""What is kept until all is read: as narrow as the tables it goes into, and not for long."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from burstline.formats.intake import target
from burstline.formats.intake.collectives import PART_COLUMNS
from burstline.formats.intake.messages import RECEIVE_COLUMNS, SEND_COLUMNS
from burstline.formats.intake.target import HeldRows, PackedRows, Spool, types_of
from burstline.model import schema


def test_a_half_of_a_message_takes_no_more_than_its_columns_of_the_table():
    messages = schema.arrow_schema("messages")
    for columns in (SEND_COLUMNS, RECEIVE_COLUMNS):
        for name, kind in types_of(columns, "messages").items():
            if name in messages.names and name != "send_done_from":
                assert kind == messages.field(name).type.to_pandas_dtype(), name


@pytest.mark.parametrize(
    ("columns", "tables"),
    [
        (SEND_COLUMNS, ["messages"]),
        (RECEIVE_COLUMNS, ["messages"]),
        (PART_COLUMNS, ["collectives", "collective_members"]),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_rows_come_back_as_they_were_kept(columns, tables, packed, tmp_path):
    types = types_of(columns, *tables)
    kept = {
        name: np.array([np.iinfo(kind).min, -1, 0, np.iinfo(kind).max], np.int64)
        for name, kind in types.items()
    }
    rows = PackedRows(Spool(tmp_path, "rows", 100), types) if packed else HeldRows(types)
    rows.append(0, kept)
    rows.scatter(np.array([1, 0, 1, 0]), kept)

    for key, place in ((0, [0, 1, 2, 3, 1, 3]), (1, [0, 2])):
        for name, column in rows.take(key).items():
            assert column.dtype == types[name]
            assert column.tolist() == kept[name][place].tolist()
    assert all(not len(column) for column in rows.take(0).values())


def test_a_system_that_takes_no_memory_back_keeps_it(monkeypatch):
    target._malloc_trim.cache_clear()
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    target.give_back()
    assert target._malloc_trim() is None
    target._malloc_trim.cache_clear()
