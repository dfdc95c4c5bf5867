"""What communicators and call paths are called, so that runs can be compared.

::

    trace.communicators  ->  world, self, "0-3,7", "0-3 #2"
    trace.call_paths     ->  "main@a.c:9;solve@b.c:4"

A label says what a thing is and holds no id of the trace it is in.
"""

from __future__ import annotations

from hashlib import blake2s
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.structure import clean_paths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burstline.columns import Integers
    from burstline.structure import Frame
    from burstline.trace import Trace

_LONGEST: Final = 64
_DIGEST_BYTES: Final = 6
_ALONE: Final = ("world", "self")


def communicator_labels(trace: Trace) -> list[str]:
    """Give each communicator of a trace a label that other runs give it, too.

    Parameters
    ----------
    trace : Trace
        Its `communicators` are read.

    Returns
    -------
    list of str
        One per row: ``world``, ``self`` (every rank's own has this label), or the ranks of
        the members in its order, in ranges. Long lists end in their length and a digest. Of
        communicators with equal members, the second and later ones are numbered: ``0-3 #2``.

    Notes
    -----
    Numbers of equal communicators follow the order of the trace, which is that of their
    creation as far as the recorder knows it.

    Examples
    --------
    >>> from burstline.testing import trace_of
    >>> group = "communicator 1 members 3 0 1 kind group"
    >>> communicator_labels(trace_of(f"ranks 4 | {group}"))
    ['world', '3,0-1']
    """
    table = trace.communicators
    labels = []
    met: dict[tuple[int, str], int] = {}
    rows = (table[name].to_pylist() for name in ("application", "kind", "members"))
    for application, kind, members in zip(*rows, strict=True):
        label = kind if kind in _ALONE else _members(members or [])
        if kind in {"inter", "unknown"}:
            label = f"{kind} {label}".rstrip()
        if kind != "self":
            met[application, label] = met.get((application, label), 0) + 1
            if met[application, label] > 1:
                label = f"{label} #{met[application, label]}"
        labels.append(label)
    return labels


def _members(ranks: Sequence[int]) -> str:
    stretches: list[list[int]] = []
    for rank in ranks:
        if stretches and rank == stretches[-1][1] + 1:
            stretches[-1][1] = rank
        else:
            stretches.append([rank, rank])
    text = ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in stretches)
    if len(text) <= _LONGEST:
        return text
    digest = blake2s(text.encode(), digest_size=_DIGEST_BYTES).hexdigest()
    return f"{text[: text.rindex(',', 0, _LONGEST // 2)]},… ({len(ranks)} ranks, {digest})"


def path_labels(trace: Trace) -> tuple[Integers, list[str]]:
    """Give each call path of a trace a label that other runs give it, too.

    Parameters
    ----------
    trace : Trace
        Its `call_paths` are read.

    Returns
    -------
    number : ndarray of int64, shape (call_paths + 1,)
        Position of each row's label, -1 where it names no place in the program; the last
        entry serves calls without a call path, whose id is -1.
    labels : list of str
        Different labels: ``function@file:line``, outermost first, joined by ``;``. What the
        trace does not know is left out of them.

    Notes
    -----
    Frames outside the program are left out as in
    :func:`burstline.structure.callpaths.clean_paths`, so that addresses, which differ from
    run to run, do not matter.

    Examples
    --------
    >>> from burstline.testing import trace_of
    >>> paths = "path 0 main file a.c line 9 | path 1 solve under 0"
    >>> path_labels(trace_of(f"ranks 1 | {paths}"))[1]
    ['main@a.c:9', 'main@a.c:9;solve']
    """
    number, paths = clean_paths(trace)
    labels: dict[str, int] = {}
    of_path = [
        labels.setdefault(";".join(map(_frame, path)), len(labels)) if path else -1
        for path in paths
    ]
    return np.array(of_path, np.int64)[number], list(labels)


def _frame(frame: Frame) -> str:
    if frame.file is None:
        return frame.function
    line = "" if frame.line is None else f":{frame.line}"
    return f"{frame.function}@{frame.file}{line}"
