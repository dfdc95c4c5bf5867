"""From the bytes of a folder to checked headers, records, and an outline of these.

::

    p-node-17.raw, p-node-17.tail ──► pieces of threads
    kinds of all records ──► rows of definitions, clocks, ends │ first moment │ types of events

A file that was cut or never finished gives what it has; only what is no raw file at all,
or of another version, is refused.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from burstline.columns import Integers
from burstline.errors import FormatError, UnsupportedRecordError, plural
from burstline.formats.files import is_plain, require_plain
from burstline.formats.intake import Defects
from burstline.formats.raw.files.layout import (
    EVENTS,
    HEADER,
    LATEST,
    MAGIC,
    ONE_THREAD,
    RECORD,
    SUFFIX,
    TAIL,
    TAIL_MAGIC,
    TAIL_SUFFIX,
    TIMED,
    VERSION,
    Kind,
    table_of,
)
from burstline.formats.raw.files.pieces import Pieces, Room, by_thread, in_file, in_tail
from burstline.formats.store import MANIFEST
from burstline.progress import Progress

RECORD_BYTES: Final = RECORD.itemsize
_MOST_HEADER_BYTES: Final = 1 << 20
_WAY_OUT: Final = "Give the folder that burstline record wrote"
_BLOCK: Final = 1 << 18  # records
_KINDS: Final = 1 << 16
_COUNTED: Final = max(Kind) + 1


@dataclass(frozen=True, slots=True, eq=False)
class RawFile:
    """What one thread recorded."""

    path: Path  # the file
    version: int  # its format
    # its process on the node, and its thread there, from 0
    pid: int
    thread: int
    # name of the node, path of the program, first line of the MPI library's version
    host: str
    program: str
    mpi: str
    start_ns: int  # when the thread was seen first
    start_realtime_ns: int  # when the file was opened, by the time of day
    # its records, without the zeros of the tail; mapped, where nothing is missing
    records: npt.NDArray[Any] | Pieces
    # where the records are that matter before the others do
    outline: FileOutline

    def release(self) -> None:
        """Release the pages that were read; they come back when they are needed."""
        _release_pages(self.records)


def recognises(folder: Path, _head: bytes = b"") -> bool:
    """Whether a folder holds raw files, and is no store."""
    if is_plain(folder / MANIFEST):
        return False
    return any(is_plain(path) for path in folder.glob(f"*{SUFFIX}"))


def open_files(
    folder: Path, defects: Defects, progress: Progress, room: Room | None = None
) -> list[RawFile]:
    """Open every raw file of a folder."""
    paths = sorted(path for path in folder.glob(f"*{SUFFIX}") if is_plain(path))
    if not paths:
        raise FormatError(
            folder, None, expected=f"files *{SUFFIX} in it", found="none", way_out=_WAY_OUT
        )
    progress.step("Opening", len(paths), "files")
    files, refused, room = [], None, room or Room(None)
    for path in paths:
        try:
            files += _open_file(path, defects, room)
        except UnsupportedRecordError:
            raise
        except FormatError as error:
            refused = refused or error
            defects.note("not_a_raw_file", "error", str(error))
        progress.advance(1)
        for file in files[-1:]:
            file.release()
    if not files:
        raise refused or FormatError(
            folder,
            None,
            expected="a raw file with a header",
            found=f"{plural(len(paths), 'file')} without, the first {paths[0].name}",
            way_out="The program ended before it recorded anything; run it again",
        )
    return files


def _open_file(path: Path, defects: Defects, room: Room) -> list[RawFile]:
    header = _read_header(path, defects)
    if header is None:
        return []
    return [
        RawFile(
            path=path,
            version=int(header["version"]),
            pid=int(header["pid"]),
            thread=number,
            host=_padded_text(header["host"]),
            program=_padded_text(header["program"]),
            mpi=_padded_text(header["mpi"]),
            start_ns=start_ns,
            start_realtime_ns=int(header["start_realtime_ns"]),
            records=records,
            outline=_outline_of(records),
        )
        for number, start_ns, records in _threads_in(path, header, defects, room)
    ]


def _read_header(path: Path, defects: Defects) -> Any:  # noqa: ANN401 -- a record, or None
    """The header of a file, None where it was never written."""
    with path.open("rb") as file:
        head = file.read(HEADER.itemsize)
    if not head.strip(b"\0") or (len(head) < HEADER.itemsize and MAGIC.startswith(head[:8])):
        size = path.stat().st_size
        defects.note("file_without_header", "loss", f"{path.name}: {size} bytes")
        return None
    if head[:8] != MAGIC or len(head) < HEADER.itemsize:
        raise _no_raw_file(path, f"{MAGIC.decode()} at offset 0", head[:8])
    header = np.frombuffer(head, HEADER)[0]
    if not 1 <= header["version"] <= VERSION or header["record_bytes"] != RECORD.itemsize:
        raise UnsupportedRecordError(
            path,
            None,
            expected=f"version 1 to {VERSION}, records of {RECORD.itemsize} bytes at offset 8",
            found=f"version {header['version']}, {header['record_bytes']} bytes",
            way_out="Read it with the version of burstline that recorded it",
        )
    begin = int(header["header_bytes"])
    if not HEADER.itemsize <= begin <= _MOST_HEADER_BYTES:
        raise _no_raw_file(path, "a sane size of the header at offset 12", str(begin).encode())
    return header


def _no_raw_file(path: Path, expected: str, found: bytes) -> FormatError:
    shown = found.decode("latin-1") or "an empty file"
    return FormatError(path, None, expected=expected, found=shown, way_out=_WAY_OUT)


def _padded_text(field: bytes) -> str:
    return bytes(field).split(b"\0")[0].decode("utf-8", "replace")


def stored(path: Path) -> list[npt.NDArray[Any] | Pieces]:
    """What each thread of a file recorded, whatever is missing of it."""
    defects = Defects()
    header = _read_header(path, defects)
    if header is None:
        return []
    return [records for *_, records in _threads_in(path, header, defects, Room(None))]


def _threads_in(
    path: Path,
    header: Any,  # noqa: ANN401 -- a record
    defects: Defects,
    room: Room,
) -> list[tuple[int, int, npt.NDArray[Any] | Pieces]]:
    begin = int(header["header_bytes"])
    tail = path.with_suffix(TAIL_SUFFIX)
    if header["version"] == ONE_THREAD:
        room.take(np.zeros(1, np.int64))
        place, left = _read_tail(tail, begin)
        records, _ = _sound_records(
            _with_tail(path, begin, place, left, defects), path, begin, defects
        )
        return [(int(header["thread"]), int(header["start_ns"]), records)]
    records, heads = _sound_records(_mapped_records(path, begin, defects), path, begin, defects)
    lost = int(heads[0]) if len(heads) else len(records)
    defects.note("unknown_record", "loss", f"{path.name}: before any thread", lost)
    windows = _tail_windows(tail)
    waiting = windows["a"][windows["kind"] == Kind.THREAD]
    room.take(np.concatenate([records["a"][heads], waiting]))
    pieces = [*in_file(records, heads), *in_tail(windows)]
    return list(by_thread(pieces, path.name, defects))


def _sound_records(
    records: npt.NDArray[Any], path: Path, begin: int, defects: Defects
) -> tuple[npt.NDArray[Any], Integers]:
    """The records of a file that are any, and where pieces of threads begin."""
    last, written, strange, hole, first = 0, 0, 0, -1, ""
    heads = [np.zeros(0, np.int64)]
    for number, block in _record_blocks(records):
        kind = np.ascontiguousarray(block["kind"])
        is_written = kind != Kind.END_OF_FILE
        count = int(np.count_nonzero(is_written))
        if hole < 0 and count < len(kind):
            hole = number + int(is_written.argmin())
        if not count:
            continue
        heads.append(np.flatnonzero(kind == Kind.THREAD) + number)
        written += count
        last = number + len(kind) - int(is_written[::-1].argmax())
        known = _KNOWN[kind]
        if not known.all():
            at = int(known.argmin())
            offset = begin + (number + at) * RECORD.itemsize
            first = first or f"{path.name}: kind {kind[at]} at offset {offset}"
            strange += len(known) - int(np.count_nonzero(known))
    records = records[:last]
    if written < last:
        place = f"{path.name}: at offset {begin + hole * RECORD.itemsize}"
        defects.note("empty_record", "loss", place, last - written)
        records = np.asarray(records[records["kind"] != Kind.END_OF_FILE])
        return records, np.flatnonzero(records["kind"] == Kind.THREAD)
    defects.note("unknown_record", "loss", first, strange)
    return records, np.concatenate(heads)


def _mapped_records(path: Path, begin: int, defects: Defects | None) -> npt.NDArray[Any]:
    count, rest = divmod(max(path.stat().st_size - begin, 0), RECORD.itemsize)
    records: npt.NDArray[Any] = np.zeros(0, RECORD)
    if count:
        records = np.memmap(path, RECORD, "r", begin, (count,))
    if defects is not None and rest and count and records[-1]["kind"] != Kind.END_OF_FILE:
        defects.note("truncated_record", "loss", f"{path.name}: {rest} bytes at the end")
    return records


def _tail_windows(path: Path) -> npt.NDArray[Any]:
    try:
        require_plain(path)
        return _mapped_records(path, 0, None)
    except OSError:
        return np.zeros(0, RECORD)


def _with_tail(
    path: Path, begin: int, place: int | None, tail: npt.NDArray[Any], defects: Defects
) -> npt.NDArray[Any]:
    """The records of a file of version 1, with those of its tail."""
    if place is None:
        return _mapped_records(path, begin, defects)
    records = _mapped_records(path, begin, None)
    if place > len(records):
        missing = place - len(records)
        defects.note("missing_record", "loss", f"{path.name}: {missing}", missing)
    return np.concatenate([records[:place], tail])


def settle(folder: Path) -> None:
    """Put tails where they belong, as far as that can be."""
    for path in sorted(folder.glob(f"*{TAIL_SUFFIX}")):
        with contextlib.suppress(OSError, FormatError):
            _put_in_place(path, path.with_suffix(SUFFIX))


def _put_in_place(tail: Path, path: Path) -> None:
    header = _read_header(path, Defects())
    if header is None:
        return
    begin = int(header["header_bytes"])
    if header["version"] == ONE_THREAD:
        place, records = _read_tail(tail, begin)
        if place is None:
            return
        end, data = begin + place * RECORD.itemsize, records.tobytes()
    else:
        parts = [piece.stored.tobytes() for piece in in_tail(_tail_windows(tail))]
        count = (path.stat().st_size - begin) // RECORD.itemsize
        end, data = begin + count * RECORD.itemsize, b"".join(parts)
    with path.open("r+b", buffering=0) as file:
        length = file.seek(0, os.SEEK_END)
        if length < end or shutil.disk_usage(path.parent).free < len(data):
            return
        file.seek(end)
        if file.write(data) < len(data):  # the disk is full: nobody would miss a part
            file.truncate(length)
            return
        file.truncate()
    tail.unlink()  # last: whatever happens before, the two are read as before


def _read_tail(path: Path, begin: int) -> tuple[int | None, npt.NDArray[Any]]:
    """Behind how many records a tail belongs, None if it does not count, and its own."""
    none: npt.NDArray[Any] = np.zeros(0, RECORD)
    try:
        require_plain(path)
        content = path.read_bytes()
    except OSError:
        return None, none
    if len(content) < TAIL.itemsize or not content.startswith(TAIL_MAGIC):
        return None, none
    belongs = int(np.frombuffer(content, TAIL, 1)["belongs"][0])
    count, rest = divmod(belongs - begin, RECORD.itemsize)
    if rest or count < 0:  # written already, or damage
        return None, none
    records = np.frombuffer(
        content, RECORD, (len(content) - TAIL.itemsize) // RECORD.itemsize, TAIL.itemsize
    )
    written = np.flatnonzero(records["kind"] != Kind.END_OF_FILE)
    return count, records[: written[-1] + 1] if len(written) else none


def _record_blocks(
    records: npt.NDArray[Any] | Pieces,
) -> Iterator[tuple[int, npt.NDArray[Any]]]:
    """Blocks of records and the number of the first of each; pages gone over are released."""
    for first in range(0, len(records), _BLOCK):
        yield first, records[first : first + _BLOCK]
        _release_pages(records)


def _release_pages(records: npt.NDArray[Any] | Pieces) -> None:
    """Release the pages that were read of a mapped file; they come back when needed."""
    for part in records.parts if isinstance(records, Pieces) else (records,):
        mapped = getattr(part, "_mmap", None)
        if isinstance(mapped, mmap.mmap):
            mapped.madvise(mmap.MADV_DONTNEED)


_KNOWN: Final = table_of(Kind)
_RARE: Final = table_of([*range(Kind.RANK, Kind.CODE + 1), *range(Kind.CLOCK, max(Kind) + 1)])
_EVENTS: Final = table_of(EVENTS)
_TIMED: Final = table_of(TIMED)
_OWN: Final = table_of([Kind.EVENT, Kind.LOOP_ITERATION])


@dataclass(frozen=True, slots=True, eq=False)
class FileOutline:
    """What one pass over the kinds of a file's records tells."""

    # (rare records,) where definitions, clock samples and ends are, and what each is
    rows: Integers
    kinds: Integers
    has_events: bool  # whether anything happened
    has_calls: bool  # whether its thread calls MPI
    # whether the program recorded events itself, or its calls have labels
    has_own: bool
    # types of the program's events, sorted
    event_types: Integers
    first_ns: int  # local time of the first record that has a sane one, -1 without any
    # how many records of each kind there are
    counts: Integers
    stretch: int  # most records between two calls: no file can be cut there

    def of(self, kind: Kind) -> Integers:
        """The rows of a kind that is rare."""
        return self.rows[self.kinds == kind]


