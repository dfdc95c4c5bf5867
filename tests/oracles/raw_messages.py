"""A slow, obvious twin of the reader: an MPI of queues that runs a program step by step.

Messages wait in the receiver's queue until a posted receive takes them; who gets what is
decided here, by the rules of MPI, and the raw files say only what a recorder would see.
"""

from __future__ import annotations

import raw_files
from raw_files import ANY_SOURCE, ANY_TAG

COMMS = {1: 0, 2: 1}


class Message:
    """What is sent: who, to whom, tag, size, and what is learnt of its end."""

    def __init__(self, source, to, tag, size, *, comm, send_call, request):
        self.source, self.to, self.tag, self.size, self.comm = source, to, tag, size, comm
        self.send_call, self.send_request = send_call, request
        self.send_done_call = None if request else send_call
        self.taken = False


class Posted:
    """A receive that waits."""

    def __init__(self, source, tag, comm, call, request):
        self.source, self.tag, self.comm = source, tag, comm
        self.call, self.request = call, request
        self.message = None

    def fits(self, message):
        return (
            self.comm == message.comm
            and self.source in {ANY_SOURCE, message.source}
            and self.tag in {ANY_TAG, message.tag}
        )


class Machine:
    """Ranks that send and receive, and the run that a recorder would leave."""

    def __init__(self, ranks):
        self.run = raw_files.Run(ranks)
        for rank in range(ranks):
            self.run[rank].add(raw_files.communicator(2, 1, list(range(ranks))))
        self.ranks = ranks
        self.now = 0
        self.calls = [0] * ranks
        self.posted = [[] for _ in range(ranks)]
        self.arrived = [[] for _ in range(ranks)]
        self.sending = [{} for _ in range(ranks)]
        self.received = []
        self.next_request = 1

    def call(self, rank, operation, *details):
        """One call of `rank`; gives its number."""
        self.run[rank].call(operation, self.now, self.now + 2, *details)
        self.now += 1
        self.calls[rank] += 1
        return self.calls[rank] - 1

    def request(self):
        self.next_request += 1
        return self.next_request

    def send(self, rank, to, tag, size, comm, *, immediate):
        request = self.request() if immediate else 0
        part = raw_files.send(to, tag=tag, size=size, comm=comm, request=request)
        call = self.call(rank, "MPI_Isend" if immediate else "MPI_Send", part)
        message = self._sent(rank, to, tag, size, comm=comm, call=call, request=request)
        if request:
            self.sending[rank][request] = message

    def _sent(self, rank, to, tag, size, *, comm, call, request):
        message = Message(rank, to, tag, size, comm=comm, send_call=call, request=request)
        waiting = [p for p in self.posted[to] if p.message is None and p.fits(message)]
        if waiting:
            waiting[0].message = message
        else:
            self.arrived[to].append(message)
        return message

    def post(self, rank, source, tag, comm, *, persistent):
        request = self.request()
        part = raw_files.post(source, tag=tag, comm=comm, size=1 << 20, request=request)
        call = self.call(rank, "MPI_Start" if persistent else "MPI_Irecv", part)
        posted = Posted(source, tag, comm, call, request)
        self._take(rank, posted)
        self.posted[rank].append(posted)

    def _take(self, rank, posted):
        fitting = [m for m in self.arrived[rank] if posted.fits(m)]
        if fitting:
            posted.message = fitting[0]
            self.arrived[rank].remove(fitting[0])

    def receive(self, rank, source, tag, comm):
        """Receive at once, if something is there that fits; nothing happens if not."""
        posted = Posted(source, tag, comm, self.calls[rank], 0)
        self._take(rank, posted)
        if posted.message is not None:
            part = self._learnt(posted)
            self._finish(rank, posted, self.call(rank, "MPI_Recv", part))

    def exchange(self, rank, to, tag, size, *, source, receive_tag, comm):
        """Send, and receive what is there already, in one call."""
        posted = Posted(source, receive_tag, comm, self.calls[rank], 0)
        self._take(rank, posted)
        parts = [raw_files.send(to, tag=tag, size=size, comm=comm)]
        if posted.message is None:
            call = self.call(rank, "MPI_Send", *parts)
        else:
            call = self.call(rank, "MPI_Sendrecv", *parts, self._learnt(posted))
            self._finish(rank, posted, call)
        self._sent(rank, to, tag, size, comm=comm, call=call, request=0)

    def complete(self, rank, order):
        """Complete some of what can be completed, in one call, in any order."""
        ready = [p for p in self.posted[rank] if p.message is not None]
        ready += list(self.sending[rank].values())
        chosen = [ready[k % len(ready)] for k in order] if ready else []
        chosen = list(dict.fromkeys(chosen))
        parts = [
            self._learnt(one) if isinstance(one, Posted) else raw_files.sent(one.send_request)
            for one in chosen
        ]
        if not chosen:
            return
        call = self.call(rank, "MPI_Waitsome", *parts)
        for one in chosen:
            if isinstance(one, Posted):
                self.posted[rank].remove(one)
                self._finish(rank, one, call)
            else:
                del self.sending[rank][one.send_request]
                one.send_done_call = call

    def finish(self):
        """Complete whatever can be completed, as a program does that ends in order."""
        for rank in range(self.ranks):
            self.complete(rank, range(1000))

    @staticmethod
    def _learnt(posted):
        m = posted.message
        return raw_files.receive(
            m.source, tag=m.tag, size=m.size, comm=m.comm, request=posted.request
        )

    def _finish(self, rank, posted, call):
        m = posted.message
        self.received.append((m, rank, posted.call, call))

    def expected(self):
        """Give the rows of `messages` that must come back, sorted by sender."""
        rows = [
            (
                m.source,
                m.send_call,
                m.send_done_call,
                rank,
                post,
                call,
                COMMS[m.comm],
                m.tag,
                m.size,
            )
            for m, rank, post, call in self.received
        ]
        return sorted(rows, key=repr)


COLUMNS = (
    "sender_location", "send_call", "send_done_call", "receiver_location", "post_call",
    "receive_call", "communicator", "tag", "received_bytes",
)  # fmt: skip


def rows_of(messages):
    """Give a table of messages in the form of :meth:`Machine.expected`."""
    columns = [messages[name].to_pylist() for name in COLUMNS]
    return sorted(zip(*columns, strict=True), key=repr)
