"""A manifest of a store that is damaged, old, or lies with checksums that fit is refused."""

from __future__ import annotations

import json
import shutil
import zlib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import burstline
from burstline.errors import FormatError
from burstline.testing import trace_of
from command import burstline as call
from vouched import MANIFEST, vouch

TRACE = """
ranks 2
counter ins
0 | 0 enter MPI_Init ins=1 | 5 leave ins=2 | 20 enter MPI_Send ins=3
  | 21 send to 1 tag 7 bytes 8 | 22 leave ins=4 | 70 enter MPI_Finalize ins=5 | 90 leave ins=6
1 | 0 enter MPI_Init ins=1 | 5 leave ins=2 | 10 enter MPI_Recv ins=3
  | 30 receive from 0 tag 7 bytes 8 | 32 leave ins=4
  | 70 enter MPI_Finalize ins=5 | 90 leave ins=6
"""


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    path = tmp_path_factory.mktemp("sound") / "run.store"
    burstline.write(trace_of(TRACE), path)
    return path


@pytest.fixture
def copy(sound, tmp_path):
    return shutil.copytree(sound, tmp_path / "run.store")


def renamed(document):
    names = document["operations"]
    first, second = names.index("MPI_Send"), names.index("MPI_Recv")
    names[first], names[second] = names[second], names[first]


def more_rows(document):
    document["tables"]["calls"]["rows"] += 1


def other_counter(document):
    document["counters"] = ["cycles"]


def twice(document):
    document["operations"].append("MPI_Send")


LIES = {
    renamed: ("calls.parquet", "the operations that burstline-store.json names"),
    more_rows: ("calls.parquet", "7 rows"),
    other_counter: ("readings.parquet", "other columns than the table has"),
    twice: (MANIFEST, "a name that stands there twice"),
    lambda document: document["tables"].clear(): (MANIFEST, "no file of"),
    lambda document: document["tables"].pop("calls"): (MANIFEST, "no file of calls"),
    lambda document: document.update(version=1): (MANIFEST, "version 2 of stores"),
    lambda document: document["tables"].update(gaps={"rows": -1}): (MANIFEST, "footer"),
}


@pytest.mark.parametrize("lie", LIES, ids=[said for _, said in LIES.values()])
def test_a_manifest_that_lies_is_refused_though_its_checksum_fits(lie, copy, tmp_path):
    document = json.loads((copy / MANIFEST).read_text())
    lie(document)
    del document["checksum"]
    head = json.dumps(document)[:-1]
    (copy / MANIFEST).write_text(f'{head}, "checksum": {zlib.crc32(head.encode())}}}')

    done = call("convert", copy, tmp_path / "out.csv")

    file, said = LIES[lie]
    assert done.returncode == 3, done.stderr
    assert f"{copy / file}: expected" in done.stderr
    assert said in done.stderr


def test_a_file_that_is_not_there_is_missed(copy):
    (copy / "messages.parquet").unlink()

    with pytest.raises(FormatError, match="expected a file of messages, found 'none'"):
        burstline.read(copy)


def test_every_damaged_byte_of_a_manifest_is_seen(copy):
    sound = (copy / MANIFEST).read_bytes()
    for place in range(0, len(sound), 17):
        damaged = bytearray(sound)
        damaged[place] ^= 4
        (copy / MANIFEST).write_bytes(damaged)
        with pytest.raises(FormatError, match=MANIFEST):
            burstline.read(copy)


def test_every_damaged_byte_of_a_footer_is_seen(copy):
    sound = (copy / "calls.parquet").read_bytes()
    length = int.from_bytes(sound[-8:-4], "little")
    for place in range(len(sound) - 8 - length, len(sound), 37):
        damaged = bytearray(sound)
        damaged[place] ^= 4
        (copy / "calls.parquet").write_bytes(damaged)
        with pytest.raises(FormatError, match=r"calls\.parquet"):
            burstline.read(copy).rows("calls")


STATISTICS = [
    ("calls", 8, 70, 1),  # the last moment of a row group
    ("calls", 4, 1, 0),  # the last location
    ("readings", 8, 90, 20),
    ("messages", 8, 21, 1),
]
"""Tables, and bytes of a number, with another value."""


@pytest.mark.parametrize("case", STATISTICS)
def test_statistics_that_lie_are_told_by_what_is_read(case, copy, tmp_path):
    name, width, honest, lie = case
    file = copy / f"{name}.parquet"
    content = file.read_bytes()
    said = bytes([width]) + honest.to_bytes(width, "little")
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    head, tail = content[:footer], content[footer:]
    assert tail.count(said) >= 2  # as statistics are written today, and were before
    file.write_bytes(head + tail.replace(said, said[:1] + lie.to_bytes(width, "little")))
    vouch(copy)

    told_by = [["convert", copy, tmp_path / "out.csv"], ["info", copy]]
    for command in told_by[: 2 if name == "calls" else 1]:
        done = call(*command)

        assert done.returncode == 3, done.stderr
        assert f"{file}: expected" in done.stderr


@pytest.mark.parametrize("command", ["convert", "structure"])
def test_a_table_that_names_other_counters_than_the_manifest_is_refused(
    command, copy, tmp_path
):
    file = copy / "counters.parquet"
    table = pq.read_table(file)
    place = table.column_names.index("name")
    other = table.set_column(place, table.schema.field(place), pa.array(["cycles"]))
    pq.write_table(other.replace_schema_metadata(pq.read_metadata(file).metadata), file)
    vouch(copy)

    done = call(command, copy, *([tmp_path / "out.csv"] if command == "convert" else []))

    assert done.returncode == 3, done.stderr
    assert f"{file}: expected" in done.stderr
    assert "other counters than the manifest names" in done.stderr
