"""Sound inputs of each format that burstline reads, small, and the commands that read them."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import burstline as package
from burstline.clocks import EffortModel
from burstline.formats.raw.files.layout import HEADER_BYTES, RECORD, TAIL_SUFFIX, Kind
from burstline.signature import METHODS, Measurement, Stamps, events_of, signature_of, to_toml
from cube_files import Cube
from text_form import render

RECORDINGS: Final = Path(__file__).resolve().parents[1] / "recordings"
TRACES: Final = (
    "run.prv", "raw", "run.prv.gz", "run.store", "run.parquet", "run.csv", "run.otf2",
    "run.txt",
)  # fmt: skip
DOCUMENTS: Final = (
    "run.cubex", "app.sig", "measured.json", "model.toml", "sets.toml", "check.json",
)  # fmt: skip
FORMATS: Final = TRACES + DOCUMENTS
WITH_CHECKSUMS: Final = ("run.store", "run.prv.gz")
"""Random damage cannot go unseen in them."""
_PROGRAMS: Final = ("ring", "hybrid")
_OUTPUTS: Final = (
    "o.prv", "o.prv.gz", "o.store", "o.parquet", "o.csv", "o.otf2", "o.perfetto.json",
)  # fmt: skip
_AS_JSON: Final = ("--format", "json")
_HEAD: Final = Kind.THREAD.to_bytes(2, "little")
RESOURCES: Final = ("--threads", "1", "--quiet")


@dataclass(frozen=True)
class Sound:
    """A sound input, and what commands need beside it."""

    format: str
    home: Path
    trace: Path  # sound, of the same program
    totals: dict[str, object] | None = None  # of a trace

    @property
    def victims(self) -> list[Path]:
        """The files that may be damaged, of a document itself alone."""
        if self.format in DOCUMENTS:
            return [self.home / self.format]
        return sorted(path for path in self.home.rglob("*") if path.is_file())


def make(folder: Path, run: Callable[..., str]) -> list[Sound]:
    """One or two inputs of each format; `run` is a command that has to end well."""
    made = []
    for program in _PROGRAMS:
        recording = RECORDINGS / program
        trace = folder / f"{program}-run.prv" / "run.prv"
        for name in TRACES:
            home = folder / f"{program}-{name}"
            home.mkdir()
            if name == "raw":
                shutil.copytree(recording, home / name)
            elif name == "run.txt":
                (home / name).write_text(render(package.read(recording)))
            else:
                run("convert", recording, home / name)
            totals = totals_of(json.loads(run("info", home / name, "--format", "json")))
            made.append(Sound(name, home, trace, totals))
        for name in ("app.sig", "measured.json"):
            home = folder / f"{program}-{name}"
            home.mkdir()
            _write_signature(recording, home)
            made.append(Sound(name, home, trace))
    made.append(_killed(folder, run))
    first = folder / "ring-run.prv" / "run.prv"
    trace = folder / "counted.prv"  # a store takes twice as long to open
    run("convert", RECORDINGS / "counted", trace)
    for name, write in _WRITERS.items():
        home = folder / f"of-{name}"
        home.mkdir()
        write(home / name)
        made.append(Sound(name, home, first if name == "run.cubex" else trace))
    check = folder / "of-check.json"
    check.mkdir()
    said = run(
        "check-merge", first, folder / "ring-run.store" / "run.store", "--format", "json"
    )
    (check / "check.json").write_text(said)
    made.append(Sound("check.json", check, first))
    return made


def _killed(folder: Path, run: Callable[..., str]) -> Sound:
    """Threads in pieces of one file, the last one in the windows that a kill left open."""
    home, trace = folder / "pool-raw", folder / "pool.prv"
    shutil.copytree(RECORDINGS / "pool", home / "raw")
    path = min(home.rglob("*.raw"))
    content = path.read_bytes()
    borders = range(HEADER_BYTES, len(content), RECORD.itemsize)
    last = max(at for at in borders if content[at + 8 : at + 10] == _HEAD)
    path.write_bytes(content[:last])
    path.with_suffix(TAIL_SUFFIX).write_bytes(content[last:])
    run("convert", RECORDINGS / "pool", trace)
    return Sound(
        "raw", home, trace, totals_of(json.loads(run("info", home / "raw", *_AS_JSON)))
    )


def totals_of(said: dict[str, object]) -> dict[str, object]:
    """What ``info`` counts in a trace."""
    names = ("ranks", "locations", "calls", "messages", "collectives", "bursts", "regions")
    return {name: said[name] for name in names}


def _write_signature(recording: Path, home: Path) -> None:
    """The signature of a recording, and what a run of it would have measured."""
    trace = package.read(recording)
    signature, events = signature_of([trace]), events_of(trace)
    (home / "app.sig").write_text(to_toml(signature))
    stamps = [
        Stamps(each.rank, each.counts, events.boundaries(k)[each.counts], 0, None)
        for k, each in enumerate(signature.processes)
    ]
    measured = Measurement(tuple(stamps), 10**9, {}).as_dict()
    (home / "measured.json").write_text(json.dumps(measured, indent=1))


_WRITERS: Final[dict[str, Callable[[Path], object]]] = {
    "run.cubex": lambda path: Cube().write(path),
    "model.toml": lambda path: path.write_text(
        EffortModel.of({"IR_LD_INS": 0.3, "IR_TOT_INS": 0.1}, 850.0, "fitted").text()
    ),
    "sets.toml": lambda path: path.write_text(
        '[sets]\nset1 = ["PAPI_TOT_INS", "PAPI_TOT_CYC"]\nset2 = ["cpu"]\n'
    ),
}


def commands(draw: random.Random, sound: Sound, home: Path, out: Path) -> list[list[object]]:
    """Four commands that read an input, which stands in `home` now; outputs go to `out`."""
    if sound.format in TRACES:
        found = _of_trace(draw, home / sound.format, sound.trace, out)
    else:
        found = _of_document(sound, home, out)
    if sound.format in ("app.sig", "measured.json", "sets.toml"):
        return found
    allowed = "512M" if sound.format == "raw" else draw.choice(("512M", "64M"))
    memory = ["--memory", allowed]
    return [[*words, *(memory * ("--memory" not in words)), *RESOURCES] for words in found]


def _of_document(sound: Sound, home: Path, out: Path) -> list[list[object]]:
    """What reads a document, in four ways."""
    source = home / sound.format
    as_json = ["--format", "json"]
    if sound.format == "run.cubex":
        return [
            ["info", source, *as_json],
            ["info", source, "--memory", "64M"],
            ["compare", source, sound.trace, *as_json],
            ["compare", sound.trace, source, source],
        ]
    if sound.format in ("app.sig", "measured.json"):
        words = ["predict", home / "app.sig", home / "measured.json"]
        twice = [*words, home / "measured.json", *as_json]
        return [words, [*words, *as_json], [*words, "--estimator", "mean", *as_json], twice]
    if sound.format == "model.toml":
        clock = ["--clock", "lt_hwctr", "--effort-model", source]
        return [
            ["waits", sound.trace, *clock, *as_json],
            ["retime", sound.trace, *clock, "-o", out / "o.prv"],
            ["waits", sound.trace, *clock, "-o", out / "p.cubex"],
            ["retime", sound.trace, *clock, "-o", out / "o.store", *as_json],
        ]
    if sound.format == "sets.toml":
        words = ["record", "--counters-set", source, "-o", out / "o.prv"]
        program = ["--", "/nonexistent"]
        each = [*words, "--each-set"]
        return [[*words, *program], [*each, *program], [*words, *as_json, *program],
                [*each, *as_json, *program]]  # fmt: skip
    runs = ["learn", sound.trace, sound.trace, "--drop-unreliable", "--quality", source]
    return [runs, [*runs, *as_json], [*runs, "--target", "ipc"], [*runs, "--by", "code"]]


def _of_trace(draw: random.Random, source: Path, sound: Path, out: Path) -> list[list[object]]:
    """What is in it, its waits or its loops, a copy, and one command out of all others."""
    as_json = ["--format", "json"]
    copy = out / draw.choice(_OUTPUTS)
    again = draw.randrange(4) == 0 and not copy.name.endswith(".json")
    cut = ["cut", source, "-o", out / f"cut-{draw.choice(_OUTPUTS)}"]
    rest: list[list[object]] = [
        ["info", source, "--full"],
        ["compare", source, sound],
        ["structure", source, "--method", draw.choice(("auto", "exact", "seed"))],
        ["table", source, "-o", out / f"bursts.{draw.choice(('parquet', 'csv', 'arrow'))}"],
        [*cut, "--first", "1ms"],
        [*cut, "--ranks", "0"],
        [*cut, "--from", "1ms", "--to", "1s"],
        ["annotate", source, "-o", out / "marked.prv"],
        ["merge", source, sound, "--pairs", out / "pairs.csv"],
        ["check-merge", source, sound],
        ["phases", source, "--method", draw.choice(METHODS)],
        ["signature", "build", source, "-o", out / "app.sig"],
        ["retime", source, "--clock", "lt_1", "-o", out / "logical.prv"],
        ["waits", source, "--correct", "-o", out / "p.cubex"],
    ]
    return [
        ["info", source, *as_json],
        [draw.choice(("waits", "structure")), source, *as_json],
        ["convert", source, "-o", copy, *as_json],
        ["info", copy, *as_json] if again else draw.choice(rest),
    ]
