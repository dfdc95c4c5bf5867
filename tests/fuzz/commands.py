"""Whatever happens to the bytes of an input, a command answers, or refuses by its contract.

    python tests/fuzz/commands.py SECONDS [--most N] [--seed N] [--case N] [--keep DIR]

Each case is one integer: it chooses a format, a command and the damage to a small sound input
(bytes flipped, cut, or spliced from elsewhere; another number in rows of a sound table). A
command fails the run with a traceback or what it calls its own bug, a signal, an exit code that
is neither an answer nor about the input, damage without the name of a damaged file, a file that
is half written, more than 2 GB of memory, or no end within a minute.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pkgutil
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq

import burstline as package
from burstline.cli import main as burstline
from burstline.formats.text import render
from burstline.signature import METHODS, Measurement, Stamps, events_of, signature_of, to_toml

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from cube_files import Cube

ROOT: Final = Path(__file__).resolve().parents[2]
RECORDINGS: Final = [ROOT / "tests" / "recordings" / name for name in ("ring", "hybrid")]
FORMATS: Final = (
    "raw",
    "run.prv",
    "run.prv.gz",
    "run.store",
    "run.parquet",
    "run.csv",
    "run.otf2",
    "run.txt",
)
OUTPUTS: Final = ("o.prv", "o.store", "o.parquet", "o.csv", "o.otf2", "o.perfetto.json")
CONTRACT: Final = {0, 3, 4, 5}
DAMAGED: Final = 3
WRONG_ARGUMENTS: Final = 2
OF_RANK_0: Final = ("--ranks", "0")  # a wrong argument where damage took that rank
MOST_BYTES: Final = 2 << 30
LONGEST_S: Final = 60
FAILED: Final = 70  # of a child that raised what no command should


def load_all() -> None:
    """Import what commands import late, so that no child has to."""
    for module in pkgutil.walk_packages(package.__path__, "burstline."):
        if not module.name.endswith("__main__"):
            with suppress(ImportError):  # of an extra
                importlib.import_module(module.name)
    for name in ("pyarrow.csv", "pyarrow.parquet", "pyarrow.compute"):
        importlib.import_module(name)


def ended(words: Sequence[object], said: Path) -> tuple[int, int]:
    """Wait status of a command in a process of its own, and its peak memory in bytes."""
    child = os.fork()
    if child == 0:
        into = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(into, stream)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.alarm(LONGEST_S)
        code = 0
        try:
            burstline([str(word) for word in words])
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0
        except BaseException:  # noqa: BLE001 -- nothing else may come out of a command
            sys.excepthook(*sys.exc_info())
            code = FAILED
        sys.stdout.flush()
        os._exit(code)
    _, status, used = os.wait4(child, 0)
    return status, used.ru_maxrss << 10


def wrong(status: int, peak: int, said: str, allowed: set[int]) -> str:
    """What about the end of a command breaks the contract; empty if nothing does."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return f"took over {LONGEST_S} s" if number == signal.SIGALRM else f"signal {number}"
    if "Traceback (most recent" in said or "bug of burstline" in said:
        return "called its own bug"
    if os.WEXITSTATUS(status) not in allowed:
        return f"exit code {os.WEXITSTATUS(status)}"
    return f"took {peak / 1e9:.1f} GB of memory" if peak > MOST_BYTES else ""


def make_inputs(folder: Path) -> list[tuple[str, Path]]:
    """The folder of each sound input, and the name of the input in it."""
    made = []
    for recording in RECORDINGS:
        for name in FORMATS:
            home = folder / f"{recording.name}-{name}"
            home.mkdir()
            if name == "raw":
                shutil.copytree(recording, home / name)
            elif name == "run.txt":
                (home / name).write_text(render(package.read(recording)))
            else:
                status, _ = ended(("convert", recording, home / name), folder / "said")
                if status:
                    raise SystemExit(folder.joinpath("said").read_text())
            made.append((name, home))
    for number in range(2):  # as often as another format
        home = folder / f"cube-{number}"
        home.mkdir()
        Cube().write(home / "run.cubex")
        made.append(("run.cubex", home))
    for recording in RECORDINGS:
        home = folder / f"{recording.name}-signature"
        home.mkdir()
        write_signature(recording, home)
        made.append(("app.sig", home))
    return made


def write_signature(recording: Path, home: Path) -> None:
    """The signature of a recording, and what a run of it would have measured."""
    trace = package.read(recording)
    signature, events = signature_of([trace]), events_of(trace)
    (home / "app.sig").write_text(to_toml(signature))
    stamps = [
        Stamps(each.rank, each.counts, events.boundaries(k)[each.counts], 0, None)
        for k, each in enumerate(signature.processes)
    ]
    measured = Measurement(tuple(stamps), 1, {}).as_dict()
    (home / "measured.json").write_text(json.dumps(measured))


def damage(draw: random.Random, content: bytearray, other: bytes) -> None:
    """Flip, cut or splice bytes of a file; most often the text or the header at its ends."""
    for _ in range(draw.choice((1, 1, 1, 2, 4, 16))):
        if not content:
            return
        first = draw.randrange(draw.choice((len(content), min(len(content), 256))))
        length = draw.choice((1, 2, 4, 8, 64, len(content)))
        kind = draw.randrange(6)
        if kind == 0:
            content[first] ^= 1 << draw.randrange(8)
        elif kind == 1:
            content[first] = draw.choice(b"\x00\xff\x7f\x80 \n:;,-0919")
        elif kind == 2:  # cut short
            del content[-1 - first :]
        elif kind == 3:  # a piece lost
            del content[first : first + length]
        elif kind == 4 and other:  # a piece of another file, or of this one
            start = draw.randrange(len(other))
            content[first:first] = other[start : start + length]
        else:
            content[-1 - first] = draw.randrange(256)


