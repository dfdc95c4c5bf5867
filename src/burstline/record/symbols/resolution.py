"""From addresses in programs to places in the source, with the functions inlined there.

::

    module, offsets ─► Resolver ─► Child, of limited time and memory ─► Place, Place, …
    __solver_MOD_sweep, _ZN6Domain8CommSendEi ─► solver::sweep, Domain::CommSend

Places are those that the Paraver reader makes: functions without arguments, files without
folders, so that a recorded trace and one of Extrae's have the same call paths.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import weakref
from collections.abc import Iterable
from pathlib import Path
from stat import S_ISREG
from threading import Lock, Timer
from typing import Any, Final, NamedTuple

from burstline.errors import printable
from burstline.extrae import UNRESOLVED, read_signature
from burstline.formats import raw

Frame = tuple[str | None, str | None, int | None]
"""Function, as the linker names it, file and line."""

EXECUTED: Final = 1 << 47
"""In an offset: it is of what was executed, and no return address. As in raw.h."""

DEBUG_FOLDERS: Final = (Path("/usr/lib/debug"),)
C_LIBRARY: Final = re.compile(
    r"(?:libc|libpthread|linux-vdso|ld-linux[\w-]*|ld-musl[\w-]*)[-.]"
)
_LONGEST_FILE, _LONGEST_NAME = 255, 1 << 14
_MOST_FAILURES = 4
_MODULE = re.compile(r"__(\w+?)_MOD_(\w+)")
_SECONDS, _BYTES = 20, 1 << 30
_PATIENCE_S: Final = 600
"""Seconds on the clock, for files on disks that do not answer."""
_SHOWN: Final = 3
_INSTALLED: Final = re.compile(
    r"^(?:/usr)?/(?:lib\w*|s?bin|libexec)/|/(?:site|dist)-packages/|/lib-dynload/"
    r"|/(?:lib)?python[\d.]*(?:\.so[\d.]*)?$"
)
_ENVIRONMENTS: Final = ("pyvenv.cfg", "conda-meta")


def is_executed(offset: int) -> bool:
    """Whether an offset is of what was executed; those below 0 are of damaged files."""
    return offset >= 0 and offset & EXECUTED != 0


class CallerPlace(NamedTuple):
    """A place in the source from where a function was called.

    A function without a name is ``module+0x…``; one of the C library is ``??``.
    """

    function: str
    file: str | None  # without its folder
    line: int | None


class Problem(NamedTuple):
    """Why places of a module are not known, or not as well as they could be."""

    module: str
    reason: str


class Resolver:
    """Names the places that return addresses lie in, or says in `problems` why it cannot."""

    def __init__(self, debug_folders: Iterable[Path] = DEBUG_FOLDERS) -> None:
        self._folders = [str(folder) for folder in debug_folders]
        self._child = Child()
        self._reasons: dict[str, dict[str, None]] = {}
        self._with_lines: dict[str, bool] = {}
        self._places: dict[tuple[str, int], tuple[CallerPlace, ...]] = {}
        self._functions: dict[tuple[str, int], CallerPlace] = {}
        self._names: dict[str, str] = {}
        self._failures = 0

    @property
    def problems(self) -> list[Problem]:
        """What could not be read, each reason once per module."""
        return [
            Problem(module, reason)
            for module, reasons in self._reasons.items()
            for reason in reasons
        ]

    def __call__(self, module: str, offset: int) -> tuple[CallerPlace, ...]:
        """The places of one return address; see `resolve`."""
        return self.resolve(module, [offset])[offset]

    def resolve(
        self, module: str, offsets: Iterable[int]
    ) -> dict[int, tuple[CallerPlace, ...]]:
        """The places that return addresses in a module lie in."""
        wanted = dict.fromkeys(offsets)
        if fresh := [offset for offset in wanted if (module, offset) not in self._places]:
            for offset, frames in zip(fresh, self._frames(module, fresh), strict=True):
                self._places[module, offset] = self._named(module, offset, frames)
        return {offset: self._places[module, offset] for offset in wanted}

    def functions(self, module: str, offsets: Iterable[int]) -> dict[int, CallerPlace]:
        """The functions that begin at offsets in a module."""
        wanted = dict.fromkeys(offsets)
        if fresh := [offset for offset in wanted if (module, offset) not in self._functions]:
            frames = self._frames(module, fresh, begins=True)
            for offset, frame in zip(fresh, frames, strict=True):
                self._functions[module, offset] = self._named(module, offset, frame)[0]
        return {offset: self._functions[module, offset] for offset in wanted}

    def _frames(
        self, module: str, offsets: list[int], *, begins: bool = False
    ) -> list[list[Frame]]:
        """The frames of each offset, none where nothing is known."""
        reasons = self._reasons.setdefault(module, {})
        if reason := _unreadable(module):
            if not C_LIBRARY.match(module.rpartition("/")[2]):
                reasons[reason] = None
            return [[] for _ in offsets]
        for lines in (True, False) if self._with_lines.get(module, True) else (False,):
            self._with_lines[module] = lines
            answer = self._child.ask(
                module=module,
                offsets=offsets,
                folders=self._folders,
                lines=lines,
                begins=begins,
            )
            if answer is not None:
                reasons.update(dict.fromkeys(answer["reasons"]))
                return answer["frames"] or [[] for _ in offsets]
            part = "debug information" if lines else "symbols"
            reasons[f"its {part} cannot be read in a sensible time and memory"] = None
        return [[] for _ in offsets]

    def _named(self, module: str, offset: int, frames: list[Frame]) -> tuple[CallerPlace, ...]:
        name = module.rpartition("/")[2]
        unknown = (
            UNRESOLVED
            if C_LIBRARY.match(name)
            else f"{name}+{offset - EXECUTED * is_executed(offset):#x}"
        )
        return tuple(
            CallerPlace(
                self._name(function) if function else unknown,
                printable(file, limit=_LONGEST_FILE) if file else None,
                line,
            )
            for function, file, line in frames or [(None, None, None)]
        )

    def _name(self, linked: str) -> str:
        """A function's name as a person would give it; as it is where that would never end."""
        if linked not in self._names:
            text = None
            if _is_mangled(linked) and self._failures < _MOST_FAILURES:
                answer = self._child.ask(name=linked)
                self._failures += answer is None
                text = answer["text"] if answer else None
            self._names[linked] = plain(text or linked)
        return self._names[linked]


