"""From return addresses to places in the source, with the functions inlined there.

::

    module ─► Elf ─┬─ symbols ────────────────────────────┐
                   └─ debug information, its own or apart ┴─► Resolver ─► Place, Place, …

Places are told as the Paraver reader tells them: functions without arguments, files
without folders, so that a recorded trace and one of Extrae's have the same call paths.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from burstline.extrae import UNRESOLVED
from burstline.record.symbols.debug_files import DEBUG_FOLDERS, separate_debug
from burstline.record.symbols.demangling import Demangler
from burstline.record.symbols.dwarf import DwarfError
from burstline.record.symbols.elf import MALFORMED, Elf, ElfError, FunctionSymbols
from burstline.record.symbols.functions import Frame
from burstline.record.symbols.program import Program

if TYPE_CHECKING:
    from collections.abc import Iterable

_LARGEST = (1 << 63) - 1
_C_LIBRARY = re.compile(r"(?:libc|libpthread|ld-linux[\w-]*|ld-musl[\w-]*)[-.]")


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

    Parameters
    ----------
    debug_folders : iterable of Path
        Where the system keeps debug information that is not in the programs themselves.

    Attributes
    ----------
    problems : list of Problem
        What could not be read, each reason once per module.

    Notes
    -----
    Nothing that a file holds makes this fail: a place of which nothing is known is named
    by its module and offset, and `problems` says why. Time and memory are bounded by the
    sizes of the files.

    Examples
    --------
    >>> resolver = Resolver()
    >>> resolver("/nowhere/program", 0x1234)
    (Place(function='program+0x1234', file=None, line=None),)
    >>> resolver.problems
    [Problem(module='/nowhere/program', reason='the file is not there any more')]
    """

    def __init__(self, debug_folders: Iterable[Path] = DEBUG_FOLDERS) -> None:
        self._folders = tuple(debug_folders)
        self._modules: dict[str, _Module] = {}
        self._demangle = Demangler()

    @property
    def problems(self) -> list[Problem]:
        """What could not be read, each reason once per module."""
        return [
            Problem(module, reason)
            for module, state in self._modules.items()
            for reason in state.reasons
        ]

    def __call__(self, module: str, offset: int) -> tuple[Place, ...]:
        """Give the places of one return address; see `resolve`."""
        return self.resolve(module, [offset])[offset]

    def resolve(self, module: str, offsets: Iterable[int]) -> dict[int, tuple[Place, ...]]:
        """Give the places that return addresses in a module lie in.

        Parameters
        ----------
        module : str
            Path of the program or library.
        offsets : iterable of int
            Return addresses less what the loader added to the addresses in the file
            (`dlpi_addr` of `dl_iterate_phdr`): that is the module's base where its first
            segment is linked at 0, and 0 in a program that is not position-independent.

        Returns
        -------
        dict of int to tuple of Place
            For each offset, the innermost inlined function first, the one that was
            compiled there last; never empty. The place is that of the call, which ends
            one byte before the return address.
        """
        if module not in self._modules:
            self._modules[module] = _Module(module, self._folders)
        state = self._modules[module]
        wanted = dict.fromkeys(offsets)
        found = state.frames(wanted)
        self._demangle.learn(
            frame.function for frames in found.values() for frame in frames if frame.function
        )
        return {offset: self._places(module, offset, found[offset]) for offset in wanted}

    def _places(self, module: str, offset: int, frames: tuple[Frame, ...]) -> tuple[Place, ...]:
        name = module.rpartition("/")[2]
        unknown = UNRESOLVED if _C_LIBRARY.match(name) else f"{name}+{offset:#x}"
        return tuple(
            Place(
                self._demangle(frame.function) if frame.function else unknown,
                frame.file,
                frame.line,
            )
            for frame in frames or (Frame(None, None, None),)
        )


class _Module:
    """A module's file and what has been looked up in it."""

    def __init__(self, name: str, folders: tuple[Path, ...]) -> None:
        self.reasons: dict[str, None] = {}
        self._elf: Elf | None = None
        self._program: Program | None = None
        self._symbols: list[FunctionSymbols] = []
        self._known: dict[int, tuple[Frame, ...]] = {}
        try:
            self._open(Path(name), folders)
        except FileNotFoundError:
            self._note("the file is not there any more")
        except OSError as error:
            self._note(f"the file cannot be read: {error.strerror}")
        except (ElfError, *MALFORMED) as error:
            self._note(f"the file cannot be understood: {error}")

    def _note(self, reason: str) -> None:
        self.reasons[reason] = None

    def _open(self, path: Path, folders: tuple[Path, ...]) -> None:
        if not path.is_file():
            path.stat()
            raise ElfError("it is no file")
        self._elf = Elf(path)
        files = [self._elf]
        own = self._elf.has(".debug_info")
        if not own or not self._elf.has(".symtab"):
            apart = separate_debug(self._elf, folders)
            files.extend([apart] if apart else [])
        for file in files:
            if file.has(".debug_info") and self._program is None:
                self._program = Program(file)
        if self._program is None and not _C_LIBRARY.match(path.name):
            self._note("it has no debug information: lines are unknown (compile it with -g)")
        for file, table in [*((file, ".symtab") for file in files), (self._elf, ".dynsym")]:
            try:
                self._symbols.append(file.functions(table))
            except (ElfError, *MALFORMED):
                self._note(f"its symbols {table} cannot be read")

    def frames(self, offsets: Iterable[int]) -> dict[int, tuple[Frame, ...]]:
        """Give the frames of each offset, none where nothing is known."""
        fresh = [offset for offset in offsets if offset not in self._known]
        strangers = [offset for offset in fresh if not self._is_return(offset)]
        # a few are frames of signal handlers; many mean that the code is another one
        distrusted = fresh if 2 * len(strangers) > len(fresh) else strangers
        for offset in distrusted:
            self._known[offset] = ()
        for offset in fresh:
            if offset not in self._known:
                self._known[offset] = self._look_up(offset - 1)
        return {offset: self._known[offset] for offset in offsets}

    def _is_return(self, offset: int) -> bool:
        if self._elf is None or not 0 < offset <= _LARGEST:
            return False
        if self._elf.follows_call(offset) is False:
            self._note("the file was changed since it was recorded, or is another one")
            return False
        return True

    def _look_up(self, address: int) -> tuple[Frame, ...]:
        frames: tuple[Frame, ...] = ()
        if self._program is not None:
            try:
                frames = self._program.at(address)
            except DwarfError:
                self._note("part of its debug information cannot be read")
            if self._program.elsewhere:
                self._note("part of its debug information is in .dwo files, which are not read")
        if frames and frames[-1].is_linked:
            return frames
        name = self._symbol(address)
        if not frames:
            return (Frame(name, None, None),) if name else ()
        last = frames[-1]
        if name is None or (last.function and name.rpartition(".")[0] == last.function):
            return frames  # a Fortran procedure inside another one has a number as well
        return (*frames[:-1], last._replace(function=name))

    def _symbol(self, address: int) -> str | None:
        for symbols in self._symbols:
            try:
                if name := symbols.name(address):
                    return name
            except (ElfError, *MALFORMED):
                self._note("its symbols cannot be read")
        return None