def point_elsewhere(draw: random.Random, path: Path) -> None:
    """Write one number into rows of a column of a table of Parquet, which stays sound."""
    table = pq.read_table(path)
    columns = [k for k, kind in enumerate(table.schema.types) if pa.types.is_integer(kind)]
    if not columns or not table.num_rows:
        return
    place = draw.choice(columns)
    field = table.schema.field(place)
    values = table.column(place).to_pylist()
    most = (1 << field.type.bit_width - 1) - 1
    number = min(draw.choice((-(1 << 7), -7, -1, 0, 1, 7, 120, 10**6, most)), most)
    first = draw.randrange(len(values))
    last = draw.choice((first + 1, len(values)))
    values[first:last] = [number] * (last - first)
    pq.write_table(table.set_column(place, field, pa.array(values, field.type)), path)


def words_of(draw: random.Random, source: Path, sound: Path, folder: Path) -> list[object]:
    """A command about an input, whose output is to go into a folder."""
    if source.suffix == ".sig":
        return ["predict", source, source.parent / "measured.json"]
    output = folder / draw.choice(OUTPUTS)
    commands: list[list[object]] = [
        ["info", source],
        ["compare", source, sound],
        ["structure", source, "--method", draw.choice(("auto", "exact", "seed"))],
        ["table", source, "-o", folder / "bursts.parquet"],
        ["convert", source, output],
        ["cut", source, output, "--first", "1ms"],
        ["cut", source, output, *OF_RANK_0],
        ["annotate", source, "-o", folder / "o.prv"],
        ["merge", source, sound, "--pairs", folder / "pairs.csv"],
        ["check-merge", source, sound],
        ["learn", source, sound, "--target", "duration"],
        ["phases", source, "--method", draw.choice(METHODS)],
        ["signature", "build", source, "-o", folder / "app.sig"],
    ]
    if source.suffix == ".cubex" and draw.randrange(4):  # they alone read profiles
        del commands[2:]
    chosen = draw.choice(commands)
    if draw.randrange(4) == 0:
        chosen += ["--memory", "1G"]
    return [*chosen, "--threads", "1", "--quiet"]


def run_case(seed: int, case: int, inputs: list[tuple[str, Path]], folder: Path) -> str:
    """What is wrong with how the command of a case ends; empty if nothing."""
    draw = random.Random(f"{seed} {case}")  # noqa: S311 -- the same each time, on purpose
    name, home = draw.choice(inputs)
    sound = next(place / kind for kind, place in inputs if kind == "run.prv")
    shutil.copytree(home, folder / "in")
    files = sorted(path for path in (folder / "in").rglob("*") if path.is_file())
    other = draw.choice(files).read_bytes()
    victims = draw.sample(files, min(len(files), draw.choice((1, 1, 1, 2))))
    for path in victims:
        if path.suffix == ".parquet" and draw.randrange(2):
            point_elsewhere(draw, path)
            continue
        content = bytearray(path.read_bytes())
        damage(draw, content, other)
        path.write_bytes(content)
    (folder / "out").mkdir()
    words = words_of(draw, folder / "in" / name, sound, folder / "out")
    status, peak = ended(words, folder / "said")
    said = (folder / "said").read_text(errors="replace")
    allowed = CONTRACT | ({WRONG_ARGUMENTS} if OF_RANK_0[0] in words else set())
    found = wrong(status, peak, said, allowed)
    if not found and os.WEXITSTATUS(status) == DAMAGED:
        is_named = any(path.name.partition(".")[0] in said for path in victims)
        found = "" if is_named else "named no damaged file"
    if not found and any(folder.rglob("*.part")):
        found = "left a file half written"
    shown = " ".join(map(str, words))
    return f"case {case}: {found}: burstline {shown}\n{said[-1500:]}" if found else ""


def main() -> None:
    """Run cases for a while, or one of them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("seconds", type=float)
    parser.add_argument("--most", type=int, default=sys.maxsize, help="cases, at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="only this one")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where inputs that fail stay")
    wanted = parser.parse_args()
    failures, case = 0, wanted.case or 0
    last = case + (1 if wanted.case is not None else wanted.most)
    load_all()
    # Outputs are flushed to their disk: in memory that costs nothing.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108
    with tempfile.TemporaryDirectory(prefix="burstline-fuzz-", dir=memory) as name:
        inputs = make_inputs(Path(name))
        until = time.monotonic() + wanted.seconds
        while case < last and time.monotonic() < until:
            folder = Path(name) / f"case{case}"
            folder.mkdir()
            if failed := run_case(wanted.seed, case, inputs, folder):
                failures += 1
                print(failed, flush=True)
                if wanted.keep:
                    shutil.copytree(folder, wanted.keep / folder.name, dirs_exist_ok=True)
            shutil.rmtree(folder)
            case += 1
    print(f"{case - (wanted.case or 0)} commands on damaged inputs, {failures} failed")
    raise SystemExit(failures > 0)


if __name__ == "__main__":
    main()
