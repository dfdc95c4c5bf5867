"""What one source tree prints and writes for every case, stored for comparison.

::

    python running.py --out FOLDER --root REPOSITORY      burstline comes from PYTHONPATH

The libraries are imported once; every command is a fork of this process, in a folder of its
own that holds nothing but the case's trace. A result names contents by their hash; contents
are in the folder ``blobs``, compressed, each once.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import fnmatch
import gc
import hashlib
import importlib
import json
import os
import pkgutil
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import cases
import tables
from chance import Noon, normal, shape, still

if TYPE_CHECKING:
    from collections.abc import Callable

LIMIT_S = 120
LIBRARIES = (
    "numpy",
    "pyarrow.compute",
    "pyarrow.csv",
    "pyarrow.dataset",
    "pyarrow.parquet",
    "polars",
    "rich.console",
    "rich.progress",
    "rich.table",
    "matplotlib.backends.backend_svg",
    "matplotlib.backends.backend_agg",
    "matplotlib.figure",
    "sklearn.ensemble",
    "sklearn.model_selection",
    "textual.app",
)
ENVIRONMENT = {
    "COLUMNS": "100",
    "TERM": "xterm-256color",
    "PYTHONHASHSEED": "0",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "FAKE_PAPI": "rules",  # of the PAPI that @papi builds
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}
RUNNING = {"monotonic_ns": time.monotonic_ns, "perf_counter_ns": time.perf_counter_ns}
"""The clocks that stand still but for commands that measure time."""
MEASURED = "of a run, which is never the same"
"""What is compared of a file that such a command wrote."""


class Blobs:
    """Contents by hash: those of `known` are not written again."""

    def __init__(self, folder: Path, known: Path | None) -> None:
        self.folder, self.known = folder, known

    def add(self, data: bytes) -> str:
        """Return the hash of `data`, which is kept."""
        name = hashlib.sha256(data).hexdigest()[:32]
        target = self.folder / name[:2] / name
        there = self.known is not None and (self.known / name[:2] / name).exists()
        if not there and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            part = target.with_name(f"{name}.{os.getpid()}")
            part.write_bytes(zlib.compress(data, 1))
            part.rename(target)
        return name


def files_in(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the files below a folder: inode and time of change by name."""
    seen = {}
    for path in folder.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                seen[f"{path.relative_to(folder)}/"] = (0, 0)
            continue
        status = path.lstat()
        seen[str(path.relative_to(folder))] = (status.st_ino, status.st_mtime_ns)
    return seen


def run_step(step: cases.Step, folder: Path, streams: Path) -> tuple[str, bytes, bytes]:
    """Return how a command ended, and what it wrote on stdout and stderr."""
    out, err = streams / "stdout", streams / "stderr"
    master, slave = os.openpty() if step.terminal else (-1, -1)
    child = os.fork()
    if child == 0:
        _be_command(step, folder, slave, out, err)
    if step.terminal:
        os.close(slave)
    text, ended = _wait(child, master)
    if step.terminal:
        os.close(master)
    return ended, text if step.terminal else out.read_bytes(), err.read_bytes()


def _wait(child: int, master: int) -> tuple[bytes, str]:
    """Return what a terminal got, and how its process ended."""
    text = b""
    process = os.pidfd_open(child)
    poll = select.poll()
    poll.register(process, select.POLLIN)
    if master >= 0:
        poll.register(master, select.POLLIN)
    limit = LIMIT_S * 1000
    ended = None
    while ended is None or master >= 0:
        ready = dict(poll.poll(limit))
        if not ready:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(process)
            return text, "time-out"
        if master in ready:
            try:
                text += os.read(master, 1 << 16)
                continue
            except OSError:  # how Linux says that nobody has the other end any more
                poll.unregister(master)
                master = -1
        if process in ready and ended is None:
            poll.unregister(process)
            ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(process)
    return text, str(ended)


def _be_command(step: cases.Step, folder: Path, slave: int, out: Path, err: Path) -> None:
    """Run the command in this process, and end it."""
    code, known = 70, set(sys.modules)
    try:
        os.setsid()
        os.chdir(folder)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(slave if slave >= 0 else os.open(out, flags), 1)
        os.dup2(os.open(err, flags), 2)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
        code = _call(step)
        sys.stdout.flush()
    except BaseException:  # noqa: BLE001 -- the process ends here, whatever it was
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        imported = [name for name in sys.modules if name not in known]
        err.with_name(f"modules-{os.getpid()}").write_text("\n".join(imported))
        os._exit(code)


def _call(step: cases.Step) -> int:
    if step.timed:
        for name, clock in RUNNING.items():
            setattr(time, name, clock)
    if step.words[0].startswith("@"):
        try:
            tables.ACTIONS[step.words[0]](*step.words[1:])
        except Exception as error:  # noqa: BLE001 -- an exception is an answer, too
            sys.stdout.write(f"{type(error).__name__}: {error}\n")
            return 1
        return 0
    sys.argv = ["burstline", *step.words]
    main: Callable[[list[str]], None] = importlib.import_module("burstline.cli").main
    try:
        main(list(step.words))
    except SystemExit as leaving:
        return int(leaving.code or 0)
    return 0


