"""A file appears whole under its name, or not at all."""

from __future__ import annotations

import gzip
import os
from contextlib import nullcontext
from pathlib import Path

import pytest

from burstline.errors import ParameterError
from burstline.formats import atomic


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "a.prv"
    path.write_bytes(b"old")

    with atomic.output(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"

    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["a.prv"]


@pytest.mark.parametrize("disaster", [OSError, KeyboardInterrupt])
def test_a_disaster_leaves_the_old_file_or_folder_and_nothing_else(tmp_path, disaster):
    path, folder = tmp_path / "a.prv", tmp_path / "a.csv"
    path.write_bytes(b"old")
    folder.mkdir()
    (folder / "calls.csv").write_text("old")

    def write():
        with atomic.output(path) as file:
            file.write(b"ne")
            raise disaster

    def write_folder():
        with atomic.folder(folder) as part:
            (part / "calls.csv").write_text("ne")
            raise disaster

    for each in (write, write_folder):
        with pytest.raises(disaster):
            each()

    assert path.read_bytes() == b"old"
    assert (folder / "calls.csv").read_text() == "old"
    assert names(tmp_path) == ["a.csv", "a.prv"]


@pytest.mark.parametrize("fails", [False, True])
def test_a_folder_is_replaced_with_all_it_held_or_is_back(tmp_path, monkeypatch, fails):
    path = tmp_path / "a.csv"
    path.mkdir()
    (path / "stale.csv").write_text("stale")
    rename = Path.rename

    def refused(part, target):
        if fails and target == path and (part / "calls.csv").exists():
            raise OSError
        return rename(part, target)

    monkeypatch.setattr(Path, "rename", refused)

    def write():
        with atomic.folder(path) as part:
            (part / "calls.csv").write_text("new")
            assert names(path) == ["stale.csv"]

    with pytest.raises(OSError) if fails else nullcontext():  # noqa: PT011 -- any
        write()

    assert names(path) == ["stale.csv" if fails else "calls.csv"]
    assert names(tmp_path) == ["a.csv"]


def test_no_file_of_a_result_appears_before_all_are_written(tmp_path):
    paths = [tmp_path / "a.prv", tmp_path / "a.pcf"]

    with atomic.outputs(paths) as files:
        files[0].write(b"records")
        files[1].write(b"labels")
        assert not any(path.exists() for path in paths)

    assert [path.read_bytes() for path in paths] == [b"records", b"labels"]


def test_a_file_that_ends_in_gz_is_packed_and_its_bytes_depend_on_its_content_alone(tmp_path):
    for name in ("a.prv.gz", "b.prv.gz"):
        with atomic.output(tmp_path / name) as file:
            file.write(b"records")

    assert gzip.decompress((tmp_path / "a.prv.gz").read_bytes()) == b"records"
    assert (tmp_path / "a.prv.gz").read_bytes() == (tmp_path / "b.prv.gz").read_bytes()


def test_what_stands_in_the_way_is_named(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")

    with pytest.raises(ParameterError, match="no folder"), atomic.output(tmp_path / "x" / "a"):
        pass
    with pytest.raises(ParameterError, match="is a folder"), atomic.output(tmp_path / "folder"):
        pass
    with pytest.raises(ParameterError, match="is a file"), atomic.folder(tmp_path / "file"):
        pass


def test_a_file_is_on_the_disk_before_it_takes_its_place(tmp_path, monkeypatch):
    path = tmp_path / "a.prv"
    synced = []
    monkeypatch.setattr(
        os, "fsync", lambda number: synced.append((os.fstat(number).st_size, path.exists()))
    )

    with atomic.output(path) as file:
        file.write(b"records")

    assert synced == [(len(b"records"), False)]


@pytest.mark.parametrize("before", [{}, {"a.prv": "old", "a.pcf": "old"}])
def test_no_file_gets_its_name_where_one_of_them_cannot(tmp_path, monkeypatch, before):
    for name, text in before.items():
        (tmp_path / name).write_text(text)
    replace = Path.replace

    def refused(part, target):
        if target.name == "a.prv" and part.read_text() == "new":
            raise OSError
        return replace(part, target)

    monkeypatch.setattr(Path, "replace", refused)

    def write():
        with atomic.outputs([tmp_path / "a.prv", tmp_path / "a.pcf"]) as files:
            for file in files:
                file.write(b"new")

    with pytest.raises(OSError):  # noqa: PT011 -- any
        write()

    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == before
