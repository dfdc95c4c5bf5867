"""Pass one over a ``.prv``: from bytes to journals, by several threads, in file order.

::

    stretches --fetch, scan, encode (any thread)--> blocks --append (in file order)--> Journal
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from burstline import _core
from burstline.errors import printable
from burstline.formats.intake import Defect, Defects
from burstline.formats.paraver.files.declarations import Communicator, read_communicator

if TYPE_CHECKING:
    from burstline.formats.paraver.files.lines import LineSource, Stretch
    from burstline.formats.paraver.reading.memory import Overflow
    from burstline.progress import Progress

_SEVERITY: Final = {
    "odd_pairs": "loss",
    "obsolete_record": "info",
    "inverted_state": "loss",
}
_MOST_COMMENTS = 100_000


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
    communicators: dict[tuple[int, int], Communicator] = field(default_factory=dict)
    # the lines that are no records, as they stand
    communicator_lines: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    defects: Defects = field(default_factory=Defects)

    def take(self, block: _core.Block) -> None:
        """Count a block, which comes in file order."""
        lines, states, events, pairs, communications, value_sum = block.counts()
        for kind, count, line, excerpt in block.flaws():
            shown = printable(excerpt.decode("utf-8", "replace"))
            where = f"line {self.lines + line + 1}: {shown!r}"
            self.defects.add(Defect(kind, _SEVERITY.get(kind, "loss"), where, count))
        for line, text in block.texts():
            self._take_text(self.lines + line + 1, text)
        self.lines += lines
        self.states += states
        self.events += events
        self.pairs += pairs
        self.communications += communications
        self.value_sum = (self.value_sum + value_sum) % (1 << 64)

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


class _Desk:
    """A buffer and a block, which are used for many stretches."""

    def __init__(self, layout: _core.Layout, types: _core.TypeTable, unit_ns: int) -> None:
        self.buffer = bytearray()
        self.block = _core.Block(layout, types, unit_ns)

    def work(self, stretch: Stretch, encode: bool) -> None:  # noqa: FBT001 -- run by a pool
        text = stretch.fetch(self.buffer)
        self.block.scan(text)
        if encode:
            self.block.encode()


def scan_source(
    source: LineSource,
    layout: _core.Layout,
    types: _core.TypeTable,
    unit_ns: int,
    *,
    journal: _core.Journal | None,
    threads: int,
    progress: Progress,
    overflow: Overflow | None = None,
) -> Scanned:
    """Counts of the rest of a source, whose records are appended to the journal.

    O(bytes). Memory: the journal, and about 15 MB per thread.
    """
    scanned = Scanned()
    progress.step("Reading", source.size, "B")
    desks = [_Desk(layout, types, unit_ns) for _ in range(threads + 2)]
    waiting: deque[tuple[Future[None], _Desk, int]] = deque()

    def commit() -> None:
        future, desk, size = waiting.popleft()
        future.result()
        if journal is not None:
            journal.append(desk.block)
            if overflow is not None:
                overflow.relieve(journal)
        scanned.take(desk.block)
        desks.append(desk)
        progress.advance(size)

    pool = ThreadPoolExecutor(threads, "scan")
    try:
        for stretch in source.stretches():
            if not desks:
                commit()
            desk = desks.pop()
            future = pool.submit(desk.work, stretch, journal is not None)
            waiting.append((future, desk, stretch.size))
        while waiting:
            commit()
    finally:
        pool.shutdown(cancel_futures=True)
    if not (scanned.states or scanned.events or scanned.communications):
        scanned.defects.note(
            "no_records", "loss", "the body is empty, or nothing in it could be used"
        )
    if source.damage:
        text = f"after line {scanned.lines + 1}: {source.damage}"
        scanned.defects.add(Defect("damaged_gzip", "loss", text))
    return scanned
