"""Where the debug information of a stripped program or library is kept apart from it.

By its build id, below a folder of debug files; or by the name and checksum that the
program says, beside it, in ``.debug`` beside it, or below such a folder.
"""

from __future__ import annotations

import zlib
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from burstline.record.symbols.elf import Elf, ElfError

if TYPE_CHECKING:
    from collections.abc import Iterator

DEBUG_FOLDERS: Final = (Path("/usr/lib/debug"),)
_PIECE = 1 << 20
_SHORTEST_ID = 4


def separate_debug(elf: Elf, folders: tuple[Path, ...] = DEBUG_FOLDERS) -> Elf | None:
    """Find the file with the debug information of another one.

    Parameters
    ----------
    elf : Elf
        The program or library.
    folders : tuple of Path
        Where debug files are installed.

    Returns
    -------
    Elf or None
        The file, whose build id or checksum is the one asked for; None if there is none.
    """
    build_id = elf.build_id
    if len(build_id) >= _SHORTEST_ID:
        for folder in folders:
            path = folder / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug"
            found = _opened(path)
            if found is not None and found.build_id == build_id:
                return found
    for path, checksum in _linked(elf, folders):
        found = _opened(path)
        if found is not None and _has_checksum(path, checksum):
            return found
    return None


def _linked(elf: Elf, folders: tuple[Path, ...]) -> Iterator[tuple[Path, int]]:
    try:
        data = elf.data(".gnu_debuglink")
    except ElfError:
        return
    name = data.partition(b"\0")[0].decode(errors="replace")
    if not name or PurePosixPath(name).name != name or len(data) < len(name) + 5:
        return
    checksum = int.from_bytes(data[-4:], "little")
    here = elf.path.absolute().parent
    yield here / name, checksum
    yield here / ".debug" / name, checksum
    for folder in folders:
        yield folder / here.relative_to("/") / name, checksum


def _opened(path: Path) -> Elf | None:
    try:
        return Elf(path) if path.is_file() else None
    except (OSError, ElfError, ValueError):
        return None


def _has_checksum(path: Path, checksum: int) -> bool:
    found = 0
    try:
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                found = zlib.crc32(piece, found)
    except OSError:
        return False
    return found == checksum
