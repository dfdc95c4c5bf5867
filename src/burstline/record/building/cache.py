"""The cache of what is built, in which several processes may build."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from burstline.errors import ParameterError


def cache(product: str) -> Path:
    """The folder of all that is built of one kind."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "burstline" / product


@contextlib.contextmanager
def locked(folder: Path, product: str) -> Iterator[None]:
    """The time in which this process alone may build into a folder, which is made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("w")
    except OSError as error:
        raise ParameterError(
            f"{product} is built in {folder}, which cannot be written "
            f"({error.strerror}). Set XDG_CACHE_HOME to a folder of yours"
        ) from error
    with lock:
        with contextlib.suppress(OSError):  # file systems without locks: built twice at worst
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def built(target: Path, product: str, make: Callable[[Path], object]) -> Path:
    """A file in the cache, which is made once."""
    if not target.is_file():
        with locked(target.parent, product):
            if not target.is_file():
                make_whole(target, make)
    return target


def make_whole(target: Path, make: Callable[[Path], object]) -> None:
    """Make a file whole or not at all: in a folder of its own, which then goes."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".build-") as folder:
        made = Path(folder) / target.name
        make(made)
        made.replace(target)


def kept(product: str, name: str, content: bytes | bytearray) -> Path:
    """A file of this content in the cache, from which it can be preloaded."""
    target = cache(product) / hashlib.sha256(content).hexdigest()[:16] / name
    require_preloadable(target)
    return built(target, f"the {product}", lambda made: made.write_bytes(content))


def can_be_preloaded(path: Path) -> bool:
    """Whether the loader takes a path of LD_PRELOAD for one."""
    return not re.search(r"[\s:]", os.fspath(path))


def require_preloadable(path: Path) -> None:
    """Raise ParameterError if a recorder cannot be preloaded from its place."""
    if not can_be_preloaded(path):
        raise ParameterError(
            f"{path}: a recorder cannot be preloaded from a folder with blanks or colons in "
            "its name. Set XDG_CACHE_HOME to another one"
        )
