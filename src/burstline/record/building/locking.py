"""Building into a folder that other processes build into, too."""

from __future__ import annotations

import contextlib
import fcntl
from typing import TYPE_CHECKING

from burstline.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextlib.contextmanager
def locked(folder: Path, what: str) -> Iterator[None]:
    """Let one process at a time build into a folder, which is made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("w")
    except OSError as error:
        raise ParameterError(
            f"{what} is built in {folder}, which cannot be written "
            f"({error.strerror}). Set XDG_CACHE_HOME to a folder of yours"
        ) from error
    with lock:
        with contextlib.suppress(OSError):  # file systems without locks: built twice at worst
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