def _unreadable(module: str) -> str | None:
    """Why nobody can read a module, whatever is in it."""
    try:
        mode = Path(module).stat().st_mode
    except FileNotFoundError:
        return "the file is not there any more"
    except OSError as error:
        return f"the file cannot be read: {error.strerror}"
    except ValueError as error:
        return f"the file cannot be understood: {error}"
    return None if S_ISREG(mode) else "the file cannot be understood: it is no file"


def _is_mangled(name: str) -> bool:
    """Whether a name is one of C++ that the child, which alone does so, can demangle."""
    return name.startswith(("_Z", "__Z")) and len(name) <= _LONGEST_NAME and name.isascii()


def plain(name: str) -> str:
    """The name without its arguments, template arguments and clone suffixes, safe to print."""
    text = printable(read_signature(name.strip()) or name, limit=_LONGEST_NAME)
    module = _MODULE.fullmatch(text)
    return f"{module[1]}::{module[2]}" if module else text


class Child:
    """A process of limited time and memory for files and names that nobody vouches for.

    It answers as `burstline.record.symbols.lookup`; a new one follows one that died.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = Lock()

    def ask(self, **request: object) -> dict[str, Any] | None:
        """The answer to a request; None if the process took too much of anything over it."""
        with self._lock:
            process = self._process or self._started()
            timer = Timer(_PATIENCE_S, process.kill)
            timer.start()
            try:
                answer = _answer(process, request)
            finally:
                timer.cancel()
            if answer is None:
                _end(process)
                self._process = None
            return answer

    def _started(self) -> subprocess.Popen[bytes]:
        module = "burstline.record.symbols.lookup"
        self._process = subprocess.Popen(  # noqa: S603 -- our own interpreter and our own text
            [sys.executable, "-P", "-m", module, str(_SECONDS), str(_BYTES)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        weakref.finalize(self, _end, self._process)
        return self._process


def _answer(process: subprocess.Popen[bytes], request: object) -> dict[str, Any] | None:
    if process.stdin is None or process.stdout is None:
        return None
    try:
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())
    except (OSError, ValueError):
        return None


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


def unnamed(problems: Iterable[Problem]) -> str | None:
    """One line on the modules that have places without names; None without any."""
    # what stands between a program and its threads or messages is no place of the program
    listed = [problem for problem in problems if not raw.of_runtime(problem.module)]
    reasons: dict[str, dict[str, None]] = {}
    for module, reason in listed:
        if _is_installed(module):
            continue  # users do not compile it
        reasons.setdefault(reason, {})[module.rpartition("/")[2]] = None
    if not reasons:
        return None
    parts = [f"{_listed(list(names))}: {reason}" for reason, names in reasons.items()]
    return f"some calls have no source lines. {'; '.join(parts)}"


def _is_installed(module: str) -> bool:
    """Whether a package brought a program or library, into the system or an environment."""
    return _INSTALLED.search(module) is not None or any(
        (folder / sign).exists() for folder in Path(module).parents for sign in _ENVIRONMENTS
    )


def _listed(names: list[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + f" and {more} more" * (more > 0)
