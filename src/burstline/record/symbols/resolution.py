"""From return addresses to places in the source, with the functions inlined there.

::

    module, offsets ─► Resolver ─► a child of limited time and memory ─► Place, Place, …

Places are told as the Paraver reader tells them: functions without arguments, files
without folders, so that a recorded trace and one of Extrae's have the same call paths.
"""

from __future__ import annotations

import re
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Final, NamedTuple

from burstline.errors import printable
from burstline.extrae import UNRESOLVED
from burstline.record.symbols.child import Child
from burstline.record.symbols.demangling import is_mangled, plain

if TYPE_CHECKING:
    from collections.abc import Iterable

Frame = tuple[str | None, str | None, int | None]
"""Function, as the linker names it, file and line."""

DEBUG_FOLDERS: Final = (Path("/usr/lib/debug"),)
_C_LIBRARY = re.compile(r"(?:libc|libpthread|ld-linux[\w-]*|ld-musl[\w-]*)[-.]")
_LONGEST_FILE = 255
_MOST_FAILURES = 4


class Place(NamedTuple):
    """A place in the source from where a function was called.

    Attributes
    ----------
    function : str
        The function the place is in, as a person would name it. Where it has no name,
        ``module+0x…``; of the C library, which starts the program, ``??``.
    file : str or None
        Its source file without its folder; None if unknown.
    line : int or None
        Its line; None if unknown.
    """

    function: str
    file: str | None
    line: int | None


class Problem(NamedTuple):
    """Why places of a module are not known, or not as well as they could be."""

    module: str
    reason: str


class Resolver:
    """Names the places that return addresses lie in; reads each module once.

    Nothing that a file holds makes this fail: a place of which nothing is known is named
    by its module and offset, and `problems` says why. Files are read in another process,
    whose time and memory are bounded by their sizes.

    Attributes
    ----------
    problems : list of Problem
        What could not be read, each reason once per module.

    >>> resolver = Resolver()
    >>> resolver("/nowhere/program", 0x1234)
    (Place(function='program+0x1234', file=None, line=None),)
    >>> resolver.problems
    [Problem(module='/nowhere/program', reason='the file is not there any more')]
    """

    def __init__(self, debug_folders: Iterable[Path] = DEBUG_FOLDERS) -> None:
        self._folders = [str(folder) for folder in debug_folders]
        self._child = Child()
        self._reasons: dict[str, dict[str, None]] = {}
        self._with_lines: dict[str, bool] = {}
        self._places: dict[tuple[str, int], tuple[Place, ...]] = {}
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

    def __call__(self, module: str, offset: int) -> tuple[Place, ...]:
        """The places of one return address; see `resolve`."""
        return self.resolve(module, [offset])[offset]

    def resolve(self, module: str, offsets: Iterable[int]) -> dict[int, tuple[Place, ...]]:
        """The places that return addresses in a module lie in."""
        wanted = dict.fromkeys(offsets)
        if fresh := [offset for offset in wanted if (module, offset) not in self._places]:
            for offset, frames in zip(fresh, self._frames(module, fresh), strict=True):
                self._places[module, offset] = self._named(module, offset, frames)
        return {offset: self._places[module, offset] for offset in wanted}

    def _frames(self, module: str, offsets: list[int]) -> list[list[Frame]]:
        """The frames of each offset, none where nothing is known."""
        reasons = self._reasons.setdefault(module, {})
        if reason := _unreadable(module):
            reasons[reason] = None
            return [[] for _ in offsets]
        for lines in (True, False) if self._with_lines.get(module, True) else (False,):
            self._with_lines[module] = lines
            answer = self._child.ask(
                module=module, offsets=offsets, folders=self._folders, lines=lines
            )
            if answer is not None:
                reasons.update(dict.fromkeys(answer["reasons"]))
                return answer["frames"] or [[] for _ in offsets]
            part = "debug information" if lines else "symbols"
            reasons[f"its {part} cannot be read in a sensible time and memory"] = None
        return [[] for _ in offsets]

    def _named(self, module: str, offset: int, frames: list[Frame]) -> tuple[Place, ...]:
        name = module.rpartition("/")[2]
        unknown = UNRESOLVED if _C_LIBRARY.match(name) else f"{name}+{offset:#x}"
        return tuple(
            Place(
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
            if is_mangled(linked) and self._failures < _MOST_FAILURES:
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
