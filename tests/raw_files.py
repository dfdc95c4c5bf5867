"""Raw files written by Python: what a recorder would leave behind, record by record.

::

    run = Run(ranks=2)
    run[0].call("MPI_Send", 10, 20, send(1, tag=5, size=8))
    run[1].call("MPI_Recv", 5, 25, receive(0, tag=5, size=8))
    trace = run.read(folder)

or all at once: what a recorder would have left behind of a trace is ``run_of(trace)``.
"""

from __future__ import annotations

import struct
from pathlib import Path

from burstline.formats.raw import read as read_raw
from burstline.formats.raw.events.openmp import Op
from burstline.model import CODES

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


class Resolver:
    """Resolves places as a function of module and offset does; `asked` are the modules."""

    def __init__(self, frames):
        self._frames, self.asked = frames, []

    def resolve(self, module, offsets):
        self.asked.append((module, list(offsets)))
        return {offset: self._frames(module, offset) for offset in offsets}

    def functions(self, *_):
        return {}


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


def omp(op, ns, *, a=0, b=0, c=0):
    return record(57, op=op, time=ns + 1, a=a, b=b, c=c)


_WORK = ("", "loop", "sections", "single", "", "master", "", "taskloop")  # numbers of omp.h
_SYNC = ("", "barrier", "implicit_barrier", "taskwait", "taskgroup")
_LOCKS = ("", "lock", "critical", "atomic", "ordered")
_HALVES = {"send": send, "post": post, "receive": receive}


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


def piece(thread, before, records):
    """Give records of a thread, of which `before` stand elsewhere."""
    return record(4, time=1, a=thread, b=before) + records


def process_file(content, *, pid=FIRST_PID, host="node", start=1):
    """Give the name and bytes of the file of a process, in whose pieces its threads stand."""
    return f"p-{host}-{pid}.raw", header(pid, 0, start=start, host=host, version=2) + content


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


def run_of(trace):
    """Give the run whose files hold a trace: one job, of calls and what is told in them.

    Paths are addresses of modules. A parallel region is where its team forks and joins.
    """
    places = trace.locations.to_pylist()
    masters = [row for row in places if row["thread"] == 0]
    run = Run(len(masters), start=1)
    ranks = [row["rank"] for row in places]
    threads = [
        run[row["rank"]] if row["thread"] == 0 else run.thread(row["rank"], row["thread"])
        for row in places
    ]
    for row in trace.communicators.to_pylist()[1:]:
        number = row["communicator"] + 1
        for rank in row["members"]:
            run[rank].add(communicator(number, number, row["members"]))
    events = [[] for _ in places]  # of each location: (ordinal, time, records)
    for add in (
        _add_calls,
        _add_messages,
        _add_collectives,
        _add_regions,
        _add_openmp,
        _add_gaps,
        _add_samples,
    ):
        add(trace, events, ranks)
    _add_counters(trace, events, run)
    for thread, mine in zip(threads, events, strict=True):
        for *_, part in sorted(mine, key=lambda event: event[:2]):
            thread.add(part)
    for thread, row in zip(threads, places, strict=True):
        thread.end(row["died_ns"] + 1)
    return run


def _add_calls(trace, events, _):
    for row in trace.calls.to_pylist():
        mine, op = events[row["location"]], CODES[row["operation"]] + 1
        mine.append((row["enter_seq"], 0, record(1, op=op, time=row["enter_ns"] + 1)))
        mine.append((row["leave_seq"], 0, record(2, op=op, time=row["leave_ns"] + 1)))
        told = row["enter_seq"], 1
        if row["operation"] in {"MPI_Put", "MPI_Get"}:
            size = row["sent_bytes"] or row["received_bytes"]
            kind = 1 + (row["operation"] == "MPI_Get")
            mine.append((*told, record(20, op=kind, a=row["peer"], b=1 << 32, c=size)))
        if row["operation"] == "MPI_Probe":
            mine.append((*told, record(21, a=row["peer"], b=_place(row["tag"], 1))))


def _add_messages(trace, events, ranks):
    for row in trace.messages.to_pylist():
        sender, receiver = row["sender_location"], row["receiver_location"]
        about = {"tag": row["tag"], "comm": row["communicator"] + 1}
        request = row["send_request"] or 0
        sending = send(ranks[receiver], size=row["sent_bytes"], request=request, **about)
        events[sender].append((row["send_seq"], 1, sending))
        if row["send_done_seq"] is not None and request:
            events[sender].append((row["send_done_seq"], 1, sent(request)))
        request = row["receive_request"] or 0
        if request:
            # a wildcard or not: it is complete with whom it was received from
            source = ANY_SOURCE if row["tag"] % 2 else ranks[sender]
            posting = post(source, request=request, **about)
            events[receiver].append((row["post_seq"], 1, posting))
        receiving = receive(ranks[sender], size=row["received_bytes"], request=request, **about)
        events[receiver].append((row["receive_seq"], 1, receiving))
    for row in trace.half_messages.to_pylist():
        request = row["request"] or 0
        tag = ANY_TAG if row["tag"] is None else row["tag"]
        about = {"tag": tag, "size": row["bytes"] or 0, "request": request}
        peer = ANY_SOURCE if row["peer"] is None else row["peer"]
        half = (
            sent(request) if row["kind"] == "send_done" else _HALVES[row["kind"]](peer, **about)
        )
        events[row["location"]].append((row["seq"], 1, half))


