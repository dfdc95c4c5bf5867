"""Traces that take little on disk and much in memory: what they define expands."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import burstline
from two_runs import CYC, INS, Run, value
from vouched import vouch

ROWS = 1_500_000
MEMBERS = 50_000_000
MANY_RANKS = 8_000  # thousands; what is read of them fits, what becomes of them does not
TEXT = 250_000_000
UNIT = 500_000
ROUNDS = 32  # of four calls


def _metadata_of_one_long_text(table):
    texts = table["value"].to_pylist()
    return table.set_column(1, "value", pa.array(["x" * TEXT, *texts[1:]]))


def _metadata_of_one_text_many_times(_):
    return _metadata(repeated("x" * 1_000_000, 500))


def _metadata_of_a_list_of_texts(_):
    offsets = pa.array([0, 9_000_000], pa.int32())
    return _metadata(pa.ListArray.from_arrays(offsets, repeated("x" * 100, 9_000_000)))


def repeated(text, times):
    """Give an array of a text many times, which holds it once."""
    return pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), times), [text])


def _metadata(values):
    return pa.table({"key": pa.array(["x"] * len(values)), "value": values})


def _many_metadata(table):
    keys = [f"k{row}" for row in range(ROWS)]
    more = {"key": pa.array(keys), "value": pa.repeat("x", ROWS)}
    return pa.concat_tables([table, pa.table(more).cast(table.schema)])


def _many_types(table):
    label, number = pa.repeat("x", ROWS), pa.repeat(1, ROWS)
    columns = {"type": number, "label": label, "gradient": number, "group": number}
    return pa.table(columns).cast(table.schema)


def _many_members(table):
    return _with_members(table, pa.repeat(pa.scalar(0, pa.int32()), MEMBERS))


def _members_of_many_ranks(table):
    return _with_members(
        table, pa.array(np.tile(np.arange(1000, 2000, dtype=np.int32), MANY_RANKS))
    )


def _with_members(table, ranks):
    column = table.schema.get_field_index("members")
    kind = table.schema.field(column).type
    offsets = pa.array([0] + [len(ranks)] * table.num_rows, pa.int32())
    return table.set_column(column, "members", pa.ListArray.from_arrays(offsets, ranks, kind))


def _long_units(table):
    column = table.schema.get_field_index("unit")
    return table.set_column(column, "unit", pa.array(["x" * UNIT] * table.num_rows))


TABLES = {
    "a long text": ("metadata", _metadata_of_one_long_text),
    "many rows of one text": ("metadata", _metadata_of_one_text_many_times),
    "a list of equal texts": ("metadata", _metadata_of_a_list_of_texts),
    "many facts": ("metadata", _many_metadata),
    "many types": ("event_types", _many_types),
    "many members": ("communicators", _many_members),
    "members of many ranks": ("communicators", _members_of_many_ranks),
    "long units": ("counters", _long_units),
}
"""What expands in a store or a folder of tables: the table, and what becomes of its rows."""


def write_tables(folder, bomb, style):
    """Write a store, or a folder of tables, in which something expands; give its path."""
    text = folder / "run.prv"
    run = Run({42000059: value(1), INS: value(3), CYC: value(2)}, scale=50)
    run.operations = [(3, 31), *Run({}).operations[2:6] * ROUNDS, (3, 32)]
    run.write(text)
    path = folder / f"run.{style}"
    burstline.write(burstline.read(text), path)
    name, change = TABLES[bomb]
    table = change(pq.read_table(path / f"{name}.parquet"))
    how = {"compression": "zstd", "dictionary_pagesize_limit": 2 << 20, "store_schema": False}
    how |= {"row_group_size": table.num_rows, "write_statistics": False}
    pq.write_table(table, path / f"{name}.parquet", **how)
    if style == "store":
        vouch(path, **{name: table.num_rows})
    return path


def _regions_of_one_name(made):
    thread = made.thread(0)
    for number in range(1_000):
        region = made.definitions.region("x" * 1_000_000, begin_line_number=number + 1)
        thread.writer.enter(2 * number, region)
        thread.writer.leave(2 * number + 1, region)


def _communicators_of_one_group(made):
    kinds = {"group_type": _enums().GroupType.COMM_GROUP, "paradigm": _enums().Paradigm.MPI}
    group = made.definitions.group("all", members=[0] * 20_000, **kinds)
    for number in range(6_000):
        made.definitions.comm(f"c{number}", group=group)
    made.thread(0).region("main", 0, 10)


def _enums():
    import otf2.enums

    return otf2.enums


ARCHIVES = {
    "regions of one name": _regions_of_one_name,
    "communicators of one group": _communicators_of_one_group,
}
"""What expands in an archive."""


def write_archive(folder, bomb):
    """Write an archive in which something expands; give its anchor."""
    from otf2_archives import archive

    place = folder / bomb.replace(" ", "_")
    with archive(place, ranks=1) as made:
        ARCHIVES[bomb](made)
    return place / "traces.otf2"


def size_on_disk(folder):
    """Give the bytes of all files below a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
