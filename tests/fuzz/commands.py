"""Whatever is wrong in a file, a command answers truly, or refuses by its contract.

    python tests/fuzz/commands.py SECONDS [--files N] [--first N] [--format F] [--seed N]
                                          [--case N] [--workers N] [--keep DIR]

Each case is one integer: it chooses a format, damage to a small sound input of it (at random,
or a lie that keeps to the rules of the format) and four commands. A command fails the run with

- a traceback, or what it calls its own bug; a signal; no end within a minute;
- an exit code that is neither an answer nor about the input;
- random damage without the name of a damaged file, or a file that is half written;
- more memory than it was told to use, and what is promised on top;
- an answer that cannot be: totals that differ from those of the sound file where a checksum
  tells, counts and times below 0, shares above 1, a copy that holds something else.

``--files`` is where to end, in files of each format. A run says with what ``--first`` another
run of the same seed goes on, so that the counts of both add up. SECURITY.md has the figures of
a long run.
"""

from __future__ import annotations

import argparse
import collections
import gc
import gettext
import hashlib
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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

import burstline as package
from burstline import cli
from burstline.cli import main as burstline
from burstline.cli.parser import build_parser
from burstline.formats.paraver.writing import prologue
from burstline.formats.raw.events.calls import operation_numbers
from burstline.record.symbols import resolution

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import damage

import inputs
from inputs import FORMATS, WITH_CHECKSUMS, Sound

PROMISED: Final = 160 << 20
"""Beside what ``--memory`` allows; Python and its libraries are not counted there."""
LONGEST_S: Final = 60
FINE, FAILED, WRONG_ARGUMENTS, DAMAGED, CONTRADICTION, NO_ANSWER = 0, 70, 2, 3, 4, 5
CONTRACT: Final = {FINE, DAMAGED, CONTRADICTION, NO_ANSWER}
_TELLS_EACH_S: Final = 60
_TOLERANCE: Final = 1e-9
_NEXT: Final = multiprocessing.get_context("fork").Value("q", 0)
"""The next file of each format, for all workers together."""
_LATE: Final = (
    "dateutil.relativedelta", "encodings.ascii", "multiprocessing.pool", "narwhals",
    "numpy.random", "numpy.testing", "polars", "pyarrow.acero", "pyarrow.compute",
    "pyarrow.csv", "pyarrow.dataset", "pyarrow.parquet", "pyarrow.substrait", "pycubexr",
    "scipy.optimize", "sklearn.ensemble", "sklearn.inspection", "threadpoolctl", "unittest",
    "xml.etree.ElementTree",
)  # fmt: skip
"""What functions import, or its parts on first use."""
TABLES: Final = (".store", ".parquet", ".csv")
_PARTS: Final = {
    "waitstates_direct_vs_indirect": ("mpi_wait_direct", "mpi_wait_indirect"),
    "waitstates_propagating_vs_terminal": ("mpi_wait_propagating", "mpi_wait_terminal"),
    "mpi_wait_direct": ("mpi_wait_direct_latesender", "mpi_wait_direct_latereceiver"),
    "mpi_wait_terminal": ("mpi_wait_terminal_ls", "mpi_wait_terminal_lr"),
    "imbalance": ("imbalance_above", "imbalance_below"),
    "bytes_p2p": ("bytes_sent", "bytes_rcvd"),
}
"""Metrics that are the sum of others."""


@dataclass(frozen=True)
class Ending:
    """How a command ended."""

    words: list[object]
    code: int  # below 0: of the signal that killed it
    peak: int  # bytes, without those of Python and its libraries
    stdout: Path
    stderr: Path

    @cached_property
    def said(self) -> str:
        """All that it wrote."""
        both = (path.read_text(errors="replace") for path in (self.stdout, self.stderr))
        return "".join(both)

    @property
    def promised(self) -> int:
        """How many bytes it may take."""
        words = list(map(str, self.words))
        given = words[words.index("--memory") + 1] if "--memory" in words else "512M"
        return (int(given.removesuffix("M")) << 20) + PROMISED

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
    for name in _LATE:
        with suppress(ImportError):  # of an extra
            importlib.import_module(name)
    # The bytes of what is compressed are the same each time, and so is damage to them.
    prologue.now = lambda: datetime(2026, 1, 1, tzinfo=UTC)  # type: ignore[attr-defined]
    # Each text of each option is looked up in files of translations, which nobody has.
    gettext.find = lambda *_, **__: None  # type: ignore[assignment]
    # No power fails here, and disks are slow.
    os.fsync = os.fstat  # type: ignore[assignment]
    operation_numbers()