def run_case(case: cases.Case, work: Path, blobs: Blobs) -> list[dict[str, object]]:
    """Return the results of the commands of a case, one after the other in one folder."""
    home = Path(tempfile.mkdtemp(prefix="case-", dir=work))
    folder, streams = home / "in", home / "streams"
    streams.mkdir()
    if case.trace:
        shutil.copytree(
            work / "inputs" / case.trace, folder, copy_function=os.link, symlinks=True
        )
    else:
        folder.mkdir()
    steps, before = [], files_in(folder)
    for step in case.steps:
        ended, out, err = run_step(step, folder, streams)
        after = files_in(folder)
        changed = {name for name, mark in after.items() if before.get(name) != mark}
        written = {
            name: _content(folder / name, str(folder), blobs) if not step.timed else MEASURED
            for name in sorted(changed)
        }
        written |= dict.fromkeys(sorted(set(before) - set(after)), "gone")
        out, err = (
            normal(name, data, str(folder)) for name, data in (("stdout", out), ("stderr", err))
        )
        result = {
            "command": step.command,
            "exit": ended,
            "stdout": blobs.add(shape(out) if step.timed else out),
            "stderr": blobs.add(shape(err) if step.timed else err),
            "files": written,
        }
        steps.append(result)
        before = after
    for path in streams.glob("modules-*") if case.cold else ():
        path.rename(work / path.name)
    shutil.rmtree(home)
    return steps


def keep(
    out: Path, case: cases.Case, steps: list[dict[str, object]], seconds: float = 0.0
) -> None:
    """Store what the commands of a case did."""
    target = cases.stored(out, case.name, case.key)
    target.parent.mkdir(parents=True, exist_ok=True)
    about = {"case": case.name, "trace": case.trace, "seconds": seconds}
    part = target.with_suffix(".part")
    part.write_text(json.dumps({**about, "steps": steps}, indent=1))
    part.rename(target)


def keep_list(out: Path, wanted: list[cases.Case]) -> None:
    """Store which cases are compared."""
    listed = [[case.name, case.key] for case in wanted]
    (out / "cases.json").write_text(json.dumps(listed))


def _content(path: Path, folder: str, blobs: Blobs) -> str:
    if path.is_dir():
        return "empty folder"
    if path.is_symlink():
        return blobs.add(b"link to " + bytes(path.readlink()))
    return blobs.add(normal(str(path), path.read_bytes(), folder))


def run_all(wanted: list[cases.Case], options: argparse.Namespace, work: Path) -> None:
    """Run all cases: the cold ones find nothing of burstline imported, the others all of it."""
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    dt.datetime = Noon  # type: ignore[misc]
    for name in RUNNING:
        setattr(time, name, still)
    importlib.import_module("burstline.cli")
    cold = [case for case in wanted if case.cold]
    if len(cold) < options.jobs:  # the other CPUs would wait for them
        cold = []
    _run_some(cold, options, work)
    for path in sorted(work.glob("modules-*")):
        for name in path.read_text().split():
            with contextlib.suppress(Exception):
                importlib.import_module(name)
    _import_all("burstline")
    gc.collect()
    gc.freeze()  # memory that children share with this process stays shared
    _run_some([case for case in wanted if case not in cold], options, work)


def _import_all(package: str) -> None:
    """Import all modules of a package, so that no command has to."""
    path = importlib.import_module(package).__path__
    for module in pkgutil.walk_packages(path, f"{package}."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(Exception):
                importlib.import_module(module.name)


def _run_some(some: list[cases.Case], options: argparse.Namespace, work: Path) -> None:
    """Run cases, so many at a time, and store their results."""
    blobs = Blobs(options.out / "blobs", options.known)
    running: dict[int, cases.Case] = {}
    queue = list(reversed(some))
    total = len(queue)
    while queue or running:
        while queue and len(running) < options.jobs:
            case = queue.pop()
            child = os.fork()
            if child == 0:
                _be_case(case, work, blobs, options.out)
            running[child] = case
        child, status = os.wait()
        case = running.pop(child)
        if status:
            sys.stderr.write(f"{case.name}: could not be run\n")
        done = total - len(queue) - len(running)
        if done % 100 == 0:
            sys.stderr.write(f"  {done} of {total} cases\n")


def _be_case(case: cases.Case, work: Path, blobs: Blobs, out: Path) -> None:
    code = 1
    try:
        start = time.monotonic()
        steps = run_case(case, work, blobs)
        keep(out, case, steps, round(time.monotonic() - start, 2))
        code = 0
    except BaseException:  # noqa: BLE001 -- the process ends here, whatever it was
        traceback.print_exc()
    finally:
        os._exit(code)


def selected(every: list[cases.Case], only: str) -> list[cases.Case]:
    """Return the cases whose trace, command or both match one of the patterns."""
    patterns = only.split("|") if only else ["*"]
    return [
        case
        for case in every
        if any(
            fnmatch.fnmatchcase(text, pattern)
            for pattern in patterns
            for text in (case.name, case.trace or "no_trace", case.name.rpartition("/")[2])
        )
    ]


def main() -> None:
    """Run what is wanted and not stored yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--known", type=Path, help="blobs that need not be written again")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", action="store_true", help="keep results that are there")
    options = parser.parse_args()
    options.out = options.out.absolute()
    sys.path.append(str(options.root.absolute() / "tests"))  # screens
    os.environ.update(ENVIRONMENT)
    os.environ.pop("NO_COLOR", None)
    if sys.flags.hash_randomization:  # the order of sets is fixed before Python starts
        os.execv(sys.executable, [sys.executable, *sys.argv])  # noqa: S606
    work = Path(tempfile.mkdtemp(prefix="burstline-same-"))
    try:
        every = cases.plan(options.root.absolute(), work / "inputs")
        wanted = selected(every, options.only)
        if options.keep:
            out = options.out
            wanted = [
                case for case in wanted if not cases.stored(out, case.name, case.key).exists()
            ]
        if wanted:
            run_all(wanted, options, work)
        keep_list(options.out, selected(every, options.only))
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
