"""What is said where a folder has no anchor of an archive that can be taken, or several."""

from __future__ import annotations

import pytest

import burstline
from burstline import _core
from burstline.cli import main
from burstline.errors import FormatError, MemoryBudgetError
from burstline.formats.intake.budget import SMALLEST_MEMORY
from burstline.formats.otf2 import convert as convert_otf2
from burstline.formats.otf2.reading.archive import most_for, require_anchor
from burstline.formats.paraver.reading.trace import convert as convert_paraver
from burstline.formats.raw import convert as convert_raw
from burstline.progress import SILENCE
from otf2_archives import archive


@pytest.fixture
def place(tmp_path):
    folder = tmp_path / "run"
    with archive(folder) as made:
        made.thread(0).region("f", 0, 1)
    return folder


def refusal(path):
    with pytest.raises(FormatError) as caught:
        burstline.read(path)
    return str(caught.value)


def test_of_several_anchors_each_is_named_and_one_is_asked_for(place, tmp_path, capsys):
    (place / "b.otf2").write_bytes((place / "traces.otf2").read_bytes())
    words = refusal(place)
    assert "2 of them: b.otf2, traces.otf2" in words
    assert f"Give one, as {place / 'b.otf2'}" in words
    with pytest.raises(SystemExit):
        main(["convert", str(place), str(tmp_path / "run.store")])
    assert "b.otf2, traces.otf2" in capsys.readouterr().err

    for name in ("one", "two"):
        with archive(tmp_path / "both" / name) as made:
            made.thread(0).region("f", 0, 1)
    assert "one/traces.otf2, two/traces.otf2" in refusal(tmp_path / "both")


@pytest.mark.parametrize("kept", [0, 4])
def test_an_anchor_that_is_cut_is_told_as_one(place, kept):
    anchor = place / "traces.otf2"
    anchor.write_bytes(anchor.read_bytes()[:kept])
    words = refusal(place)

    assert "traces.otf2, which does not begin like one" in words
    assert "copy it again" in words


@pytest.mark.parametrize("named", ["traces", "traces/0.evt", "traces/0.def", "traces.def"])
def test_whoever_names_a_part_of_an_archive_is_told_its_anchor(place, named):
    assert f"Give the anchor: {(place / 'traces.otf2').resolve()}" in refusal(place / named)


def test_files_of_events_without_any_anchor_are_not_taken_for_a_store(place, tmp_path):
    assert require_anchor(place) == place / "traces.otf2"
    (tmp_path / "nothing").mkdir()
    assert "OTF2" not in refusal(tmp_path / "nothing")
    (place / "traces.otf2").unlink()
    assert "the anchor of an OTF2 archive" in refusal(place / "traces")


def test_a_store_is_a_store_whatever_else_lies_in_it(place, tmp_path):
    target = tmp_path / "run.store"
    convert_otf2(place, target, memory=1 << 30, threads=1, progress=SILENCE)
    (target / "b.otf2").write_bytes(b"")

    assert burstline.read(target).regions.num_rows == 1


def test_the_least_memory_that_a_refusal_names_is_enough(place, tmp_path, capsys):
    target = tmp_path / "run.store"
    with pytest.raises(SystemExit):
        main(["convert", str(place), str(target), "--memory", "256M"])
    words = capsys.readouterr().err
    named = words.partition("--memory ")[2].split()[0]

    main(["convert", str(place), str(target), "--memory", named])
    assert burstline.read(target).regions.num_rows == 1


@pytest.mark.parametrize("convert", [convert_raw, convert_paraver])
def test_every_conversion_names_the_least_memory_with_its_unit(convert, tmp_path):
    with pytest.raises(MemoryBudgetError, match=f"`memory={SMALLEST_MEMORY >> 20}Mi` or more"):
        convert(tmp_path, tmp_path / "o", raw=True, memory=1, threads=1, progress=SILENCE)


@pytest.mark.parametrize("name", ["otf2_definitions", "otf2_events"])
def test_the_library_may_go_round_in_a_small_archive_for_seconds_only(place, monkeypatch, name):
    true, asked = getattr(_core, name), []

    def spy(*arguments):
        asked.append(arguments[-2:])
        return true(*arguments)

    monkeypatch.setattr(_core, name, spy)
    burstline.read(place)

    seconds, memory = asked[0]
    assert 1 < seconds <= 5
    assert memory <= (1 << 30) + (1 << 20)


def test_what_definitions_may_take_grows_with_their_size():
    sizes = [0, 1 << 20, 1 << 26, 1 << 30, 1 << 34]
    seconds, memory = zip(*map(most_for, sizes), strict=True)

    assert seconds == tuple(2 + (size >> 20) for size in sizes)
    assert list(memory) == sorted(memory)
    assert memory[-1] == 16 << 30
