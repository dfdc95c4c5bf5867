"""Raw files written by Python: what a recorder would leave behind, record by record.

::

    run = Run(ranks=2)
    run[0].call("MPI_Send", 10, 20, send(1, tag=5, size=8))
    run[1].call("MPI_Recv", 5, 25, receive(0, tag=5, size=8))
    trace = run.read(folder)
"""

from __future__ import annotations

import struct
from pathlib import Path

from burstline.formats.raw import read as read_raw
from burstline.operations import CODES

NUMBERS = {code + 1: name for name, code in CODES.items()}
WORLD, SELF, OTHER = 1, 2, 3
ANY_SOURCE, ANY_TAG = -2, -1
_HEADER = struct.Struct("<8s6I2Q256s1024s256s")
_RECORD = struct.Struct("<QHHIQQ")
HEADER_BYTES = 4096
FIRST_PID = 100


def record(kind, *, op=0, time=0, a=0, b=0, c=0):
    return _RECORD.pack(time, kind, op, a & 0xFFFFFFFF, b & (2**64 - 1), c & (2**64 - 1))


def header(pid=1, thread=0, *, start=0, host="node", version=1, magic=b"BURSTRAW", size=32):
    head = _HEADER.pack(
        magic, version, HEADER_BYTES, size, pid, thread, 0, start, 1_000_000 + start,
        host.encode(), b"/bin/app", b"Some MPI 4.1",
    )  # fmt: skip
    return head.ljust(HEADER_BYTES, b"\0")


def text(content):
    parts = []
    for begin in range(0, len(content), 28):
        piece = content[begin : begin + 28].ljust(28, b"\0")
        time, a, b, c = struct.unpack("<QIQQ", piece)
        parts.append(record(36, op=len(content[begin : begin + 28]), time=time, a=a, b=b, c=c))
    return b"".join(parts)


def named(kind, number, name, **values):
    return record(kind, a=number, c=len(name.encode()), **values) + text(name.encode())


def communicator(number, name, members, kind=OTHER):
    data = record(31, op=kind, a=number, b=name, c=len(members))
    for begin in range(0, len(members), 7):
        row = [*members[begin : begin + 7], *[-3] * 7][:7]
        a, t0, t1, b0, b1, c0, c1 = row
        packed = struct.pack("<2iHHi4i", t0, t1, 32, 0, a, b0, b1, c0, c1)
        data += packed
    return data


def stack(number, *frames):
    words = [module << 48 | offset for module, offset in frames]
    data = record(33, a=number, c=len(words))
    for begin in range(0, len(words), 2):
        b, c = [*words[begin : begin + 2], 0][:2]
        data += record(34, b=b, c=c)
    return data


def _place(tag, comm):
    return (tag & 0xFFFFFFFF) | comm << 32


def send(to, *, tag=0, size=0, comm=1, request=0):
    return record(12, time=request, a=to, b=_place(tag, comm), c=size)


def sent(request):
    return record(13, time=request)


def post(source, *, tag=0, size=0, comm=1, request=0):
    return record(14, time=request, a=source, b=_place(tag, comm), c=size)


def receive(source, *, tag=0, size=0, comm=1, request=0):
    return record(15, time=request, a=source, b=_place(tag, comm), c=size)


def collective(*, comm=1, sent=0, received=0, root=False, request=0):
    return record(10, op=int(root), time=request, a=comm, b=sent, c=received)


def collective_done(request):
    return record(18, time=request)


def root(rank, comm=1):
    return record(11, a=comm, b=rank)


class Thread:
    """One thread: its records, in order."""

    def __init__(self, pid, thread, *, start=0, host="node"):
        self.pid, self.thread, self.start, self.host = pid, thread, start, host
        self.data = b""

    def add(self, *parts):
        self.data += b"".join(parts)
        return self

    def enter(self, operation, time, *, stack=0, counters=None):
        number = operation if isinstance(operation, int) else CODES[operation] + 1
        return self.add(record(1, op=number, time=time, a=stack), _counters(counters))

    def leave(self, operation, time, *, error=0, counters=None):
        number = operation if isinstance(operation, int) else CODES[operation] + 1
        return self.add(record(2, op=number, time=time, a=error), _counters(counters))

    def call(self, operation, enter, leave, *details, stack=0, before=None, after=None):
        self.enter(operation, enter, stack=stack, counters=before)
        self.add(*details)
        return self.leave(operation, leave, counters=after)

    def end(self, time, how=1):
        return self.add(record(74, op=how, time=time))

    @property
    def name(self):
        return f"p-{self.host}-{self.pid}.t-{self.thread}.raw"

    @property
    def content(self):
        head = header(self.pid, self.thread, start=self.start, host=self.host)
        return head + self.data + bytes(64)


def _counters(values):
    if values is None:
        return b""
    pairs = [[*values[k : k + 2], 0][:2] for k in range(0, len(values), 2)]
    return b"".join(record(3, a=2 * k, b=b, c=c) for k, (b, c) in enumerate(pairs))


class Run:
    """A run with one thread per rank, and more on request."""

    def __init__(self, ranks, *, hosts=None, start=0):
        hosts = hosts or ["node"] * ranks
        self.threads = [
            Thread(FIRST_PID + rank, 0, host=hosts[rank], start=start) for rank in range(ranks)
        ]
        self.others = []
        for rank, thread in enumerate(self.threads):
            thread.add(record(30, a=rank, b=ranks))
            thread.add(communicator(1, 0, list(range(ranks)), WORLD))

    def __getitem__(self, rank):
        return self.threads[rank]

    def thread(self, rank, number):
        main = self.threads[rank]
        self.others.append(Thread(main.pid, number, host=main.host, start=main.start))
        return self.others[-1]

    def end(self, time):
        for thread in self.threads:
            thread.end(time)
        return self

    def write(self, folder):
        for thread in [*self.threads, *self.others]:
            (Path(folder) / thread.name).write_bytes(thread.content)
        return Path(folder)

    def read(self, folder, **options):
        return read_raw(self.write(folder), operations=NUMBERS, **options)


def defects(trace):
    return dict(
        zip(trace.defects["kind"].to_pylist(), trace.defects["count"].to_pylist(), strict=True)
    )


def column(trace, table, name):
    return trace.table(table)[name].to_pylist()
