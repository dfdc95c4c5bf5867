"""What the messages and collectives of a call say about the call itself.

The text form writes a call's attributes only where they say more, or less, than this.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from burstline.formats.text.definitions import Row

Call = tuple[int, int]
"""Location, and ordinal of the call on it."""

NAMES: Final = {
    "comm": "communicator",
    "peer": "peer",
    "tag": "tag",
    "root": "root",
    "sent": "sent_bytes",
    "received": "received_bytes",
}
"""Columns of `calls` by the name of the option that sets them."""


class Attributes:
    """The attributes of calls, gathered from halves of messages and parts of collectives."""

    def __init__(self) -> None:
        self._partners: dict[Call, set[tuple[int, int]]] = defaultdict(set)
        self._posts: dict[Call, set[tuple[int, int]]] = defaultdict(set)
        self._communicators: dict[Call, set[int | None]] = defaultdict(set)
        self._sums: dict[Call, Row] = defaultdict(dict)

    def send(self, call: Call, partner: tuple[int, int], communicator: int | None) -> None:
        """Note that `call` started a send to ``(rank, tag)``."""
        self._partners[call].add(partner)
        self._communicators[call].add(communicator)

    def post(self, call: Call, partner: tuple[int, int], communicator: int | None) -> None:
        """Note that `call` posted a receive that ``(rank, tag)`` answered."""
        self._posts[call].add(partner)
        self._communicators[call].add(communicator)

    def part(self, call: Call, root: int | None, communicator: int | None) -> None:
        """Note that `call` began its part in a collective; `root` if it is the root."""
        self._communicators[call].add(communicator)
        if root is not None:
            self._sums[call]["root"] = root

    def add(self, call: Call, column: str, size_bytes: int) -> None:
        """Add to ``sent_bytes`` or ``received_bytes`` of a call."""
        self._sums[call][column] = self._sums[call].get(column, 0) + size_bytes

    def of(self, call: Call) -> Row:
        """Give what is known of a call; a destination goes before a source."""
        partners = self._partners.get(call) or self._posts.get(call, set())
        return {
            "communicator": _only(self._communicators.get(call, ())),
            "peer": _only({rank for rank, _ in partners}),
            "tag": _only({tag for _, tag in partners}),
        } | {
            column: self._sums.get(call, {}).get(column)
            for column in ("root", "sent_bytes", "received_bytes")
        }


def _only(values: Iterable[Any]) -> Any:  # noqa: ANN401 -- whatever the values are
    found = list(values)
    return found[0] if len(found) == 1 else None
