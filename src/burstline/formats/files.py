"""Plain files: what is read has an end and can be read again, unlike pipes and devices."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Final

from burstline.errors import FormatError

_KINDS: Final = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def require_plain(path: Path) -> None:
    """Refuse what is a pipe, a socket or a device, or leads to one: opening it may hang."""
    kind = _KINDS.get(stat.S_IFMT(path.stat().st_mode))
    if kind is not None:
        raise FormatError(
            path,
            None,
            expected="a plain file",
            found=kind,
            way_out="Write what it gives to a file, and name that.",
        )


def read_text(path: Path, most_bytes: int) -> str:
    """What a plain file of text holds, refused if it is larger than its kind ever is."""
    require_plain(path)
    with path.open("rb") as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise FormatError(path, None, expected=f"at most {most_bytes} bytes", found="more")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise FormatError(path, None, expected="text in UTF-8", found=str(error)) from error


def is_plain(path: Path) -> bool:
    """Whether there is a plain file; what stands in its place and is none is refused."""
    if path.exists():
        require_plain(path)
    return path.is_file()