def parse_with_one_parser() -> None:
    """Make the parser of the command line once, with the options of all commands."""
    parser = build_parser()
    [commands] = (each for each in parser._actions if each.dest == "command")
    for each in commands.choices.values():  # type: ignore[union-attr]
        each.load()
    cli.build_parser = lambda: parser  # type: ignore[attr-defined]


class Remembering(resolution.Child):
    """One process that all commands ask for symbols; what it said once stands in a folder.

    A new one in each command takes half a second.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        folder.mkdir()

    def ask(self, **request: object) -> dict[str, Any] | None:
        """The answer to a request; None is not kept, since another time may do better."""
        key = hashlib.sha256(json.dumps(request).encode()).hexdigest()
        with suppress(OSError, ValueError):  # the first time, or half written
            return json.loads((self._folder / key).read_bytes())  # type: ignore[no-any-return]
        answer = super().ask(**request)
        if answer is not None:
            (self._folder / key).write_text(json.dumps(answer))
        return answer


@contextmanager
def one_for_symbols(folder: Path) -> Iterator[None]:
    """A block in which all commands ask one process for symbols."""
    usual, child = resolution.Child, Remembering(folder / "symbols")
    resolution.Child = lambda: child  # type: ignore[assignment, misc]
    child.ask(name="_Z4mainv")  # before there are children: they share the process
    yield
    resolution.Child = usual  # type: ignore[misc]


class Job(NamedTuple):
    """Commands to run one after the other, and the folder for what they print."""

    commands: Sequence[list[object]]
    folder: Path


def run(jobs: Sequence[Job]) -> list[list[Ending]]:
    """Run all jobs, how each command ended: in one process, until one is killed.

    A process for each would cost a third of the time. The commands of a job that follow one
    that was killed are left out, and other jobs begin in a new process.
    """
    ended: list[list[Ending]] = []
    while len(ended) < len(jobs):
        ended += _run_until_killed(jobs[len(ended) :])
    return ended


def _run_until_killed(jobs: Sequence[Job]) -> Iterator[list[Ending]]:
    told, tells = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for commands, folder in jobs:
            _run_here(commands, folder, tells)
        os._exit(0)
    os.close(tells)
    with os.fdopen(told, "rb") as pipe:
        left = [*struct.iter_unpack("<2q", pipe.read())]
    _, status, used = os.wait4(child, 0)
    if code := os.waitstatus_to_exitcode(status):
        left.append((code, used.ru_maxrss << 10))
    for commands, folder in jobs:
        if not left:
            return
        ends, left = left[: len(commands)], left[len(commands) :]
        yield [
            Ending(
                list(words), code, peak, folder / f"said{number}", folder / f"errors{number}"
            )
            for number, (words, (code, peak)) in enumerate(zip(commands, ends, strict=False))
        ]


def _run_here(commands: Sequence[list[object]], folder: Path, tells: int) -> None:
    before = peak_from_now_on()
    for number, words in enumerate(commands):
        for stream, name in ((1, "said"), (2, "errors")):
            into = os.open(folder / f"{name}{number}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(into, stream)
            os.close(into)
        code = code_of(words)
        os.write(tells, struct.pack("<2q", code, peak() - before))
        peak_from_now_on()


def peak_from_now_on() -> int:
    """What this process takes now, in bytes; `peak` is of what follows, where Linux lets it."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def peak() -> int:
    """The most that this process took, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    [line] = [line for line in lines if line.startswith("VmHWM:")]
    return int(line.split()[1]) << 10


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
    of_a_copy = isinstance(end.words[1], Path) and not end.words[1].exists()
    of_a_copy |= "Paraver knows no time before 0" in end.said
    of_several = "applications call MPI: choose one" in end.said
    of_a_call = "--ranks" in end.words or end.words[0] == "record"
    may_be_wrong = of_a_call or of_a_copy or of_several
    if end.code not in CONTRACT | ({WRONG_ARGUMENTS} if may_be_wrong else set()):
        return f"exit code {end.code}"
    return f"took {end.peak / 1e6:.0f} MB of memory" if end.peak > end.promised else ""


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
            or (name.endswith("share") and said < -_TOLERANCE)
            # A critical path is longer than the run where stamps contradict causes.
            or (
                name.endswith("share")
                and name != "critical_path_share"
                and said > 1 + _TOLERANCE
            )
        ):
            yield f"{place} is {said}"


def untrue(sound: Sound, ends: list[Ending], *, must_tell: bool) -> str:
    """What cannot be in the answers of commands; empty if nothing."""
    info, other, copy, again = documents = [end.document() for end in ends]
    for said in documents:
        if said and (found := next(impossible(said), "")):
            return f"an answer that cannot be: {found}"
    if sound.totals is None or info is None:
        return ""
    if must_tell and not info["defects"]:
        if inputs.totals_of(info) != sound.totals:
            return "another answer than of the sound file"
        if copy and not copy["defects"] and sound.format not in WITH_CHECKSUMS:
            return "a copy of what no reader may believe"
    # Other formats have no place for them: readers make them anew.
    keeps = str(ends[-1].words[1]).endswith(TABLES)
    rebuilt = set() if keeps else {"bursts"}
    if not keeps and sound.format.endswith(TABLES):
        # What a table says of the bytes of a call, and what others say of its messages, differ.
        rebuilt |= {"bytes_sent", "bytes_received"}
    unlike_again = _unlike_again(info, copy, again, rebuilt)
    kept = _unlike(info, copy), unlike_again, _unkept(info, other, Path(str(ends[0].words[1])))
    return next(filter(None, kept), "")


def _unlike(info: dict[str, Any], copy: dict[str, Any] | None) -> str:
    """What a copy holds more or less of than what it is of, and did not say."""
    if copy is None:
        return ""
    lost = copy["lost"]
    wanted = {
        "calls": sum(each["count"] for each in info["calls"].values()) - lost.get("calls", 0),
        "bursts": info["bursts"],
        "messages": info["messages"]["total"] - lost["messages"],
    }
    return "" if copy["kept"] == wanted else f"a copy with {copy['kept']}, not {wanted}"


def _unlike_again(
    info: dict[str, Any],
    copy: dict[str, Any] | None,
    again: dict[str, Any] | None,
    rebuilt: AbstractSet[str],
) -> str:
    """In what the summary of a copy differs from that of what it is of."""
    if copy is None or again is None or "ranks" not in again:
        return ""
    left_out = any(copy["lost"].values()) or "collectives" in copy["left_out"]
    if info["defects"] or left_out:
        return ""
    none = collections.Counter[str]()
    first, second = (
        # Paraver has one number for two ways to begin, so names are not compared.
        inputs.totals_of(said)
        | {"calls": sum((_without(rebuilt, each) for each in said["calls"].values()), none)}
        for said in (info, again)
    )
    unlike = [name for name in first if first[name] != second[name] and name not in rebuilt]
    told = [f"{name}: {first[name]} and {second[name]}" for name in unlike]
    return f"a copy with other {'; '.join(told)}" if told else ""


def _without(names: AbstractSet[str], counts: Mapping[str, int]) -> collections.Counter[str]:
    """Counts of a call but for some."""
    kept = {name: count for name, count in counts.items() if name not in names}
    return collections.Counter(kept)


def _unkept(info: dict[str, Any], waits: dict[str, Any] | None, path: Path) -> str:
    """What is told of a whole and not of its parts, or of two commands differently."""
    if info["messages"]["matched"] > info["messages"]["total"]:
        return "more messages matched than there are"
    if waits is None or "metrics" not in waits:
        return ""
    metrics = collections.Counter(waits["metrics"])
    in_calls = sum(each["time_ns"] for each in info["calls"].values())
    for one, parts in _PARTS.items():
        if metrics[one] != sum(metrics[part] for part in parts):
            return f"{one} is {metrics[one]}, and its parts are another sum"
    is_kept = math.isclose(metrics["mpi"], in_calls, rel_tol=1e-14)  # 1 ns in 3 years
    is_kept |= bool(waits["coverage"]["clipped_intervals"])
    # What a call that nobody left holds until the end is not all its own.
    never_left = any(each["kind"] == "call_never_left" for each in info["defects"])
    is_kept |= never_left and metrics["mpi"] < in_calls
    # What a region within a call takes is the region's own, as of a reduction by the program.
    is_kept = is_kept or metrics["mpi"] == in_calls - _in_regions_of_calls(path)
    return "" if is_kept else f"{metrics['mpi']} ns in MPI, of {in_calls} in calls"


def _in_regions_of_calls(path: Path) -> int:
    """How long regions within calls take, ns; one within another is a part of it."""
    trace, taken = package.read(path), 0
    calls = trace.calls.select(["location", "enter_ns", "leave_ns"]).to_pylist()
    regions = trace.regions.select(["location", "enter_ns", "leave_ns"]).to_pylist()
    for call in calls:
        until = call["enter_ns"]
        within = (
            (region["enter_ns"], region["leave_ns"])
            for region in regions
            if region["location"] == call["location"]
            and call["enter_ns"] <= region["enter_ns"]
            and region["leave_ns"] <= call["leave_ns"]
        )
        for enter_ns, leave_ns in sorted(within):
            taken += max(leave_ns - max(enter_ns, until), 0)
            until = max(until, leave_ns)
    return taken


class Spoilt(NamedTuple):
    """What was done to an input."""

    victims: list[Path]
    at_random: bool
    must_tell: bool  # nobody may take it for the sound one


def spoil(draw: random.Random, sound: Sound, home: Path) -> Spoilt:
    """Damage one file or two, by lies or at random."""
    files = [home / path.relative_to(sound.home) for path in sound.victims]
    victims = draw.sample(files, min(len(files), draw.choice((1, 1, 1, 2))))
    lies = [damage.lie(draw, path) for path in victims] if draw.randrange(2) else []
    if lies and all(lies):
        must_tell = damage.vouch(draw, home / sound.format)
        return Spoilt(
            victims,
            at_random=False,
            must_tell=must_tell or damage.Lie.UNBELIEVABLE in lies,
        )
    other = draw.choice(files).read_bytes()
    for path in victims:
        content = bytearray(path.read_bytes())
        damage.at_random(draw, content, other)
        path.write_bytes(content)
    return Spoilt(victims, at_random=True, must_tell=sound.format in WITH_CHECKSUMS)


class Case(NamedTuple):
    """A damaged input, and what is asked of it."""

    number: int
    sound: Sound
    spoilt: Spoilt
    job: Job

    @property
    def folder(self) -> Path:
        """Where its input, its outputs and what is printed are."""
        return self.job.folder


def prepare(seed: int, number: int, sound: Sound, folder: Path) -> Case:
    """A case with its damaged input, in a new folder."""
    draw = random.Random(f"{seed} {number}")  # noqa: S311 -- the same each time, on purpose
    home, out = folder / "in", folder / "out"
    folder.mkdir()
    shutil.copytree(sound.home, home)
    out.mkdir()
    spoilt = spoil(draw, sound, home)
    return Case(number, sound, spoilt, Job(inputs.commands(draw, sound, home, out), folder))


def wrong_with(case: Case, ends: list[Ending]) -> str:
    """What is wrong with what commands say of a damaged input; empty if nothing."""
    number, sound, spoilt, _ = case
    for end in ends:
        found = how_it_ended(end)
        if not found and spoilt.at_random and end.code == DAMAGED:
            is_named = any(path.name.partition(".")[0] in end.said for path in spoilt.victims)
            found = "" if is_named else "named no damaged file"
        if not found and any(case.folder.rglob("*.part")):
            found = "left a file half written"
        if found:
            return _told(number, sound, found, end)
    found = untrue(sound, ends, must_tell=spoilt.must_tell)
    return _told(number, sound, found, ends[0]) if found else ""


def _told(case: int, sound: Sound, found: str, end: Ending) -> str:
    shown = " ".join(map(str, end.words))
    return f"case {case}, {sound.format}: {found}: burstline {shown}\n{end.said[-1500:]}"


class Tried(NamedTuple):
    """What one worker did."""

    files: collections.Counter[str]  # of each format
    failures: int


class Campaign:
    """The cases of one worker, one after the other."""

    def __init__(self, wanted: argparse.Namespace, made: list[Sound], folder: Path) -> None:
        self._wanted, self._folder = wanted, folder
        self._files: collections.Counter[str] = collections.Counter()
        self._failures = 0
        self._inputs = {
            name: [each for each in made if each.format == name] for name in wanted.formats
        }

    def run(self, rounds: Iterable[Iterable[int]], until: float) -> Tried:
        """Try rounds of cases, one of each format, as long as there is time."""
        tells = time.monotonic() + _TELLS_EACH_S
        for number, cases in enumerate(rounds, 1):
            self._try(cases)
            if time.monotonic() > until:
                break
            if time.monotonic() > tells:
                tells += _TELLS_EACH_S
                done = f"{number:,} of each here, {self._failures} failed"
                print(done, file=sys.stderr, flush=True)
        return Tried(self._files, self._failures)

    def _try(self, numbers: Iterable[int]) -> None:
        cases = [self._prepared(number) for number in numbers]
        for case, ends in zip(cases, run([case.job for case in cases]), strict=True):
            failed = wrong_with(case, ends)
            if "of memory" in failed:  # what commands before it left there counts, too
                alone = self._prepared(case.number)
                failed = wrong_with(alone, *run([alone.job]))
            if failed:
                self._failures += 1
                print(failed, flush=True)
                if self._wanted.keep:
                    kept = self._wanted.keep / case.folder.name
                    shutil.copytree(case.folder, kept, dirs_exist_ok=True)
            shutil.rmtree(case.folder)
            self._files[case.sound.format] += 1

    def _prepared(self, number: int) -> Case:
        folder = self._folder / f"case{number}"
        shutil.rmtree(folder, ignore_errors=True)  # tried once
        many = len(self._wanted.formats)
        among = self._inputs[self._wanted.formats[number % many]]
        sound = among[number // many % len(among)]
        return prepare(self._wanted.seed, number, sound, folder)


def sound_inputs(folder: Path) -> list[Sound]:
    """Inputs of all formats, which commands have to read without a complaint."""

    def run_well(*words: object) -> str:
        [[end]] = run([Job([list(words)], folder)])
        if end.code != FINE:
            raise SystemExit(end.said)
        return end.stdout.read_text()

    return inputs.make(folder, run_well)


def work(wanted: argparse.Namespace, made: list[Sound], folder: Path, number: int) -> Tried:
    """The cases of one of several workers."""
    until = time.monotonic() + wanted.seconds
    own = folder / f"worker{number}"
    own.mkdir()
    campaign = Campaign(wanted, made, own)
    many = len(wanted.formats)
    rounds = (range(each * many, (each + 1) * many) for each in numbers_to(wanted.files))
    with one_for_symbols(own):
        return campaign.run(rounds if wanted.case is None else [[wanted.case]], until)


def numbers_to(many: int) -> Iterator[int]:
    """The numbers of rounds, each to one of the workers: none is left out before the last."""
    while True:
        with _NEXT.get_lock():
            number = _NEXT.value
            if number >= many:
                return
            _NEXT.value += 1
        yield number


def main() -> None:
    """Run cases for a while, or one of them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("seconds", type=float)
    parser.add_argument("--files", type=int, default=sys.maxsize, help="of a format to end at")
    parser.add_argument("--first", type=int, default=0, help="of a format to begin with")
    parser.add_argument("--format", dest="formats", action="append", choices=FORMATS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="only this one, of the same formats")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where inputs that fail stay")
    wanted = parser.parse_args()
    wanted.formats = wanted.formats or list(FORMATS)
    _NEXT.value = wanted.first
    load_all()
    parse_with_one_parser()
    # Outputs are flushed to their disk: in memory that costs nothing.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108
    with tempfile.TemporaryDirectory(prefix="burstline-fuzz-", dir=memory) as name:
        folder = Path(name)
        gc.freeze()  # what is never looked at again is never copied by a child
        with one_for_symbols(folder):
            made = sound_inputs(folder)
        gc.freeze()
        numbers = range(wanted.workers)
        if wanted.workers == 1:
            results = [work(wanted, made, folder, 0)]
        else:
            with multiprocessing.get_context("fork").Pool(wanted.workers) as pool:
                jobs = [(wanted, made, folder, number) for number in numbers]
                results = pool.starmap(work, jobs, chunksize=1)
    files = sum((each.files for each in results), collections.Counter())
    failures = sum(each.failures for each in results)
    for name in wanted.formats:
        print(f"{files[name]:8,} files of {name}")
    print(f"{files.total():,} damaged files, four commands each; {failures} failed")
    if wanted.case is None:
        print(f"--seed {wanted.seed} --first {_NEXT.value} goes on", file=sys.stderr)
    raise SystemExit(failures > 0)


if __name__ == "__main__":
    main()
