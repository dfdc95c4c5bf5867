"""A footer of Parquet that lies, or is damaged, is told of its file and ends no process."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import burstline
from burstline.formats.store import read_footer
from burstline.testing import trace_of
from command import burstline as call
from vouched import vouch

TRACE = """
ranks 2
0 | 0 enter MPI_Init | 5 leave | 20 enter MPI_Send | 21 send to 1 tag 7 bytes 8 | 22 leave
1 | 0 enter MPI_Init | 5 leave | 10 enter MPI_Recv | 30 receive from 0 tag 7 bytes 8 | 32 leave
"""
INT32, INT64, TEXT, INT96 = (bytes([0x15, 2 * kind]) for kind in (1, 2, 6, 3))
REQUIRED, OPTIONAL, REPEATED = (bytes([0x25, 2 * kind]) for kind in (0, 1, 2))


def named(name):
    return bytes([0x18, len(name)]) + name.encode()


LIES = {
    "nulls are said to be none": ("calls", "sent_bytes", INT64 + OPTIONAL, INT64 + REQUIRED),
    "no nulls are said to be some": ("calls", "enter_ns", INT64 + REQUIRED, INT64 + OPTIONAL),
    "numbers are said to be lists": ("calls", "sent_bytes", INT64 + OPTIONAL, INT64 + REPEATED),
    # of a type that Arrow gave up
    "texts are said to be times": ("locations", "node", TEXT + OPTIONAL, INT96 + OPTIONAL),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sound")
    for ending in ("store", "parquet"):
        burstline.write(trace_of(TRACE), folder / f"run.{ending}")
    return folder


def length(content):
    """Give the bytes of the footer of a file."""
    return int.from_bytes(content[-8:-4], "little")


def ended(footer):
    """Give a footer with its length and the end of a file behind it."""
    return footer + len(footer).to_bytes(4, "little") + b"PAR1"


def lie_of(file, honest, lying):
    """Have the footer of a file say something else in the one place where it says that."""
    content = file.read_bytes()
    pages, footer = content[: -8 - length(content)], content[-8 - length(content) : -8]
    assert footer.count(honest) == 1
    file.write_bytes(pages + ended(footer.replace(honest, lying)))


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("ending", ["store", "parquet"])
def test_a_footer_that_lies_is_damage_of_its_file(lie, ending, sound, tmp_path):
    table, column, honest, lying = LIES[lie]
    copy = shutil.copytree(sound / f"run.{ending}", tmp_path / f"run.{ending}")
    file = copy / f"{table}.parquet"
    lie_of(file, honest + named(column), lying + named(column))
    if ending == "store":
        vouch(copy)

    done = call("convert", copy, tmp_path / "out.csv")

    assert done.returncode == 3, done.stderr
    assert f"{file}: expected" in done.stderr


def number(value):
    """A number as Thrift's compact protocol writes it."""
    coded = value << 1 ^ value >> 63
    content = bytearray()
    while coded > 127:
        content.append(coded & 127 | 128)
        coded >>= 7
    return bytes(content) + bytes([coded])


OFFSETS = {"negative": lambda offset: -offset, "behind the end": lambda _: 1 << 40}
PAGES_BEGIN_AT, HAS_ROWS, HAS_ONE_GROUP = b"\x26", b"\x16", b"\x19\x1c"


@pytest.mark.parametrize("lie", OFFSETS)
@pytest.mark.parametrize("ending", ["store", "parquet"])
def test_pages_that_are_not_in_the_file_are_damage_of_it(lie, ending, sound, tmp_path):
    copy = shutil.copytree(sound / f"run.{ending}", tmp_path / f"run.{ending}")
    file = copy / "calls.parquet"
    column = pq.read_metadata(file).row_group(0).column(3)
    offset = column.dictionary_page_offset or column.data_page_offset
    lie_of(file, *(PAGES_BEGIN_AT + number(o) for o in (offset, OFFSETS[lie](offset))))
    if ending == "store":
        vouch(copy)

    done = call("info", copy)

    assert done.returncode == 3, done.stderr
    assert f"{file}: expected" in done.stderr


@pytest.mark.parametrize("command", ["info", "convert"])
def test_rows_that_no_row_group_has_are_damage(command, sound, tmp_path):
    copy = shutil.copytree(sound / "run.store", tmp_path / "run.store")
    file = copy / "calls.parquet"
    lie_of(file, *(HAS_ROWS + number(rows) + HAS_ONE_GROUP for rows in (4, 0)))
    vouch(copy, calls=0)

    done = call(command, copy, *([tmp_path / "out.csv"] if command == "convert" else []))

    assert done.returncode == 3, done.stderr
    assert f"{file}: expected" in done.stderr
    assert "0 rows, of which its row groups have 4" in done.stderr


@pytest.mark.parametrize("claimed", [0, 645])
def test_rows_that_a_dataset_claims_are_compared_with_its_row_groups(claimed, tmp_path):
    file = tmp_path / "heat.parquet"
    shutil.copy(Path(__file__).parent / "learning" / file.name, file)
    lie_of(file, *(HAS_ROWS + number(rows) + HAS_ONE_GROUP for rows in (640, claimed)))

    done = call("learn", file, "--features", "base")

    assert done.returncode == 3, done.stderr
    assert f"{file}: expected a Parquet table" in done.stderr
    assert f"{claimed} rows, of which its row groups have 640" in done.stderr


def test_a_page_of_a_dataset_that_was_changed_is_damage(tmp_path):
    file = tmp_path / "bursts.parquet"
    (tmp_path / "run.txt").write_text(TRACE)
    assert call("table", tmp_path / "run.txt", "-o", file).returncode == 0
    content = bytearray(file.read_bytes())
    column = pq.read_metadata(file).row_group(0).column(0)
    first_page = column.dictionary_page_offset or column.data_page_offset
    content[first_page + column.total_compressed_size - 1] ^= 4
    file.write_bytes(content)

    done = call("learn", file)

    assert done.returncode == 3, done.stderr
    assert f"{file}: expected a Parquet table, found" in done.stderr
    assert "CRC" in done.stderr


@pytest.mark.parametrize("place", ["run.store", "run.store/calls.parquet"])
def test_what_leads_to_itself_is_named(place, sound, tmp_path):
    shutil.copytree(sound / "run.store", tmp_path / "run.store")
    path = tmp_path / place
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    path.symlink_to(path.name)

    done = call("info", tmp_path / "run.store")

    assert done.returncode == 2, done.stderr
    assert f"{path}: too many levels" in done.stderr


def test_columns_are_counted_before_arrow_makes_anything_of_them(tmp_path, monkeypatch):
    leaf = INT32 + REQUIRED + named("a") + b"\0"
    root = b"\x48\x01a\x15" + number(70_000) + b"\0"
    count = b"\xf1\xa2\x04"  # 70,001, as lists say it
    footer = b"\x15\2\x19\xfc" + count + root + leaf * 70_000 + b"\x16\0\x19\x0c\0"
    file = tmp_path / "wide.parquet"
    file.write_bytes(b"PAR1" + ended(footer))
    monkeypatch.setattr(pq, "read_metadata", lambda _: pytest.fail("Arrow has read it"))

    with pytest.raises(ValueError, match="70,001 columns"):
        read_footer(file)