def _add_collectives(trace, events, ranks):
    instances = trace.collectives.to_pylist()
    for row in trace.collective_members.to_pylist():
        mine, instance = events[row["location"]], instances[row["collective"]]
        comm = (instance["communicator"] or 0) + 1
        is_root = instance["root"] == ranks[row["location"]]
        request = row["end_seq"] if row["done_call"] != row["call"] else 0
        about = {"sent": row["sent_bytes"], "received": row["received_bytes"]}
        part = collective(comm=comm, root=is_root, request=request, **about)
        if instance["root"] is not None:
            part += root(instance["root"], comm)
        mine.append((row["begin_seq"], 1, part))
        if request:
            mine.append((row["end_seq"], 1, collective_done(request)))


def _add_regions(trace, events, _):
    names = trace.region_defs["name"].to_pylist()
    paradigms = trace.region_defs["paradigm"].to_pylist()
    for location, mine in enumerate(events):
        if trace.regions.num_rows:
            told = b"".join(named(38, k + 1, name) for k, name in enumerate(names))
            mine.append((-1, 0, told))
        for row in trace.regions.to_pylist():
            if row["location"] == location and paradigms[row["region"]] != "openmp":
                for kind, side in ((51, "enter"), (52, "leave")):
                    moment = row[f"{side}_ns"] + 1
                    part = record(kind, time=moment, a=row["region"] + 1)
                    mine.append((row[f"{side}_seq"], 0, part))


def _add_openmp(trace, events, _):
    defined = trace.region_defs.to_pylist()
    threads = trace.locations["thread"].to_pylist()
    sizes = trace.teams["threads"].to_pylist()
    inside = [[] for _ in events]  # of each location: regions of locks
    for row in trace.teams.to_pylist():
        mine, about = events[row["fork_location"]], {"a": row["team"] + 1}
        parent = 0 if row["parent"] is None else row["parent"] + 1
        fork = omp(Op.FORK, row["fork_ns"], b=row["threads"], c=parent << 32, **about)
        mine.append((row["fork_seq"], 0, fork))
        mine.append((row["join_seq"], 0, omp(Op.JOIN, row["join_ns"], **about)))
    for row in trace.regions.to_pylist():
        role, location = defined[row["region"]]["role"], row["location"]
        if defined[row["region"]]["paradigm"] != "openmp" or role == "parallel":
            continue
        if role in _LOCKS:
            inside[location].append((row, _LOCKS.index(role)))
            continue
        number, a = threads[location], 0 if row["team"] is None else row["team"] + 1
        if role == "team":
            first = last = {"b": number, "c": sizes[row["team"]]}
            begin = Op.TEAM_BEGIN
        elif role in _WORK:
            kind, own = _WORK.index(role) << 32, row["iterations"]
            own = -1 if own is None else own
            first, last, begin = {"c": kind}, {"b": own, "c": kind | 2}, Op.WORK_BEGIN
        else:
            first = last = {"b": _SYNC.index(role)}
            begin = Op.SYNC_BEGIN
        mine = events[location]
        mine.append((row["enter_seq"], 0, omp(begin, row["enter_ns"], a=a, **first)))
        mine.append((row["leave_seq"], 0, omp(begin + 1, row["leave_ns"], a=a, **last)))
    for row in trace.locks.to_pylist():
        mine, lock = events[row["location"]], row["lock"]
        around = [
            (region, kind)
            for region, kind in inside[row["location"]]
            if region["enter_seq"] < row["acquire_seq"] < region["leave_seq"]
        ]
        for region, kind in around[-1:]:
            about = {"b": lock, "c": kind << 32}
            request = omp(Op.LOCK_REQUEST, region["enter_ns"], **about)
            mine.append((region["enter_seq"], 0, request))
            mine.append(
                (row["acquire_seq"], 0, omp(Op.LOCK_ACQUIRED, row["acquire_ns"], **about))
            )
            mine.append(
                (row["release_seq"], 0, omp(Op.LOCK_RELEASED, row["release_ns"], **about))
            )


def _add_gaps(trace, events, _):
    for row in trace.gaps.to_pylist():
        mine = events[row["location"]]
        before = max((seq for seq, at, _ in _timed(trace, row)), default=-1)
        part = record(70, time=row["end_ns"] + 1, b=row["start_ns"] + 1)
        mine.append((before, 2, part))


def _add_samples(trace, events, _):
    """Give each sample behind the calls before it; its path is an address, so unknown."""
    for row in trace.samples.to_pylist():
        mine, time = events[row["location"]], row["time_ns"]
        stamps = [
            (call[f"{side}_seq"], call[f"{side}_ns"])
            for call in trace.calls.to_pylist()
            if call["location"] == row["location"]
            for side in ("enter", "leave")
        ]
        before = max((seq for seq, at in stamps if at <= time), default=-1)
        mine.append((before, 2, record(58, time=time + 1, b=row["periods"])))


def _timed(trace, gap):
    """Give ordinal, time and row of each leave before a gap."""
    for row in trace.calls.to_pylist():
        if row["location"] == gap["location"] and row["leave_ns"] <= gap["start_ns"]:
            yield row["leave_seq"], row["leave_ns"], row


def _add_counters(trace, events, run):
    names = trace.counter_names
    sums = {}
    for thread in run.threads:
        for number, name in enumerate(names):
            thread.add(named(37, number, name))
    for row in trace.readings.to_pylist():
        total = sums.setdefault(row["location"], [0] * len(names))
        for number, name in enumerate(names):
            total[number] += row[name] or 0
        events[row["location"]].append((row["seq"], 0.5, _counters(total)))
