"""For tests, ours and those of plug-ins: traces from text, traces at random, equality.

::

    text ─ trace_of ─► Trace          traces() ─► many small traces, for Hypothesis
    assert_same_trace(found, expected)

Nothing here is imported by the package itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from burstline import schema
from burstline.errors import ParameterError, printable
from burstline.formats.text import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from hypothesis.strategies import SearchStrategy

    from burstline.trace import Trace

    Draw = Callable[[SearchStrategy[Any]], Any]

_SHOWN: Final = 400


def trace_of(text: str) -> Trace:
    """Build a trace from its text form, see ``help(burstline.formats.text)``.

    Parameters
    ----------
    text : str
        What happens, a few events a line.

    Returns
    -------
    Trace
        In memory, without raw tables.

    Raises
    ------
    FormatError
        If the text breaks the rules of its form; it names the line.

    Examples
    --------
    >>> trace_of("ranks 1 | 0 | 5 enter MPI_Barrier | 9 leave").calls["leave_ns"].to_pylist()
    [9]
    """
    return parse(text)


def assert_same_trace(
    found: Trace, expected: Trace, *, tables: Collection[str] | None = None
) -> None:
    """Raise AssertionError unless two traces hold the same rows.

    Parameters
    ----------
    found, expected : Trace
        The two traces.
    tables : collection of str, optional
        Compare only these tables; default all, and whether raw tables are kept.

    Raises
    ------
    AssertionError
        Names the first table, column and row that differ, and shows the row.
    ParameterError
        If `tables` names a table that does not exist.

    Notes
    -----
    Values are compared, not their storage: dictionaries in another order or columns in
    other chunks are no difference. A missing table is an empty one.

    Examples
    --------
    >>> one, other = (trace_of(f"ranks 1 | 0 | {t} enter MPI_Init | 9 leave") for t in (5, 6))
    >>> assert_same_trace(one, other, tables=["calls"])
    Traceback (most recent call last):
    AssertionError: calls.enter_ns: row 0 is 5, expected 6 (1 of 1 rows differ)
    ...
    """
    unknown = set(tables or ()) - set(schema.TABLES)
    if unknown:
        raise ParameterError(f"no table called {', '.join(sorted(unknown))} in a trace")
    if tables is None and found.has_raw != expected.has_raw:
        raise AssertionError(f"has_raw is {found.has_raw}, expected {expected.has_raw}")
    for name in schema.TABLES:
        if tables is None or name in tables:
            _compare(name, found.table(name), expected.table(name))


def _compare(name: str, found: pa.Table, expected: pa.Table) -> None:
    if found.column_names != expected.column_names:
        raise AssertionError(
            f"{name}: columns {found.column_names}, expected {expected.column_names}"
        )
    if found.num_rows != expected.num_rows:
        raise AssertionError(
            f"{name}: {found.num_rows} rows, expected {expected.num_rows}\n"
            f"found    {_shown(found)}\nexpected {_shown(expected)}"
        )
    for column in found.column_names:
        ours, theirs = _plain(found[column]), _plain(expected[column])
        if ours.equals(theirs):
            continue
        pairs = list(zip(ours.to_pylist(), theirs.to_pylist(), strict=True))
        wrong = [row for row, (one, other) in enumerate(pairs) if one != other]
        if not wrong:
            raise AssertionError(f"{name}.{column}: type {ours.type}, expected {theirs.type}")
        one, other = pairs[wrong[0]]
        raise AssertionError(
            f"{name}.{column}: row {wrong[0]} is {one!r}, expected {other!r} "
            f"({len(wrong)} of {len(pairs)} rows differ)\n"
            f"found    {_shown(found.slice(wrong[0], 1))}\n"
            f"expected {_shown(expected.slice(wrong[0], 1))}"
        )


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column


def _shown(table: pa.Table) -> str:
    return printable(str(table.slice(0, 4).to_pylist()), limit=_SHOWN)


def traces(*, most_ranks: int = 3, most_steps: int = 12) -> SearchStrategy[Trace]:
    """Give a Hypothesis strategy for small traces with a bit of everything.

    Messages of every kind, some of which lack a half; collectives on the world and on a
    group, some without a member; nested regions, OpenMP teams, locks, counters, gaps.
    Nobody receives before the other has sent, and time never runs backwards.

    Parameters
    ----------
    most_ranks, most_steps : int
        Bounds of what is generated.

    Returns
    -------
    SearchStrategy of Trace
        Needs Hypothesis, which burstline itself does not.

    See Also
    --------
    texts : The same traces in the text form.
    """
    return texts(most_ranks=most_ranks, most_steps=most_steps).map(parse)


def texts(*, most_ranks: int = 3, most_steps: int = 12) -> SearchStrategy[str]:
    """Give a Hypothesis strategy for traces in the text form; see :func:`traces`."""
    from hypothesis import strategies as st  # noqa: PLC0415 -- only tests have it

    @st.composite
    def story(draw: Draw) -> str:
        ranks = draw(st.integers(1, most_ranks))
        threads = draw(st.integers(1, 2))
        told = _Story(draw, st, ranks, threads)
        for step in draw(st.lists(st.sampled_from(_STEPS), max_size=most_steps)):
            step(told)
        return told.end()

    return story()


@dataclass(slots=True)
class _Where:
    """One location: its lines, its clock, the regions it is in, and its open requests."""

    now_ns: int = 0
    depth: int = 0
    lines: list[str] = field(default_factory=list)


class _Story:
    """A random run of a parallel program, told step by step."""

    def __init__(self, draw: Draw, st: Any, ranks: int, threads: int) -> None:  # noqa: ANN401 -- the module
        self.draw, self.st, self.ranks, self.threads = draw, st, ranks, threads
        self.at = {(r, t): _Where() for r in range(ranks) for t in range(threads)}
        self.requests = 0
        for where in self.at.values():
            where.now_ns = self.number(0, 3)

    def number(self, lowest: int, highest: int) -> int:
        return int(self.draw(self.st.integers(lowest, highest)))

    def one_of(self, *values: str) -> str:
        return str(self.draw(self.st.sampled_from(values)))

    def request(self) -> str:
        self.requests += 1
        return f" request {self.requests}"

    def say(self, rank: int, *events: str, thread: int = 0, not_before: int = 0) -> int:
        """Let things happen one after the other; give the time of the last."""
        where = self.at[rank, thread]
        where.now_ns = max(where.now_ns, not_before)
        for event in events:
            where.now_ns += self.number(0, 4)
            read = self.number(0, 3)
            counters = (f" ins={where.now_ns}" * (read > 1)) + (" cyc=7" * (read == 3))
            where.lines.append(f"{where.now_ns} {event}{counters}")
        return where.now_ns

    def message(self) -> None:
        source, destination = self.number(0, self.ranks - 1), self.number(0, self.ranks - 1)
        what = f"tag {self.number(0, 1)} bytes {self.number(0, 9)}"
        send, comm = f"send to {destination} {what}", " comm 1" * self.number(0, 1)
        sent_ns = self._send(source, send + comm, self.number(0, 3))
        if self.number(0, 7):
            receive = f"receive from {source} {what}{comm}"
            self._receive(destination, receive, self.number(0, 1), sent_ns)

    def _send(self, rank: int, send: str, how: int) -> int:
        if how == 0:
            return self.say(rank, "enter MPI_Send", send, "leave")
        request = self.request()
        sent_ns = self.say(rank, "enter MPI_Isend", send + request, "leave")
        if how == 1:
            self.say(rank, "enter MPI_Wait", f"sent{request}", "leave")
        elif how == 2:
            self.say(rank, f"enter MPI_Test path {self.number(0, 1)}", "leave")
        return sent_ns

    def _receive(self, rank: int, receive: str, how: int, sent_ns: int) -> None:
        if how == 0:
            self.say(rank, "enter MPI_Recv")
            self.say(rank, receive, "leave", not_before=sent_ns)
            return
        request = self.request()
        self.say(rank, "enter MPI_Irecv", f"post{request}", "leave", "enter MPI_Waitall")
        self.say(rank, receive + request, "leave", not_before=sent_ns)

    def lone_receive(self) -> None:
        self.say(self.number(0, self.ranks - 1), "enter MPI_Recv", "receive from 0", "leave")

    def collective(self) -> None:
        operation = self.one_of("Barrier", "Bcast", "Allreduce", "Ibarrier")
        on_group = self.number(0, 1)
        members = [rank for rank in range(self.ranks) if not on_group or rank != 1]
        if self.number(0, 5) == 0:
            members = members[1:]
        comm = " comm 1" * on_group + " root 0" * (operation == "Bcast")
        end = f"end sent {self.number(0, 8)} received {self.number(0, 8)}{comm}"
        begun_ns = []
        request = self.request() if operation == "Ibarrier" else ""
        for rank in members:
            begun_ns.append(self.say(rank, f"enter MPI_{operation}", f"begin{request}"))
            if request:
                self.say(rank, "leave", "enter MPI_Wait")
        for rank in members:
            self.say(rank, end + request, "leave", not_before=max(begun_ns))

    def enter(self) -> None:
        rank = self.number(0, self.ranks - 1)
        name = self.one_of("main", '"a | b#\\"\\u001b"', "solve path 1", "solve iterations 3")
        self.say(rank, f"enter {name}")
        self.at[rank, 0].depth += 1

    def leave(self) -> None:
        rank = self.number(0, self.ranks - 1)
        if self.at[rank, 0].depth:
            self.say(rank, "leave")
            self.at[rank, 0].depth -= 1

    def team(self) -> None:
        rank = self.number(0, self.ranks - 1)
        forked_ns = self.say(rank, f"fork {self.threads}")
        ends_ns = [
            self.say(
                rank,
                f"team begin {rank}",
                'enter "!$omp for"',
                "leave",
                "enter barrier",
                "leave",
                f"team end {rank}",
                thread=thread,
                not_before=forked_ns,
            )
            for thread in range(self.threads)
        ]
        self.say(rank, "join", not_before=max(ends_ns))

    def lock(self) -> None:
        rank, thread = self.number(0, self.ranks - 1), self.number(0, self.threads - 1)
        self.say(rank, "acquire 5", thread=thread)
        if self.number(0, 3):
            self.say(rank, "release 5", thread=thread)

    def call(self) -> None:
        options = self.one_of("", " peer 7 sent 3", " received 0 comm 0", " path 0", " root 2")
        name = self.one_of("Comm_rank", "Finalize", "Only_here")
        self.say(self.number(0, self.ranks - 1), f"enter MPI_{name}{options}", "leave")

    def gap(self) -> None:
        rank = self.number(0, self.ranks - 1)
        where = self.at[rank, 0]
        start_ns = where.now_ns
        where.now_ns += self.number(0, 9)
        where.lines.append(f"{start_ns}..{where.now_ns} gap {self.one_of('flush', 'cut')}")

    def reading(self) -> None:
        rank, thread = self.number(0, self.ranks - 1), self.number(0, self.threads - 1)
        self.say(rank, "read cyc=1", thread=thread)
        self.at[rank, thread].lines.append("skip 2")

    def tell(self) -> None:
        rank, thread = self.number(0, self.ranks - 1), self.number(0, self.threads - 1)
        told = self.one_of(
            "program_begin name a.out text '-n 4'",
            "program_end value 3",
            "communicator_created comm 0",
            "thread_begun value 2",
            "parameter name size type uint64 value -1",
            "parameter name solver type string text multigrid",
            "attribute name id type int32 value 7",
        )
        where = self.at[rank, thread]
        where.lines.append(f"{where.now_ns} tell {told}".replace("'", '"'))
        where.lines.append(f"{where.now_ns} read cyc=1")

    def end(self) -> str:
        group = " ".join(str(rank) for rank in reversed(range(self.ranks)) if rank != 1)
        lines = [f"ranks {self.ranks} threads {self.threads}", _DECLARED]
        lines.append(f"communicator 1 members {group}")
        for (rank, thread), where in self.at.items():
            for _ in range(where.depth):
                self.say(rank, "leave", thread=thread)
            lines += [f"{rank}.{thread}", *where.lines]
        return "\n".join(lines)


_DECLARED: Final = """\
counter ins
counter cyc unit cycles type 42000059
path 0 main file main.c line 3
path 1 solve under 0
region barrier paradigm openmp role barrier
location 0 node "a node" cpu 1"""
_STEPS: Final[tuple[Callable[[_Story], None], ...]] = (
    _Story.message,
    _Story.message,
    _Story.message,
    _Story.lone_receive,
    _Story.collective,
    _Story.collective,
    _Story.enter,
    _Story.leave,
    _Story.team,
    _Story.lock,
    _Story.call,
    _Story.gap,
    _Story.reading,
    _Story.tell,
)
