"""No output of any command is, lies in, or holds anything that the command reads."""

from __future__ import annotations

import os

import pytest

from burstline.cli import usage
from burstline.cli.parser import command_parsers
from command import burstline
from stories import FORMATS, STORIES

# How each command is told its input I and its output O, and the endings of the output.
TRACES = (".prv", ".prv.gz", ".store", ".csv", ".parquet", ".otf2", ".perfetto.json")
TABLES = (".parquet", ".csv", ".arrow")
PICTURES = (".svg", ".png")
WRITES = {
    ("convert", "place"): ("convert I O", TRACES),
    ("convert", "output"): ("convert I -o O", TRACES),
    ("cut", "place"): ("cut I O --from 1ns", TRACES),
    ("cut", "output"): ("cut I -o O --from 1ns", TRACES),
    ("annotate", "place"): ("annotate I O", TRACES),
    ("annotate", "output"): ("annotate I -o O", TRACES),
    ("annotate", "cfg_dir"): ("annotate I -o new.prv --cfg-dir O", ("",)),
    ("retime", "place"): ("retime I O", TRACES),
    ("retime", "output"): ("retime I -o O", TRACES),
    ("merge", "output"): ("merge other.prv I -o O", (".prv", ".prv.gz")),
    ("merge", "dataset"): ("merge other.prv I -o new.prv --dataset O", TABLES),
    ("merge", "pairs"): ("merge I other.prv --pairs O", TABLES),
    ("merge", "plot"): ("merge I other.prv --plot O", PICTURES),
    ("check-merge", "plot"): ("check-merge other.prv I --plot O", PICTURES),
    ("compare", "plot"): ("compare other.prv --with other.prv I --plot O", PICTURES),
    ("learn", "plot"): ("learn I other.prv --plot O", PICTURES),
    ("table", "output"): ("table I -o O", TABLES),
    ("report", "output"): ("report I -o O", (".html", "")),
    ("report", "pictures"): ("report I --pictures O", ("",)),
    ("structure", "output"): ("structure I -o O", (".parquet", ".csv")),
    ("structure", "factor_map"): ("structure I --factor-map O", PICTURES),
    ("plot", "output"): ("plot I -o O", PICTURES),
    ("flame", "output"): ("flame I -o O", (".svg", ".json")),
    ("waits", "output"): ("waits I -o O", (".cubex",)),
    ("clocks", "output"): ("clocks fit other.prv I -o O", (".toml",)),
    ("signature", "output"): ("signature build I -o O", (".sig", "")),
    ("signature", "phase_table"): (
        "signature build I -o new.sig --phase-table O",
        (".txt", ""),
    ),
    ("counters", "output"): ("counters plan A -o O --papi I", (".toml",)),
    ("record", "output"): ("record --functions I -o O -- mpirun -n 1 true", TRACES),
    ("record", "keep_raw"): ("record --functions I --keep-raw O -- mpirun -n 1 true", ("",)),
}
READS = {
    ("record", "counters_set"): "record -o O --counters-set I -- mpirun -n 1 true",
    ("record", "functions"): "record -o O --functions I -- mpirun -n 1 true",
    ("record", "words"): "record -o O -- mpirun -n 1 cat I",
    ("counters", "papi"): "counters plan A --papi I -o O",
    ("waits", "trace"): "waits I -o O",
    ("waits", "effort_model"): "waits other.prv --clock lt_hwctr --effort-model I -o O",
    ("clocks", "inputs"): "clocks fit I -o O",
    ("clocks", "calls"): "clocks fit other.prv --calls I -o O",
    ("compare", "inputs"): "compare I other.prv --plot O",
    ("compare", "others"): "compare other.prv --with other.prv --with I --plot O",
    ("compare", "effort_model"): "compare other.prv --effort-model I --plot O",
    ("report", "traces"): "report I -o O",
    ("report", "signature"): "report other.prv --signature I other.prv -o O",
    ("report", "functions"): "report -o O --functions I -- mpirun -n 1 true",
    ("report", "program"): "report -o O -- mpirun -n 1 cat I",
    ("structure", "trace"): "structure I -o O",
    ("convert", "scheduler"): "convert other.prv --scheduler I -o O",
    ("structure", "scheduler"): "structure other.prv --scheduler I -o O",
    ("report", "scheduler"): "report other.prv --scheduler I -o O",
    ("waits", "scheduler"): "waits other.prv --scheduler I -o O",
    ("table", "trace"): "table I -o O",
    ("table", "scheduler"): "table other.prv --scheduler I -o O",
    ("plot", "trace"): "plot I -o O",
    ("flame", "trace"): "flame I -o O",
    ("cut", "trace"): "cut I -o O --first 1ns",
    ("annotate", "trace"): "annotate I -o O",
    ("retime", "trace"): "retime I -o O",
    ("retime", "effort_model"): "retime other.prv --effort-model I -o O",
    ("convert", "trace"): "convert I -o O",
    ("merge", "traces"): "merge other.prv I -o O",
    ("check-merge", "traces"): "check-merge other.prv I --plot O",
    ("learn", "inputs"): "learn other.prv I --plot O",
    ("learn", "quality"): "learn other.prv --quality I --plot O",
    ("signature", "inputs"): "signature run I -o O -- mpirun -n 1 true",
    ("signature", "program"): "signature run other.prv -o O -- mpirun -n 1 cat I",
}
NO_OUTPUT = {
    *("info", "matrix", "histogram", "browse", "phases", "predict"),
    *("demo", "completion", "cc", "c++"),
}
"""demo runs record; cc and c++ run a compiler, whose files are its own."""
NO_PATHS = (
    *("A:B", "COMMAND", "COMPILER", "EVENT", "ID", "KINDS", "LIST", "N", "NAME", "PART", "R"),
    *("S", "SIZE", "T", "TIME", "W", "X"),
)
KINDS = (*FORMATS, "folder of otf2", "toml")
FILES = ("txt", "toml")
"""What record and counters read are files, not traces."""


