"""A file with a few damaged bytes, in any format, to any command: told as what it is."""

from __future__ import annotations

import os
import random
import shutil

import pytest

import burstline
from burstline.formats.text import render
from command import burstline as run
from cube_files import Cube
from raw_files import run_of
from two_runs import INS, L1, Run, value

COMMANDS = (
    ("info", "--format", "json"),
    ("structure", "--method", "exact"),
    ("structure", "--method", "seed"),
    ("table", "--format", "csv"),
    *(("convert", "-o", f"out.{ending}") for ending in ("store", "prv", "otf2", "csv")),
    ("convert", "-o", "out.perfetto.json", "--no-raw"),
    ("cut", "-o", "out.parquet", "--first", "300ns"),
    ("annotate", "-o", "out.prv"),
    ("merge", "sound.prv", "--pairs", "out.csv"),
    ("check-merge", "sound.prv"),
    ("learn", "sound.prv", "--target", "duration"),
)
FORMATS = ("prv", "prv.gz", "store", "parquet", "csv", "otf2", "raw", "txt", "cubex")
TRIES = int(os.environ.get("BURSTLINE_DAMAGES", "40"))
FINE = {0, 3, 4, 5}


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """Give a folder with one small program in every format."""
    folder = tmp_path_factory.mktemp("sound")
    again = [(3, 31), *[(2, 8), (1, 1), (1, 6), (2, 10)] * 6, (3, 32)]
    Run({INS: value(3), L1: value(2)}, operations=again).write(folder / "sound.prv")
    trace = burstline.read(folder / "sound.prv")
    for ending in ("prv", "prv.gz", "store", "parquet", "csv", "otf2"):
        burstline.write(trace, folder / f"in.{ending}", overwrite=True)
    (folder / "in.txt").write_text(render(trace))
    (folder / "in.raw").mkdir()
    run_of(trace).write(folder / "in.raw")
    Cube().write(folder / "in.cubex")
    return folder


def damaged(sound, place, ending, chance):
    """Damage one file of a copy of an input, and name the input and the file."""
    source = place / f"in.{ending}"
    companions = {"prv": ("pcf", "row"), "prv.gz": ("pcf", "row"), "otf2": ("def",)}
    shutil.copy(sound / "sound.prv", place)
    for name in (ending, *companions.get(ending, ())):
        original = sound / f"in.{name}"
        copy = shutil.copytree if original.is_dir() else shutil.copy
        copy(original, place / original.name)
    if ending == "otf2":
        shutil.copytree(sound / "in", place / "in")
    files = sorted(
        path
        for path in place.rglob("*")
        if path.is_file() and path.name != "sound.prv" and path.stat().st_size
    )
    victim = chance.choice(files)
    content = bytearray(victim.read_bytes())
    for _ in range(chance.choice((1, 1, 1, 4, 20))):
        where = chance.randrange(len(content))
        content[where] = chance.choice((chance.randrange(256), content[where] ^ 1, 0, 255))
    if not chance.randrange(8):
        del content[chance.randrange(len(content)) :]
    victim.write_bytes(content)
    return source, victim


@pytest.mark.parametrize("ending", FORMATS)
def test_damage_is_told_and_never_called_a_bug(sound, tmp_path, monkeypatch, ending):
    wrong = []
    for seed in range(TRIES):
        chance = random.Random(f"{ending} {seed}")  # noqa: S311 -- what is damaged is no secret
        place = tmp_path / str(seed)
        place.mkdir()
        monkeypatch.chdir(place)
        source, victim = damaged(sound, place, ending, chance)
        command, *words = chance.choice(COMMANDS)
        done = run(command, source, *words)
        if (
            done.returncode not in FINE
            or (done.returncode == 3 and victim.stem not in done.stderr + source.stem)
            or any(path.suffix == ".part" for path in place.iterdir())
        ):
            wrong.append((seed, command, *words, victim.name, done.returncode, done.stderr))
        shutil.rmtree(place)
    assert not wrong, "\n".join(map(str, wrong))
