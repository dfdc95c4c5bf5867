"""From the bytes of a folder to checked headers and records.

A file that was cut or never finished gives what it has; only what is no raw file at all,
or of another version, is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from burstline.errors import FormatError, UnsupportedRecordError
from burstline.formats.raw.files.layout import HEADER, MAGIC, RECORD, SUFFIX, VERSION, Kind
from burstline.formats.raw.files.outline import (
    Outline,
    blocks,
    outline_of,
    release,
    table_of,
)
from burstline.formats.raw.files.tails import stored
from burstline.formats.store import MANIFEST

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from burstline.formats.intake import Defects
    from burstline.progress import Progress

RECORD_BYTES: Final = RECORD.itemsize
_MOST_HEADER_BYTES: Final = 1 << 20
_WAY_OUT: Final = "Give the folder that burstline record wrote"
_KNOWN: Final = table_of(Kind)


@dataclass(frozen=True, slots=True, eq=False)
class RawFile:
    """What one thread wrote."""

    path: Path  # the file
    # its process on the node, and its thread there, from 0
    pid: int
    thread: int
    # name of the node, path of the program, first line of the MPI library's version
    host: str
    program: str
    mpi: str
    # when it was opened, by the local clock and by the time of day
    start_ns: int
    start_realtime_ns: int
    # its records, without the zeros of the tail; mapped, where nothing is missing
    records: npt.NDArray[Any]
    # where the records are that matter before the others do
    outline: Outline

    def release(self) -> None:
        """Let go of the pages that were read; they come back when they are needed."""
        release(self.records)


def recognises(folder: Path, _head: bytes = b"") -> bool:
    """Whether a folder holds raw files, and is no store."""
    if (folder / MANIFEST).exists():
        return False
    return any(path.is_file() for path in folder.glob(f"*{SUFFIX}"))


def open_files(folder: Path, defects: Defects, progress: Progress) -> list[RawFile]:
    """Open every raw file of a folder."""
    paths = sorted(path for path in folder.glob(f"*{SUFFIX}") if path.is_file())
    if not paths:
        raise FormatError(
            folder, None, expected=f"files *{SUFFIX} in it", found="none", way_out=_WAY_OUT
        )
    progress.step("Opening", len(paths), "files")
    files, refused = [], None
    for path in paths:
        try:
            files += _open(path, defects)
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
            found=f"{len(paths)} files without",
            way_out="The program ended before it recorded anything; run it again",
        )
    return files


def _open(path: Path, defects: Defects) -> list[RawFile]:
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(HEADER.itemsize)
    if not head.strip(b"\0") or (len(head) < HEADER.itemsize and MAGIC.startswith(head[:8])):
        defects.note("file_without_header", "loss", f"{path.name}: {size} bytes")
        return []
    if head[:8] != MAGIC or len(head) < HEADER.itemsize:
        raise _refused(path, f"{MAGIC.decode()} at offset 0", head[:8])
    header = np.frombuffer(head, HEADER)[0]
    if header["version"] != VERSION or header["record_bytes"] != RECORD.itemsize:
        raise UnsupportedRecordError(
            path,
            None,
            expected=f"version {VERSION} with records of {RECORD.itemsize} bytes at offset 8",
            found=f"version {header['version']}, {header['record_bytes']} bytes",
            way_out="Read it with the version of burstline that recorded it",
        )
    begin = int(header["header_bytes"])
    if not HEADER.itemsize <= begin <= _MOST_HEADER_BYTES:
        raise _refused(path, "a sane size of the header at offset 12", str(begin).encode())
    records = _records(path, begin, defects)
    return [
        RawFile(
            path=path,
            pid=int(header["pid"]),
            thread=int(header["thread"]),
            host=_text(header["host"]),
            program=_text(header["program"]),
            mpi=_text(header["mpi"]),
            start_ns=int(header["start_ns"]),
            start_realtime_ns=int(header["start_realtime_ns"]),
            records=records,
            outline=outline_of(records),
        )
    ]


def _refused(path: Path, expected: str, found: bytes) -> FormatError:
    shown = found.decode("latin-1") or "an empty file"
    return FormatError(path, None, expected=expected, found=shown, way_out=_WAY_OUT)


def _text(field: bytes) -> str:
    return bytes(field).split(b"\0")[0].decode("utf-8", "replace")


def _records(path: Path, begin: int, defects: Defects) -> npt.NDArray[Any]:
    records = stored(path, begin, defects)
    last, written, strange, hole, first = 0, 0, 0, -1, ""
    for number, block in blocks(records):
        kind = np.ascontiguousarray(block["kind"])
        is_written = kind != Kind.END_OF_FILE
        count = int(np.count_nonzero(is_written))
        if hole < 0 and count < len(kind):
            hole = number + int(is_written.argmin())
        if not count:
            continue
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
        return np.asarray(records[records["kind"] != Kind.END_OF_FILE])
    defects.note("unknown_record", "loss", first, strange)
    return records
