"""Damage to files: at random, to any byte, and lies that keep to the rules of a format.

A lie is a change that a program could have made: another number in a row, a row twice, a
document nested deep. Its checksums are right, so that only its meaning can betray it.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import random
import re
import struct
import tarfile
import tomllib
import zlib
from collections.abc import Callable, Iterator
from enum import IntEnum
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from burstline.formats.raw.files.layout import HEADER_BYTES, MAGIC, TAIL, TAIL_MAGIC
from burstline.formats.store import MANIFEST
from burstline.model import TABLES
from vouched import checksum_of_footer

NUMBERS: Final = (
    -(1 << 63), -(1 << 31), -7, -1, 0, 1, 2, 7, 120, 255, 10**6, 1 << 31, 1 << 53, 1 << 62,
    (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 64, 10**30,
)  # fmt: skip
TEXTS: Final = (
    "", "\0", "\x1b[2J\x1b]0;title\x07", "\u202egnp", "<script>alert(1)</script>", "=1+1",
    "../../../etc/passwd", "%s%n{0}", "a" * 5000, "\ud7ff\uffff", "MPI_Send", "nan", '"', "\n",
)  # fmt: skip
_REFERRING: Final = {
    column.name for table in TABLES.values() for column in table.columns if column.refers
}
_FAR: Final = 1 << 24  # rows: no table of ours has so many
_KINDS_OF_TABLES, _FOOTERS = 12, 11
_NUMBER: Final = re.compile(rb"-?\d+(?:\.\d+)?")
_RAW_RECORD, _RAW_FIELDS = 32, ((0, 8), (8, 2), (10, 2), (12, 4), (16, 8), (24, 8))
_ENTER, _LEAVE, _THREAD = 1, 2, 4  # kinds of records
_OPERATIONS: Final = 1 << 15
"""No operation has a number from here on."""


def at_random(draw: random.Random, content: bytearray, other: bytes) -> None:
    """Flip, cut or splice bytes of a file; most often the text or the header at its ends."""
    for _ in range(draw.choice((1, 1, 1, 2, 4, 16))):
        if not content:
            return
        first = draw.randrange(draw.choice((len(content), min(len(content), 256))))
        length = draw.choice((1, 2, 4, 8, 64, len(content)))
        kind = draw.randrange(7)
        if kind == 0:
            content[first] ^= 1 << draw.randrange(8)
        elif kind == 1:
            content[first] = draw.choice(b"\x00\xff\x7f\x80 \n:;,-0919")
        elif kind == 2:  # cut short
            del content[-1 - first :]
        elif kind == 3:  # a piece lost
            del content[first : first + length]
        elif kind == 4 and other:  # a piece of another file, or of this one
            start = draw.randrange(len(other))
            content[first:first] = other[start : start + length]
        elif kind == 5:  # never written to the disk
            end = min(first + length, len(content))
            content[first:end] = bytes(end - first)
        else:
            content[-1 - first] = draw.randrange(256)


class Lie(IntEnum):
    """Whether a file lies."""

    NONE = 0
    BELIEVABLE = 1  # a trace could be so
    UNBELIEVABLE = 2


class Unbelievable(bytes):
    """Content that no reader may take for true."""

    __slots__ = ()


def lie(draw: random.Random, path: Path) -> Lie:
    """Change what a file says by the rules of its format, where there is a way to."""
    change = next((lies for end, lies in _LIES.items() if path.name.endswith(end)), None)
    if change is None:
        return Lie.NONE
    content = path.read_bytes()
    with contextlib.suppress(ValueError, OverflowError, RecursionError, pa.ArrowException):
        changed = change(draw, content)
        if changed != content:
            path.write_bytes(changed)
            is_told = isinstance(changed, Unbelievable)
            return Lie.UNBELIEVABLE if is_told else Lie.BELIEVABLE
    return Lie.NONE


def vouch(draw: random.Random, folder: Path) -> bool:
    """Make the checksums of a store right again; whether it says other rows than it has."""
    manifest = folder / MANIFEST
    if not manifest.is_file():
        return False
    try:
        document = json.loads(manifest.read_text())
    except (ValueError, RecursionError):  # which is a lie itself
        return False
    if not isinstance(document, dict) or not isinstance(document.get("tables"), dict):
        return False
    counts = {}
    for path in folder.glob("*.parquet"):
        with contextlib.suppress(pa.ArrowException, OSError):  # of a footer that lies
            counts[path.stem] = pq.read_metadata(path).num_rows
    is_honest = bool(draw.randrange(4))
    lied = False
    for name, entry in document["tables"].items():
        if name in counts and isinstance(entry, dict) and entry.get("rows") != counts[name]:
            lied |= not is_honest
            if is_honest:
                entry["rows"] = counts[name]
        if name in counts and isinstance(entry, dict) and "footer" in entry:
            entry["footer"] = checksum_of_footer(folder / f"{name}.parquet")
    document.pop("checksum", None)
    head = json.dumps(document)[:-1]
    manifest.write_text(f'{head}, "checksum": {zlib.crc32(head.encode())}}}')
    return lied


def _in_text(draw: random.Random, content: bytes) -> bytes:
    """A line more, less or elsewhere, or another number or word in it."""
    lines = content.split(b"\n")
    at = draw.randrange(min(len(lines), draw.choice((4, len(lines)))))
    kind = draw.randrange(8)
    if kind == 0:
        lines.insert(draw.randrange(len(lines)), lines[at])
    elif kind == 1:
        del lines[at]
    elif kind == 2:
        to = draw.randrange(len(lines))
        lines[at], lines[to] = lines[to], lines[at]
    elif kind == 3:
        words = re.split(rb"([ :,;=\t])", lines[at])
        words[draw.randrange(len(words))] = draw.choice(TEXTS).encode()
        lines[at] = b"".join(words)
    elif kind == 4:
        lines[at:at] = [lines[at]] * draw.choice((10, 1000))
    else:
        lines[at] = _other_number(draw, lines[at])
    return b"\n".join(lines)


def _other_number(draw: random.Random, line: bytes) -> bytes:
    """A line in which one number is another."""
    found = list(_NUMBER.finditer(line))
    if not found:
        return line + b" " + str(draw.choice(NUMBERS)).encode()
    one = draw.choice(found)
    elsewhere = draw.choice(found).group()
    number = draw.choice((str(draw.choice(NUMBERS)).encode(), elsewhere, b"9" * 5000, b"1e999"))
    return line[: one.start()] + number + line[one.end() :]


def _in_gzip(draw: random.Random, content: bytes) -> bytes:
    return gzip.compress(_in_text(draw, gzip.decompress(content)), 1, mtime=0)


def _in_parquet(draw: random.Random, content: bytes) -> bytes:
    """A table that is sound as Parquet: other values, rows, types, names or null."""
    table = pq.read_table(io.BytesIO(content))
    place = draw.randrange(table.num_columns)
    field, column = table.schema.field(place), table.column(place)
    kind, is_told = draw.randrange(_KINDS_OF_TABLES), False
    if kind == 0 and table.num_rows:  # rows in another order, twice, or gone
        rows = [draw.randrange(table.num_rows) for _ in range(table.num_rows)]
        table = table.take(draw.choice((rows, sorted(rows), rows[:1], rows + rows)))
    elif kind == 1:
        table = table.drop_columns([field.name])
    elif kind == 2:
        name = draw.choice((*TEXTS[:5], *table.column_names))
        table = table.rename_columns(
            [name if k == place else each for k, each in enumerate(table.column_names)]
        )
    elif kind == 3:
        other = draw.choice((pa.int8(), pa.int64(), pa.float64(), pa.string(), pa.uint64()))
        table = table.set_column(place, field.name, column.cast(other, safe=False))
    elif kind == 4:
        table = table.append_column(draw.choice(TEXTS) or "x", column)
    elif kind != _FOOTERS and table.num_rows:
        values = column.to_pylist()
        first = draw.randrange(len(values))
        last = draw.choice((first + 1, len(values)))
        number = _fitting(draw, field.type, values)
        values[first:last] = [number] * (last - first)
        refers = field.name in _REFERRING and isinstance(number, int) and abs(number) > _FAR
        is_told = refers or (number is None and not field.nullable)
        field = field.with_nullable(nullable=True)
        table = table.set_column(place, field, pa.array(values, field.type))
    target = io.BytesIO()
    pq.write_table(table, target, row_group_size=draw.choice((None, 1, 7)))
    content = target.getvalue()
    if kind == _FOOTERS:
        length = int.from_bytes(content[-8:-4], "little")
        footer = bytearray(content[-8 - length : -8])
        at_random(draw, footer, bytes(footer))
        tail = struct.pack("<I", len(footer)) + b"PAR1"
        content = content[: -8 - length] + footer + tail
    return Unbelievable(content) if is_told else content


def _fitting(draw: random.Random, kind: pa.DataType, values: list[Any]) -> object:
    """A value for a column: null, of another row, or an end of what its type holds."""
    which = draw.randrange(4)
    if which == 0:
        return None
    if which == 1:
        return draw.choice(values)
    if pa.types.is_integer(kind):
        most = (1 << kind.bit_width - 1) - 1
        return draw.choice(
            [number for number in (*NUMBERS, most) if -most - 1 <= number <= most]
        )
    if pa.types.is_floating(kind):
        return draw.choice((float("nan"), float("inf"), -1.0, 1e308))
    if pa.types.is_list(kind):
        return draw.choice(([], [-1], [0, 0], [1 << 30], list(range(1000))))
    return draw.choice(TEXTS) if pa.types.is_string(kind) else None


def _in_json(draw: random.Random, content: bytes) -> bytes:
    document = json.loads(content)
    if draw.randrange(8) == 0:
        return draw.choice(
            (b"[" * 100_000, b"1" * 5000, b'{"a":' * 5000, b"null", b"[]", b"{}")
        )
    holder, key = draw.choice(list(_places(document)))
    if draw.randrange(5) == 0:
        del holder[key]
    else:
        holder[key] = draw.choice(
            (
                *NUMBERS,
                *TEXTS,
                0.5,
                1e300,
                float("inf"),
                None,
                True,
                [],
                {},
                [[]] * 100,
                holder[key],
            )
        )
    return json.dumps(document).encode()


def _places(document: Any) -> Iterator[tuple[Any, Any]]:
    """Where in a document a value stands, the whole one left out."""
    inner = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in list(inner):
        yield document, key
        if isinstance(value, (dict, list)):
            yield from _places(value)


def _in_toml(draw: random.Random, content: bytes) -> bytes:
    tomllib.loads(content.decode())
    kind = draw.randrange(12)
    ahead = {
        0: ".".join(["a"] * 40_000) + " = 1",
        1: "a = " + "[" * 10_000,
        2: "a = " + "9" * 5000,
        3: "[" + ".".join(["facts"] * 2000) + "]",
        4: "a = " + "{b = " * 3000,
    }.get(kind)
    if ahead is not None:
        return ahead.encode() + b"\n" + content
    return _in_text(draw, content)


def _in_cube(draw: random.Random, content: bytes) -> bytes:
    """The members of a profile, one of them changed, or one more or less."""
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        members = [(each, archive.extractfile(each)) for each in archive if each.isfile()]
        files = [(each.name, held.read()) for each, held in members if held]
    at = draw.randrange(len(files))
    name, inner = files[at]
    kind = draw.randrange(8)
    if kind == 0:
        del files[at]
    elif kind == 1:
        files.append(draw.choice(files))
    elif kind == 2:
        files[at] = (draw.choice(("../up", "/abs", "a" * 120, "1.data", "anchor.xml")), inner)
    else:
        anchor = next((k for k, (each, _) in enumerate(files) if each == "anchor.xml"), at)
        at = draw.choice((at, anchor, anchor))
        name, inner = files[at]
        if name.endswith(".xml"):
            files[at] = (name, _in_xml(draw, inner))
        else:
            changed = bytearray(inner)
            at_random(draw, changed, inner)
            files[at] = (name, bytes(changed))
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, inner in files:
            about = tarfile.TarInfo(name)
            about.size = len(inner)
            archive.addfile(about, io.BytesIO(inner))
    return target.getvalue()


def _in_xml(draw: random.Random, content: bytes) -> bytes:
    kind = draw.randrange(6)
    tags = list(re.finditer(rb"<[^?!][^>]*>", content))
    if kind == 0:
        return b'<!DOCTYPE a [<!ENTITY b "bbbb">]>' + content
    if kind == 1 and tags:
        one = draw.choice(tags)
        return content[: one.start()] + content[one.end() :]
    if kind == 2 and tags:
        one = draw.choice(tags)
        many = one.group() * draw.choice((1, 100, 10_000))
        return content[: one.start()] + many + content[one.start() :]
    if kind == 3:
        return re.sub(
            rb">[^<]+<", b">" + draw.choice(TEXTS[2:]).encode() + b"<", content, count=1
        )
    return _other_number(draw, content)


def _in_raw(draw: random.Random, content: bytes) -> bytes:
    """Records of the recorder, of a file in which threads stand apart or together."""
    border = HEADER_BYTES if content.startswith(MAGIC) else TAIL.itemsize
    if not content.startswith((MAGIC, TAIL_MAGIC)):  # windows of a process that was killed
        border = 0
    head = content[:border]
    records = [
        content[at : at + _RAW_RECORD] for at in range(border, len(content), _RAW_RECORD)
    ]
    if not records:
        return content
    if head and draw.randrange(8) == 0:
        place = draw.choice(range(8, min(48, border), 4))
        return head[:place] + _integer(draw, 4) + head[place + 4 :] + b"".join(records)
    heads = [at for at, each in enumerate(records) if _kind_of(each) == _THREAD]
    if heads and draw.randrange(3) == 0:
        return _in_pieces(draw, head, records, heads)
    if draw.randrange(8) == 0:
        return _without_operation(draw, head, records)
    at, to = draw.randrange(len(records)), draw.randrange(len(records))
    kind = draw.randrange(7)
    if kind == 0:
        records.insert(to, records[at])
    elif kind == 1:
        del records[at]
    elif kind == 2:
        records[at], records[to] = records[to], records[at]
    else:
        first, length = draw.choice(_RAW_FIELDS)
        value = draw.choice((_integer(draw, length), records[to][first : first + length]))
        records[at] = _with(records[at], first, value)
    return head + b"".join(records)


def _kind_of(record: bytes) -> int:
    return int.from_bytes(record[8:10], "little")


def _with(record: bytes, first: int, value: bytes) -> bytes:
    return record[:first] + value + record[first + len(value) :]


def _in_pieces(
    draw: random.Random, head: bytes, records: list[bytes], heads: list[int]
) -> bytes:
    """Pieces of threads: another number, place or birth, one more, less or elsewhere."""
    which = draw.randrange(len(heads))
    at, end = heads[which], [*heads[1:], len(records)][which]
    kind = draw.randrange(6)
    if kind == 0:
        number = draw.choice((_integer(draw, 4), records[draw.choice(heads)][12:16]))
        records[at] = _with(records[at], 12, number)
    elif kind == 1:
        records[at] = _with(records[at], 16, _integer(draw, 8))
    elif kind == 2:
        records[at:at] = records[at:end]
    elif kind == 3:
        del records[at : draw.choice((at + 1, end))]
    elif kind == 4:
        records = records[:at] + records[end:] + records[at:end]
    else:
        events = [int.from_bytes(each[:8], "little") for each in records[at:end]
                  if _kind_of(each) in (_ENTER, _LEAVE)]  # fmt: skip
        if events:  # it is born after what it did
            late = max(events) + draw.choice((1, 10**9))
            records[at] = _with(records[at], 0, late.to_bytes(8, "little"))
            is_alone = sum(records[each][12:16] == records[at][12:16] for each in heads) == 1
            return (
                Unbelievable(head + b"".join(records)) if is_alone else head + b"".join(records)
            )
    return head + b"".join(records)


def _without_operation(draw: random.Random, head: bytes, records: list[bytes]) -> bytes:
    """A call of an operation that there is not."""
    calls = [at for at, each in enumerate(records) if _kind_of(each) in (_ENTER, _LEAVE)]
    if not calls:
        return head + b"".join(records)
    at = draw.choice(calls)
    number = draw.randrange(_OPERATIONS, 1 << 16).to_bytes(2, "little")
    records[at] = _with(records[at], 10, number)
    return Unbelievable(head + b"".join(records))


def _integer(draw: random.Random, length: int) -> bytes:
    return (draw.choice(NUMBERS) & (1 << 8 * length) - 1).to_bytes(length, "little")


def _in_otf2(draw: random.Random, content: bytes) -> bytes:
    """A number of the archive, as it is compressed there, is another."""
    at = draw.randrange(len(content))
    number = draw.choice(NUMBERS) & (1 << 64) - 1
    length = (number.bit_length() + 7) // 8
    coded = bytes([length]) + number.to_bytes(length, "little")
    if draw.randrange(4) == 0:
        coded = b"\xff"
    return content[:at] + coded + content[at + draw.choice((1, len(coded))) :]


_LIES: Final[dict[str, Callable[[random.Random, bytes], bytes]]] = {
    ".parquet": _in_parquet, ".prv.gz": _in_gzip, ".json": _in_json, ".toml": _in_toml,
    ".sig": _in_toml, ".cubex": _in_cube, ".raw": _in_raw, ".tail": _in_raw, ".def": _in_otf2,
    ".evt": _in_otf2, ".otf2": _in_otf2, ".prv": _in_text, ".pcf": _in_text, ".row": _in_text,
    ".csv": _in_text, ".txt": _in_text,
}  # fmt: skip
