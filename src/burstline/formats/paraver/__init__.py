"""Paraver traces: ``.prv`` or ``.prv.gz``, with ``.pcf`` and ``.row`` beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burstline.progress import SILENCE, Progress

if TYPE_CHECKING:
    from pathlib import Path

    from burstline.trace import Trace

_GZIP = b"\x1f\x8b"
_MAGIC = b"#paraver"


def recognises(head: bytes) -> bool:
    """Tell whether a file that starts with `head`, inflated, is a Paraver trace."""
    text = head.removeprefix(b"\xef\xbb\xbf").lower()
    return text.startswith((_MAGIC, b"new format"))


def read(
    path: Path, *, raw: bool, memory: int | None, threads: int, progress: Progress = SILENCE
) -> Trace:
    """Read a Paraver trace into memory; see :func:`burstline.read`."""
    from burstline.formats.paraver.reading.in_memory import read_whole  # noqa: PLC0415 -- on demand

    return read_whole(path, raw=raw, memory=memory, threads=threads, progress=progress)


def scan(path: Path, *, threads: int = 2, progress: Progress = SILENCE) -> dict[str, int]:
    """Scan a Paraver trace without keeping anything: what reading costs at least.

    Parameters
    ----------
    path : Path
        The trace.
    threads : int
        Threads to use.
    progress : Progress
        Told how far it is.

    Returns
    -------
    dict of str to int
        ``lines``, ``states``, ``events`` (records), ``pairs``, ``communications``, and
        ``value_sum``, the sum of all event values modulo 2^64.

    Raises
    ------
    FormatError
        If the file is no Paraver trace.
    """
    from burstline.formats.paraver.reading.trace_file import OpenTrace  # noqa: PLC0415 -- on demand

    with OpenTrace.open(path, most_buckets=1) as opened:
        found = opened.scan(None, threads=threads, progress=progress)
    names = ("lines", "states", "events", "pairs", "communications", "value_sum")
    return {name: getattr(found, name) for name in names}
