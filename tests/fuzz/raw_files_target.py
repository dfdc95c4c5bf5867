"""Whatever bytes stand in raw files, they are read or refused by name, and keep the schema.

Run by ``make fuzz``; needs atheris. The first byte says what the rest is: a whole file, the
records of two files, or changes to a run that was fine: a place, and the byte that is put
there; two equal places cut the file.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

with atheris.instrument_imports(include=["burstline"]):
    from burstline.errors import FormatError
    from burstline.formats.raw import read as read_raw
    from burstline.model import schema

import raw_files

_CHANGE = 4


def sound_run() -> raw_files.Run:
    """Give a run with every kind of record in it."""
    run = raw_files.Run(2)
    for rank, thread in enumerate(run.threads):
        thread.add(raw_files.named(37, 0, "cpu", op=1), raw_files.named(35, 1, "/bin/app"))
        thread.add(raw_files.stack(1, (1, 16), (1, 32)), raw_files.named(38, 2, "solve"))
        thread.add(raw_files.record(72, time=3, b=4, c=2), raw_files.record(51, time=5, a=2))
        other = 1 - rank
        pair = [raw_files.post(other, request=1), raw_files.send(other, size=8, request=2)]
        thread.call("MPI_Startall", 10, 12, *pair, stack=1, before=[1], after=[2])
        ends = [raw_files.receive(other, size=8, request=1), raw_files.sent(2)]
        thread.call("MPI_Waitall", 15, 20, *ends, raw_files.record(22, b=1, c=2))
        parts = [raw_files.collective(sent=8, root=rank == 0), raw_files.root(0)]
        thread.call("MPI_Bcast", 22, 30, *parts, raw_files.record(56, a=9))
        thread.add(raw_files.record(52, time=31, a=2), raw_files.record(50, time=32, a=7, b=1))
        for op in (1, 3, 5, 6, 7, 8, 9, 10, 11, 4, 2):
            thread.add(raw_files.record(57, op=op, time=32 + op, a=1, b=1, c=1))
        thread.add(raw_files.record(70, time=50, b=48, c=1), raw_files.record(71, time=51, a=1))
        thread.add(raw_files.record(73, b=5, c=6))
    return run.end(60)


_SOUND = [thread.content for thread in sound_run().threads]


def files_of(data: bytes) -> list[bytes]:
    """Give the files that some input stands for."""
    which, rest = data[:1], data[1:]
    if which == b"f":
        return [rest]
    if which == b"r":
        half = len(rest) // 2
        heads = [raw_files.header(number) for number in range(2)]
        first = [raw_files.record(30, a=number, b=2) for number in range(2)]
        return [heads[0] + first[0] + rest[:half], heads[1] + first[1] + rest[half:]]
    contents = [bytearray(content) for content in _SOUND]
    for begin in range(0, len(rest) - _CHANGE + 1, _CHANGE):
        number, low, high, value = rest[begin : begin + _CHANGE]
        content = contents[number % 2]
        place = raw_files.HEADER_BYTES * (number % 4 > 1) + low + 256 * high
        if low == high:
            del content[place:]
        elif place < len(content):
            content[place] = value
    return [bytes(content) for content in contents]


def read(data: bytes) -> None:
    """Read what the input stands for, whole and in small groups: one trace or one refusal."""
    with tempfile.TemporaryDirectory() as name:
        for number, content in enumerate(files_of(data)):
            (Path(name) / f"p-node-{number}.t-0.raw").write_bytes(content)
        whole, parts = _read(Path(name), 1 << 20), _read(Path(name), 1)
    if whole != parts:
        raise AssertionError("groups of processes show in the trace")


def _read(folder: Path, most: int) -> object:
    try:
        trace = read_raw(folder, operations=raw_files.NUMBERS, records_at_once=most, threads=1)
    except FormatError as error:
        return str(error)
    names = [name for name in schema.TABLES if name in trace]
    for name in names:
        schema.check(name, trace.table(name))
    return {name: trace.table(name).to_pylist() for name in names}


if __name__ == "__main__":
    atheris.Setup(sys.argv, read)
    atheris.Fuzz()
