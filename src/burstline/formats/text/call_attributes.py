"""What the messages and collectives of a call say about the call itself.

The text form writes a call's attributes only where they say more, or less, than this.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from burstline.formats.text.places import Row

Call = tuple[int, int]
"""Location, and ordinal of the call on it."""


class CallAttributes:
    """The attributes of calls, gathered from halves of messages and parts of collectives."""

    def __init__(self) -> None:
        self._partners: dict[Call, set[tuple[int, int]]] = defaultdict(set)
        self._posts: dict[Call, set[tuple[int, int]]] = defaultdict(set)
        self._communicators: dict[Call, set[int | None]] = defaultdict(set)
        self._sums: dict[Call, Row] = defaultdict(dict)

    def add_send(self, call: Call, partner: tuple[int, int], communicator: int | None) -> None:
        """Add that `call` started a send to ``(rank, tag)``."""
        self._partners[call].add(partner)
        self._communicators[call].add(communicator)

    def add_post(self, call: Call, partner: tuple[int, int], communicator: int | None) -> None:
        """Add that `call` posted a receive that ``(rank, tag)`` answered."""
        self._posts[call].add(partner)
        self._communicators[call].add(communicator)

    def add_part(self, call: Call, root: int | None, communicator: int | None) -> None:
        """Add that `call` began its part in a collective; `root` if it is the root."""
        self._communicators[call].add(communicator)
        if root is not None:
            self._sums[call]["root"] = root

    def add_bytes(self, call: Call, column: str, size_bytes: int) -> None:
        """Add to ``sent_bytes`` or ``received_bytes`` of a call."""
        self._sums[call][column] = self._sums[call].get(column, 0) + size_bytes

    def of(self, call: Call) -> Row:
        """The attributes of a call, None where unknown; a destination goes before a source."""
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
    several = list(values)
    return several[0] if len(several) == 1 else None
