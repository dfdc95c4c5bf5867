"""Rows of definitions as the kernel takes them, and the texts they refer to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline._core import Defined
from burstline.formats.otf2.numbers import NOWHERE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from burstline.columns import Integers


ALL_MEMBERS: Final = 4
"""The kind of a group that lists all locations of a paradigm."""

SOME_MEMBERS: Final = 5
"""The kind of a group of some of these."""

OWN_MEMBER: Final = 6
"""The kind of the group of a process alone, which lists nobody."""

_LONGEST_TEXT: Final = 32_768


class Rows:
    """Rows of definitions as the kernel takes them, and the texts they refer to."""

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._texts: dict[str, int] = {}
        self._bytes = bytearray()
        self._groups = 0
        self.text("")

    def add(self, kind: int, *numbers: int) -> None:
        """Add a row."""
        self._numbers += [kind, len(numbers), *numbers]

    def text(self, words: str) -> int:
        """The reference of a text, which is defined when it is new."""
        words = words[:_LONGEST_TEXT]
        if words not in self._texts:
            self._texts[words] = len(self._texts)
            # A zero ends a text in the library.
            content = words.replace("\0", "\ufffd").encode("utf-8", "replace")
            self.add(Defined.TEXT, self._texts[words], len(self._bytes), len(content))
            self._bytes += content
        return self._texts[words]

    def add_communicator(
        self, reference: int, name: str, kind: int, paradigm: int, members: Iterable[int]
    ) -> None:
        """Add a communicator, and the group of its members."""
        group = self.add_group(kind, paradigm, members)
        self.add(Defined.COMMUNICATOR, reference, self.text(name), group, NOWHERE)

    def add_group(self, kind: int, paradigm: int, members: Iterable[int]) -> int:
        """The reference of a group without a name, which is added."""
        self.add(Defined.GROUP, self._groups, self.text(""), kind, paradigm, 0, *members)
        self._groups += 1
        return self._groups - 1

    def take(self) -> tuple[Integers, bytes]:
        """All rows (kind, length, and as many integers each), and all texts."""
        return np.array(self._numbers, np.int64), bytes(self._bytes)
