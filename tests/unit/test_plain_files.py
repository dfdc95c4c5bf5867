"""Files of a trace are read more than once: what is no plain file is refused, and named."""

from __future__ import annotations

import os
import signal
from functools import partial
from pathlib import Path

import pytest

import burstline
import raw_files
from burstline.model import schema
from command import burstline as command
from cube_files import Cube
from otf2_archives import archive
from paraver_text import HEADER, LINES


def paraver(folder):
    path = folder / "run.prv"
    path.write_text(HEADER + "\n" + LINES)
    path.with_suffix(".pcf").write_text("EVENT_TYPE\n9 50000001 MPI\n")
    path.with_suffix(".row").write_text("")
    return path


def written(ending, folder):
    path = folder / f"run{ending}"
    burstline.write(burstline.read(paraver(folder.parent)), path)
    return path


def otf2(folder):
    with archive(folder / "run", 2) as made:
        for rank in range(2):
            made.thread(rank).region("f", 0, 1)
    return folder / "run"


def recording(folder):
    for path in raw_files.Run(1).end(9).write(folder).glob("*.raw"):
        path.with_suffix(".tail").write_bytes(b"BURSTEND")
    return folder


def text(folder):
    path = folder / "run.txt"
    path.write_text("ranks 1\n0 | 0 enter MPI_Barrier | 5 leave\n")
    return path


def profile(folder):
    return Cube().write(folder / "run.cubex")


TABLES = [partial(written, ending) for ending in (".store", ".csv", ".parquet")]
FORMATS = [paraver, *TABLES, otf2, recording, text, profile]


@pytest.fixture
def seconds():
    """A minute, after which what hangs is ended."""
    before = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("it hangs"))
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def read_whole(path):
    if path.suffix == ".cubex":
        return burstline.read_profile(path)
    trace = burstline.read(path)
    for name in schema.TABLES:
        trace.table(name)
    return trace


@pytest.mark.usefixtures("seconds")
@pytest.mark.parametrize("make", FORMATS)
def test_a_pipe_in_place_of_any_file_is_refused_by_name(tmp_path, make):
    (folder := tmp_path / "trace").mkdir()
    trace = make(folder)
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert files
    for file in files:
        plain = file.rename(tmp_path / "plain")
        os.mkfifo(file)

        with pytest.raises(burstline.FormatError, match=r"plain file.*pipe") as refused:
            read_whole(trace)
        assert refused.value.path.resolve() == file.resolve()
        file.unlink()
        plain.rename(file)


@pytest.mark.usefixtures("seconds")
@pytest.mark.parametrize("make", FORMATS)
def test_links_to_plain_files_are_followed(tmp_path, make):
    (folder := tmp_path / "trace").mkdir()
    trace = make(folder)
    for number, file in enumerate([file for file in folder.rglob("*") if file.is_file()]):
        file.symlink_to(file.rename(tmp_path / f"plain{number}"))
    read_whole(trace)


@pytest.mark.usefixtures("seconds")
def test_a_pipe_or_a_device_as_input_is_exit_3(tmp_path):
    for name in ("run", "run.prv", "run.store", "run.otf2", "run.cubex", "run.parquet"):
        os.mkfifo(pipe := tmp_path / name)
        words = [("info", pipe), ("convert", pipe, tmp_path / "out.store")]
        for done in (command(*words) for words in words if name != "run.parquet"):
            assert done.returncode == 3
            assert f"{pipe}: expected a plain file, found 'a pipe'" in done.stderr
    assert command("learn", tmp_path / "run.parquet").returncode == 3
    assert "'a device'" in command("info", Path(os.devnull)).stderr
