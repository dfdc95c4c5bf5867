"""Whatever ends a command that replaces a folder, at whichever step: one output is whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from itertools import count

import pytest

import replacing
from burstline.formats import atomic, require_free
from replacing import OUTPUTS, at_step, texts, write

ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(autouse=True)
def _without_a_library(monkeypatch):
    replacing.without_a_library(monkeypatch.setattr)


class Ended(BaseException):
    """What a signal that ends a command raises."""


def end(*_):
    raise Ended


def written(place, output, text):
    place.mkdir()
    write(place / output, text)
    return names(place), texts(place / output)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("output", OUTPUTS)
def test_a_signal_at_any_step_leaves_the_old_or_the_new_output_and_nothing_hidden(
    tmp_path, output, ending
):
    wholes = [written(tmp_path / text, output, text) for text in ("old", "new")]
    before, found = signal.signal(ending, end), []
    handlers = [signal.getsignal(number) for number in ENDINGS]
    try:
        for number in count():
            place = tmp_path / str(number)
            written(place, output, "old")
            try:
                with at_step(number, lambda: signal.raise_signal(ending)) as reached:
                    write(place / output, "new")
                assert not reached
                break
            except Ended:
                found.append((names(place), texts(place / output)))
                assert found[-1] in wholes, number
            assert [signal.getsignal(number) for number in ENDINGS] == handlers
    finally:
        signal.signal(ending, before)

    assert [whole for whole in wholes if whole in found] == wholes


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_replacement_that_was_killed_at_any_step_is_finished_by_the_next_writer(
    tmp_path, output
):
    wholes = [written(tmp_path / text, output, text) for text in ("old", "new")]
    (places := tmp_path / "places").mkdir()
    subprocess.run([sys.executable, replacing.__file__, places, output], check=True)

    finished = 0
    for place in sorted(places.iterdir(), key=lambda place: int(place.name)):
        left = names(place)
        require_free(place / output, force=True)
        # What was not whole yet stays, and is named by the next command.
        kept = [name for name in names(place) if not name.endswith(".part")]
        assert (kept, texts(place / output)) in wholes, left
        if names(place) != left:
            finished += 1
            assert texts(place / output) == wholes[1][1]

    assert finished > 5


def test_what_is_being_finished_by_another_writer_is_left_to_it(tmp_path):
    (ready := tmp_path / ".x.csv.01234567.ready").mkdir()
    (tmp_path / ".x.csv.01234567.replaced").mkdir()
    before = names(tmp_path)

    descriptor = atomic.lock(ready)
    require_free(tmp_path / "x.csv", force=False)
    assert names(tmp_path) == before
    with pytest.raises(Exception, match="being written by another process"):
        write(tmp_path / "x.csv", "new")

    os.close(descriptor)
    with pytest.raises(Exception, match=r"x\.csv exists"):
        require_free(tmp_path / "x.csv", force=False)
    assert names(tmp_path) == ["x.csv"]


@pytest.mark.parametrize(
    "name",
    [
        ".x.csv.replaced",
        ".x.csv.0123456.ready",
        ".y.csv.01234567.ready",
        "x.csv.01234567.ready",
    ],
)
def test_what_has_another_name_is_not_touched(tmp_path, name):
    write(tmp_path / "x.csv", "old")
    (tmp_path / name).mkdir()

    require_free(tmp_path / "x.csv", force=True)

    assert names(tmp_path) == sorted(["x.csv", name])
    assert set(texts(tmp_path / "x.csv")) == {"old"}


def test_a_link_to_a_folder_is_replaced_and_what_it_leads_to_stays(tmp_path):
    write(tmp_path / "kept.csv", "old")
    (tmp_path / "x.csv").symlink_to("kept.csv")

    write(tmp_path / "x.csv", "new")

    assert names(tmp_path) == ["kept.csv", "x.csv"]
    assert set(texts(tmp_path / "kept.csv")) == {"old"}
    assert set(texts(tmp_path / "x.csv")) == {"new"}
