"""Pass one over a ``.prv``: what it counts, in file order, and journals that outgrow memory.

What becomes of a byte differs fivefold from trace to trace, so reading whole is refused by
what the scan counted, which is the same whatever was allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from burstline import _core
from burstline.columns import Integers
from burstline.errors import printable
from burstline.formats.intake import BASE, Defects, Oddity, way_by_store
from burstline.formats.paraver.files.declarations import CommunicatorLine, read_communicator

WAY_OUT: Final = way_by_store("it", "TRACE")
"""What to do where a trace does not fit in memory."""
STREAMED: Final = 20.4
"""Bytes that a byte of text takes in a conversion until it is written, raw tables included."""
DISK: Final = 0.7
"""Bytes of spills and of the store per byte of text."""
_CALL_BYTES: Final = 86 + 52  # with its burst
_ROW_BYTES: Final = {"calls": _CALL_BYTES, "readings": 20, "regions": 88, "sends": 160}
_RAW_BYTES: Final = {"pairs": 36, "states": 28}
_SEVERITY: Final = {"odd_pairs": "loss", "obsolete_record": "info", "inverted_state": "loss"}
_MOST_COMMENTS = 100_000


def bytes_of_tables(counts: Mapping[str, Integers], counters: int, *, raw: bool) -> int:
    """Bytes of the tables that become of what the scan counted, at most."""
    size = _ROW_BYTES | (_RAW_BYTES if raw else {})
    rows = {name: int(counts[name].sum()) for name in size}
    values = 8 * counters * (rows["readings"] + rows["calls"])
    return sum(size[name] * count for name, count in rows.items()) + values


def bytes_of_whole(tables: int, journals: int) -> int:
    """Bytes that reading whole takes: half of the journals go while the tables are made."""
    return BASE + max(tables + journals // 2, journals)


Overflow: TypeAlias = Callable[[_core.Journal], None]
"""Takes journals that outgrow the memory allowed."""


class JournalCount:
    """Counts bytes of journals, and drops those of a trace that will not fit in `memory`."""

    # The scan then goes on: it counts all that the tables need, and keeps none of it.

    def __init__(self, buckets: int, memory: int | None) -> None:
        self._buckets, self._memory, self._dropped = buckets, memory, 0

    def relieve(self, journal: _core.Journal) -> None:
        """Drop all journals if there are too many."""
        if self._memory is None or bytes_of_whole(0, self.bytes_of(journal)) <= self._memory:
            return
        self._dropped += journal.resident
        for bucket in range(self._buckets):
            journal.release(bucket)

    def bytes_of(self, journal: _core.Journal) -> int:
        """Bytes of all journals, those dropped included."""
        return self._dropped + journal.resident


COUNTS: Final = ("lines", "states", "events", "pairs", "communications", "value_sum")
"""What is counted of the text, by its names in :class:`Scanned`."""


class BlockFacts(NamedTuple):
    """What a block says beside what it has of each location."""

    counts: tuple[int, int, int, int, int, int]
    flaws: list[tuple[str, int, int, bytes]]
    texts: list[tuple[int, bytes]]

    @classmethod
    def of(cls, block: _core.Block) -> BlockFacts:
        """Those of a block that was scanned."""
        return cls(block.counts(), block.flaws(), block.texts())


@dataclass(slots=True)
class Scanned:
    """Counts, communicators, comments and defects of the text."""

    # lines of the body; records of each kind, and type-value pairs
    lines: int = 0
    states: int = 0
    events: int = 0
    pairs: int = 0
    communications: int = 0
    value_sum: int = 0  # sum of all event values modulo 2^64: a checksum
    # communicator lines by (application, id), the first of each
    communicators: dict[tuple[int, int], CommunicatorLine] = field(default_factory=dict)
    # the lines that are no records, as they stand
    communicator_lines: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    defects: Defects = field(default_factory=Defects)

    def take(self, block: BlockFacts) -> None:
        """Count a block, which comes in file order."""
        for kind, count, line, excerpt in block.flaws:
            shown = printable(excerpt.decode("utf-8", "replace"))
            where = f"line {self.lines + line + 1}: {shown!r}"
            self.defects.add(Oddity(kind, _SEVERITY.get(kind, "loss"), where, count))
        for line, text in block.texts:
            self._take_text(self.lines + line + 1, text)
        for name, count in zip(COUNTS, block.counts, strict=True):
            setattr(self, name, (getattr(self, name) + count) % (1 << 64))

    def finish(self, damage: str) -> None:
        """Note what is known at the end; `damage` is why a compressed file ends early."""
        if not (self.states or self.events or self.communications):
            self.defects.note(
                "no_records", "loss", "the body is empty, or nothing in it could be used"
            )
        if damage:
            text = f"after line {self.lines + 1}: {damage}"
            self.defects.add(Oddity("damaged_gzip", "loss", text))

    def _take_text(self, line: int, text: bytes) -> None:
        shown = text.decode("utf-8", "replace").rstrip("\r")
        if text.startswith(b"#"):
            if len(self.comments) < _MOST_COMMENTS:
                self.comments.append(shown)
            else:
                self.defects.note_line("comments_dropped", "info", line, shown)
            return
        communicator = read_communicator(text)
        if communicator is None:
            self.defects.note_line("malformed_communicator", "loss", line, shown)
            return
        key = (communicator.application, communicator.source_id)
        first = self.communicators.setdefault(key, communicator)
        if first is communicator:
            self.communicator_lines.append(shown)
        elif (
            first.members.tolist() != communicator.members.tolist()
            or first.sides != communicator.sides
        ):
            self.defects.note_line("communicator_redefined", "loss", line, shown)
