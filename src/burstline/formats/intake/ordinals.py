"""Ordinals that go on from slice to slice of a process: on channels, and on communicators."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from burstline.columns import codes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burstline.columns import Integers
    from burstline.formats.intake.source import Columns, Group

_SENT = ("communicator", "receiver", "tag")
_QUEUED = ("communicator", "sender", "tag")


class Ordinals:
    """What the slices of one process counted so far."""

    def __init__(self) -> None:
        self._sent, self._queued = _Counts(3), _Counts(3)
        self._collectives = _Counts(1)

    def number(self, group: Group, queued: Columns) -> Group:
        """A group whose ordinals follow on those before; `queued` receives count, too."""
        sends, receives, parts = group.sends, group.receives, group.parts
        received = {
            name: np.concatenate([receives[name], queued[name]])
            for name in (*_QUEUED, "ordinal")
        }
        count = len(receives["ordinal"])
        return replace(
            group,
            sends={**sends, "ordinal": self._sent.after(sends, _SENT, "ordinal")},
            receives={
                **receives,
                "ordinal": self._queued.after(received, _QUEUED, "ordinal")[:count],
            },
            parts=parts
            and {
                **parts,
                "sequence": self._collectives.after(parts, ("communicator",), "sequence"),
            },
        )


class _Counts:
    """How many there have been of each key."""

    def __init__(self, width: int) -> None:
        self._keys = [np.zeros(0, np.int64)] * width
        self._counts = np.zeros(0, np.int64)

    def after(self, columns: Columns, key: Sequence[str], ordinal: str) -> Integers:
        """Ordinals that count from 0 for each key, behind those before."""
        keys = [
            np.concatenate([old, columns[name]])
            for old, name in zip(self._keys, key, strict=True)
        ]
        known = len(self._counts)
        (code,) = codes(keys)
        _, first, which = np.unique(code, return_index=True, return_inverse=True)
        which = which.reshape(-1)
        before = np.zeros(len(first), np.int64)
        before[which[:known]] = self._counts
        number = before[which[known:]] + columns[ordinal]
        np.maximum.at(before, which[known:], number + 1)
        self._keys, self._counts = [column[first] for column in keys], before
        return number
