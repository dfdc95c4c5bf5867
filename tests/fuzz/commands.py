"""Whatever is wrong in a file, a command answers truly, or refuses by its contract.

    python tests/fuzz/commands.py SECONDS [--files N] [--format F] [--seed N] [--case N]
                                          [--workers N] [--keep DIR]

Each case is one integer: it chooses a format, damage to a small sound input of it (at random,
or a lie that keeps to the rules of the format) and four commands. A command fails the run with

- a traceback, or what it calls its own bug; a signal; no end within a minute;
- an exit code that is neither an answer nor about the input;
- random damage without the name of a damaged file, or a file that is half written;
- more memory than it was told to use, and what is promised on top;
- an answer that cannot be: totals that differ from those of the sound file where a checksum
  tells, counts and times below 0, shares above 1, a copy that holds something else.

``--files`` counts those of each format. SECURITY.md has the figures of a long run.
"""

from __future__ import annotations

import argparse
import collections
import gc
import importlib
import json
import math
import multiprocessing
import os
import pkgutil
import random
import resource
import shutil
import signal
import struct
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

import burstline as package
from burstline.cli import main as burstline

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import damage

import inputs
from inputs import FORMATS, WITH_CHECKSUMS, Sound

ALLOWED: Final = 512 << 20
PROMISED: Final = ALLOWED + (160 << 20)
"""Of a command under ``--memory 512M``; Python and its libraries are not counted there."""
LONGEST_S: Final = 60
FINE, FAILED, WRONG_ARGUMENTS, DAMAGED, CONTRADICTION, NO_ANSWER = 0, 70, 2, 3, 4, 5
CONTRACT: Final = {FINE, DAMAGED, CONTRADICTION, NO_ANSWER}
_TOLERANCE: Final = 1e-9


@dataclass(frozen=True)
class Ending:
    """How a command ended."""

    words: list[object]
    code: int  # below 0: of the signal that killed it
    peak: int  # bytes, without those of this process
    stdout: Path
    stderr: Path

    @cached_property
    def said(self) -> str:
        """All that it wrote."""
        both = (path.read_text(errors="replace") for path in (self.stderr, self.stdout))
        return "".join(both)

    def document(self) -> dict[str, Any] | None:
        """The document that was printed, if the command ended well and printed one."""
        if self.code != FINE or "json" not in self.words:
            return None
        found = json.loads(self.stdout.read_text())
        return found if isinstance(found, dict) else None


def load_all() -> None:
    """Import what commands import late, so that no child has to."""
    for module in pkgutil.walk_packages(package.__path__, "burstline."):
        if not module.name.endswith("__main__"):
            with suppress(ImportError):  # of an extra
                importlib.import_module(module.name)
    for name in ("pyarrow.csv", "pyarrow.parquet", "pyarrow.compute", "polars"):
        importlib.import_module(name)


def run(commands: Sequence[list[object]], folder: Path) -> list[Ending]:
    """Run commands one after the other in one process: how each ended, until one was killed."""
    before = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    told, tells = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for number, words in enumerate(commands):
            for stream, name in ((1, "said"), (2, "errors")):
                into = os.open(
                    folder / f"{name}{number}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC
                )
                os.dup2(into, stream)
                os.close(into)
            code = code_of(words)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
            os.write(tells, struct.pack("<2q", code, peak))
        os._exit(0)
    os.close(tells)
    with os.fdopen(told, "rb") as pipe:
        ends = [*struct.iter_unpack("<2q", pipe.read())]
    _, status, used = os.wait4(child, 0)
    if len(ends) < len(commands):
        ends.append((os.waitstatus_to_exitcode(status), used.ru_maxrss << 10))
    return [
        Ending(
            list(words),
            code,
            peak - before,
            folder / f"said{number}",
            folder / f"errors{number}",
        )
        for number, (words, (code, peak)) in enumerate(zip(commands, ends, strict=False))
    ]


def code_of(words: Sequence[object]) -> int:
    """The exit code of a command that runs in this process."""
    code = 0
    signal.alarm(LONGEST_S)
    try:
        burstline([str(word) for word in words])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    except BaseException:  # noqa: BLE001 -- nothing else may come out of a command
        sys.excepthook(*sys.exc_info())
        code = FAILED
    signal.alarm(0)
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def how_it_ended(end: Ending) -> str:
    """What about the end of a command breaks the contract; empty if nothing does."""
    if end.code < 0:
        by_alarm = end.code == -signal.SIGALRM
        return f"took over {LONGEST_S} s" if by_alarm else f"signal {-end.code}"
    if "Traceback (most recent" in end.said or "bug of burstline" in end.said:
        return "called its own bug"
    may_be_wrong = "--ranks" in end.words or end.words[0] == "record"
    if end.code not in CONTRACT | ({WRONG_ARGUMENTS} if may_be_wrong else set()):
        return f"exit code {end.code}"
    return f"took {end.peak / 1e6:.0f} MB of memory" if end.peak > PROMISED else ""


def impossible(said: object, place: str = "") -> Iterator[str]:
    """What no trace can be, in a document that a command printed."""
    if isinstance(said, dict):
        for key, value in said.items():
            yield from impossible(value, f"{place}.{key}")
    elif isinstance(said, list):
        for value in said:
            yield from impossible(value, place)
    elif isinstance(said, (int, float)) and not isinstance(said, bool):
        name = place.rpartition(".")[2]
        if (
            not math.isfinite(said)
            or (name in ("count", "time_ns", "duration_ns", "matched", "total") and said < 0)
            or (name.endswith("share") and not -_TOLERANCE <= said <= 1 + _TOLERANCE)
        ):
            yield f"{place} is {said}"