def _outline_of(records: npt.NDArray[Any] | Pieces) -> FileOutline:
    """What a thread wrote, in outline: gone over in blocks; as large as what is rare."""
    none = np.zeros(0, np.int64)
    types, rows, kinds = [none], [none], [none]
    counts, stretch, last_enter = np.zeros(_KINDS, np.int64), 0, 0
    first_enter, last_label, first_ns = len(records), -1, -1
    for begin, block in _record_blocks(records):
        kind = np.ascontiguousarray(block["kind"])
        count = np.bincount(kind, minlength=_KINDS)
        counts += count
        here = count > 0
        if here[_RARE].any():
            at = np.flatnonzero(_RARE[kind])
            rows.append(at + begin)
            kinds.append(kind[at].astype(np.int64))
        if here[Kind.EVENT]:
            types.append(np.unique(block["a"][kind == Kind.EVENT]).astype(np.int64))
        if here[Kind.ENTER]:
            enters = np.flatnonzero(kind == Kind.ENTER) + begin
            stretch = max(stretch, int(np.diff(enters, prepend=last_enter).max()))
            last_enter = int(enters[-1])
            first_enter = min(first_enter, int(enters[0]))
        if here[Kind.LABEL]:
            last_label = begin + len(kind) - 1 - int((kind[::-1] == Kind.LABEL).argmax())
        if first_ns < 0:
            first_ns = _first_time(block, kind)
    occurs = counts > 0
    return FileOutline(
        rows=np.concatenate(rows),
        kinds=np.concatenate(kinds),
        has_events=bool(occurs[_EVENTS].any()),
        has_calls=bool(occurs[Kind.ENTER]),
        # A label outside of any call says nothing.
        has_own=bool(occurs[_OWN].any()) or first_enter < last_label,
        event_types=np.unique(np.concatenate(types)),
        first_ns=first_ns,
        counts=counts[:_COUNTED].copy(),
        stretch=max(stretch, len(records) - last_enter),
    )


def _first_time(records: npt.NDArray[Any], kind: npt.NDArray[np.uint16]) -> int:
    begin, width = 0, 1 << 10
    while begin < len(kind):
        piece = slice(begin, begin + width)
        good = _TIMED[kind[piece]] & (records["time"][piece] < LATEST)
        if good.any():
            return int(records["time"][begin + int(good.argmax())])
        begin, width = begin + width, 2 * width
    return -1