def options():
    """Command, name and metavar of everything that a command takes a value for."""
    for command, parser in command_parsers().items():
        for action in parser._actions:
            if action.metavar is not None:
                yield command, action.dest, action.metavar


def content(place):
    """All files and folders in a place."""
    return {path: path.is_file() and path.read_bytes() for path in place.rglob("*")}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """An input of each kind, in a folder of its own."""
    places = {}
    for kind in KINDS:
        place = tmp_path_factory.mktemp("kind")
        form = "otf2" if kind == "folder of otf2" else kind
        if kind == "toml":
            path = place / "model.toml"
            path.write_text("version = 1\n")
        else:
            path = STORIES[0].write(place, form)
        places[kind] = place, path.parent if kind == "folder of otf2" else path
    return places


def ways(place, source, ending, *, links):
    """Names inside and outside of an input that lead to what is read."""
    elsewhere = place.with_name(f"{place.name}-elsewhere")
    elsewhere.mkdir(exist_ok=True)
    if links:
        has_companions = source.suffix in {".prv", ".gz", ".otf2"}
        parts = (place if has_companions else source).rglob("*")
        files = sorted(path for path in [source, *parts] if path.is_file())
        for number, part in enumerate({*files[:3], *files[-2:]}):
            for kind, link in (("hard", os.link), ("soft", os.symlink)):
                name = elsewhere / f"{kind}{number}{ending}"
                name.unlink(missing_ok=True)
                link(part, name)
                yield name
    if source.is_dir():
        yield source / f"new{ending}"
        alias = elsewhere / "alias"
        alias.unlink(missing_ok=True)
        alias.symlink_to(source)
        yield alias / f"new{ending}"
    if source.name.endswith(ending or "/"):
        yield source
    if ending in {".store", ".csv", ".parquet"} and source.parent == place:
        around = place.with_name(f"{place.name}{ending}")
        around.unlink(missing_ok=True)
        around.symlink_to(place)
        yield around


def refused(words, source, output):
    """Run a command, which is to refuse an output and name both paths and the way out."""
    filled = [str({"I": source, "O": output}.get(word, word)) for word in words.split()]
    dashes = filled.index("--") if "--" in filled else len(filled)
    done = burstline(*filled[:dashes], "--force", *filled[dashes:])
    said = done.stderr
    assert done.returncode == 2, (filled, done)
    assert "the input" in said, (filled, said)
    assert str(source) in said, (filled, said)
    assert output.name in said, (filled, said)
    assert "Choose another output" in said, (filled, said)


def test_every_path_that_a_command_takes_is_read_or_written_in_this_file():
    paths = {(command, name) for command, name, shown in options() if shown not in NO_PATHS}
    # Their words may be files.
    programs = {("record", "words"), ("report", "program"), ("signature", "program")}
    written = {pair for pair in paths if pair[1] in usage.WRITTEN}
    commands = {command for command, _ in written}

    assert written == set(WRITES)
    read = {pair for pair in paths - written if pair[0] in commands}
    assert read | programs == set(READS)
    assert commands | NO_OUTPUT == set(command_parsers())
    assert not commands & NO_OUTPUT


@pytest.mark.parametrize("case", WRITES, ids=" ".join)
def test_no_output_is_or_lies_in_an_input_of_any_kind(monkeypatch, made, case):
    words, endings = WRITES[case]
    for kind in FILES if case[0] in {"record", "counters"} else KINDS:
        place, source = made[kind]
        monkeypatch.chdir(place.parent)
        before = content(place)

        for ending in endings:
            # One function looks for links, whatever command asks it.
            links = case[0] == "convert" and ending == endings[0]
            for output in ways(place, source, ending, links=links):
                refused(words, source, output)

        assert content(place) == before


@pytest.mark.parametrize("case", READS, ids=" ".join)
def test_nothing_that_a_command_reads_is_written_onto(monkeypatch, tmp_path, case):
    (tmp_path / "other.prv").write_text("")
    source = tmp_path / "read.me"
    source.write_text("as it was")
    monkeypatch.chdir(tmp_path)
    ending = next(
        endings[0] for (command, _), (_, endings) in WRITES.items() if command == case[0]
    )
    output = tmp_path / f"out{ending}"
    output.hardlink_to(source)

    refused(READS[case], source, output)

    assert source.read_text() == "as it was"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["other.prv", "read.me", output.name]
    )