def untrue(sound: Sound, ends: list[Ending], *, must_tell: bool) -> str:
    """What cannot be in the answers of commands; empty if nothing."""
    info, _, copy, _ = documents = [end.document() for end in ends]
    for said in documents:
        if said and (found := next(impossible(said), "")):
            return f"an answer that cannot be: {found}"
    if sound.totals is None or info is None:
        return ""
    if must_tell and inputs.totals_of(info) != sound.totals and not info["defects"]:
        return "another answer than of the sound file"
    calls = sum(each["count"] for each in info["calls"].values())
    if copy and copy["kept"]["calls"] + copy["lost"].get("calls", 0) != calls:
        return f"a copy with {copy['kept']['calls']} of {calls} calls"
    return ""


def spoil(draw: random.Random, sound: Sound, home: Path) -> tuple[list[Path], bool]:
    """Damage one file or two; which, and whether it was at random."""
    files = [home / path.relative_to(sound.home) for path in sound.victims]
    victims = draw.sample(files, min(len(files), draw.choice((1, 1, 1, 2))))
    by_lies = bool(draw.randrange(2)) and all(damage.lie(draw, path) for path in victims)
    if not by_lies:
        other = draw.choice(files).read_bytes()
        for path in victims:
            content = bytearray(path.read_bytes())
            damage.at_random(draw, content, other)
            path.write_bytes(content)
    return victims, not by_lies


def run_case(seed: int, case: int, sound: Sound, folder: Path) -> str:
    """What is wrong with what commands say of a damaged input; empty if nothing."""
    draw = random.Random(f"{seed} {case}")  # noqa: S311 -- the same each time, on purpose
    home, out = folder / "in", folder / "out"
    shutil.copytree(sound.home, home)
    out.mkdir()
    victims, at_random = spoil(draw, sound, home)
    ends = run(inputs.commands(draw, sound, home, out), folder)
    for end in ends:
        found = how_it_ended(end)
        if not found and at_random and end.code == DAMAGED:
            is_named = any(path.name.partition(".")[0] in end.said for path in victims)
            found = "" if is_named else "named no damaged file"
        if not found and any(folder.rglob("*.part")):
            found = "left a file half written"
        if found:
            return _told(case, sound, found, end)
    must_tell = at_random and sound.format in WITH_CHECKSUMS
    found = untrue(sound, ends, must_tell=must_tell)
    return _told(case, sound, found, ends[0]) if found else ""


def _told(case: int, sound: Sound, found: str, end: Ending) -> str:
    shown = " ".join(map(str, end.words))
    return f"case {case}, {sound.format}: {found}: burstline {shown}\n{end.said[-1500:]}"


class Campaign:
    """The cases of one worker, one after the other."""

    def __init__(self, wanted: argparse.Namespace, folder: Path) -> None:
        self._wanted, self._folder = wanted, folder
        made = inputs.make(folder, self._sound_command)
        self._inputs = {
            name: [each for each in made if each.format == name] for name in wanted.formats
        }

    def _sound_command(self, *words: object) -> str:
        [end] = run([list(words)], self._folder)
        if end.code != FINE:
            raise SystemExit(end.said)
        return end.stdout.read_text()

    def run(self, first: int, step: int, last: int, until: float) -> tuple[dict[str, int], int]:
        """How many files of each format were tried, and how many failed."""
        files: collections.Counter[str] = collections.Counter()
        failures = 0
        for case in range(first, last, step):
            if time.monotonic() > until:
                break
            name = self._wanted.formats[case % len(self._wanted.formats)]
            among = self._inputs[name]
            sound = among[case // len(self._wanted.formats) % len(among)]
            folder = self._folder / f"case{case}"
            folder.mkdir()
            if failed := run_case(self._wanted.seed, case, sound, folder):
                failures += 1
                print(failed, flush=True)
                if self._wanted.keep:
                    shutil.copytree(folder, self._wanted.keep / folder.name, dirs_exist_ok=True)
            shutil.rmtree(folder)
            files[name] += 1
        return files, failures


def work(wanted: argparse.Namespace, number: int, until: float) -> tuple[dict[str, int], int]:
    """The cases of one of several workers."""
    # Outputs are flushed to their disk: in memory that costs nothing.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108
    with tempfile.TemporaryDirectory(prefix="burstline-fuzz-", dir=memory) as name:
        campaign = Campaign(wanted, Path(name))
        if wanted.case is not None:
            return campaign.run(wanted.case, 1, wanted.case + 1, until)
        last = min(wanted.files * len(wanted.formats), sys.maxsize)
        return campaign.run(number, wanted.workers, last, until)


def main() -> None:
    """Run cases for a while, or one of them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("seconds", type=float)
    parser.add_argument("--files", type=int, default=sys.maxsize, help="of a format, at most")
    parser.add_argument("--format", dest="formats", action="append", choices=FORMATS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="only this one, of the same formats")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where inputs that fail stay")
    wanted = parser.parse_args()
    wanted.formats = wanted.formats or list(FORMATS)
    load_all()
    gc.freeze()  # what is never looked at again is never copied by a child
    until = time.monotonic() + wanted.seconds
    if wanted.workers == 1:
        results = [work(wanted, 0, until)]
    else:
        with multiprocessing.get_context("fork").Pool(wanted.workers) as pool:
            numbers = range(wanted.workers)
            results = pool.starmap(work, [(wanted, number, until) for number in numbers])
    files = sum((collections.Counter(counts) for counts, _ in results), collections.Counter())
    failures = sum(failed for _, failed in results)
    for name in wanted.formats:
        print(f"{files[name]:8,} files of {name}")
    print(f"{files.total():,} damaged files, four commands each; {failures} failed")
    raise SystemExit(failures > 0)


if __name__ == "__main__":
    main()
