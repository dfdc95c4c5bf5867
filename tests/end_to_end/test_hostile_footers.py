"""A footer of Parquet that lies, or is damaged, is told of its file and ends no process."""

from __future__ import annotations

import shutil

import pytest

import burstline
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
    "a column that has nulls is said to have none": (
        "calls",
        INT64 + OPTIONAL + named("sent_bytes"),
        INT64 + REQUIRED + named("sent_bytes"),
    ),
    "a column without nulls is said to have some": (
        "calls",
        INT64 + REQUIRED + named("enter_ns"),
        INT64 + OPTIONAL + named("enter_ns"),
    ),
    "a column is said to hold lists": (
        "calls",
        INT64 + OPTIONAL + named("sent_bytes"),
        INT64 + REPEATED + named("sent_bytes"),
    ),
    "a text is said to be of a type that Arrow gave up": (
        "locations",
        TEXT + OPTIONAL + named("node"),
        INT96 + OPTIONAL + named("node"),
    ),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sound")
    for ending in ("store", "parquet"):
        burstline.write(trace_of(TRACE), folder / f"run.{ending}")
    return folder


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("ending", ["store", "parquet"])
def test_a_footer_that_lies_is_damage_of_its_file(lie, ending, sound, tmp_path):
    name, honest, lying = LIES[lie]
    copy = tmp_path / f"run.{ending}"
    shutil.copytree(sound / copy.name, copy)
    file = copy / f"{name}.parquet"
    content = file.read_bytes()
    assert content.count(honest) == 1
    file.write_bytes(content.replace(honest, lying))
    if ending == "store":
        vouch(copy)

    done = call("convert", copy, tmp_path / "out.csv")

    assert done.returncode == 3, done.stderr
    assert f"{file}: expected" in done.stderr
