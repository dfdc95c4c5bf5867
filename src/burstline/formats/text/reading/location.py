"""One location while its events are read: what is open there, and the rows of its events.

Each statement that is an event takes the next ordinal of its location, its ``seq``.
Halves are joined later, when all locations are known.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from burstline.formats.text.forms import ATTRIBUTE, FORMS, MOMENTS, WORLD, Row
from burstline.formats.text.reading.definitions import Declarations
from burstline.formats.text.statements import LARGEST, SMALLEST, Statement
from burstline.model import LAST_SEQ

_SPAN = re.compile(r"([+-]?[0-9_]+)\.\.([+-]?[0-9_]+)")
_VERBS: Final = (
    *("enter", "leave", "fork", "join", "team", "acquire", "release", "send", "sent", "post"),
    *("receive", "half", "begin", "end", "read", "tell"),
)
"""Events: each is a method of a location."""

Rows: TypeAlias = "defaultdict[str, list[Row]]"
"""Rows of all locations by table; of messages as ``sends``, ``receives`` and ``posts``."""


@dataclass(slots=True)
class Span:
    """Something entered and not yet left: a call, a region or a team."""

    row: Row
    kinds: tuple[str, ...]
    name: str
    statement: Statement
    barriers: int = 0


@dataclass(slots=True)
class OpenLocation:
    """One location while its events are read: its row, declarations, and where rows go.

    `now_ns` and `seq` are of the event being read, `first_ns` of the first event.
    """

    location: int
    definitions: Declarations
    rows: Rows
    first_ns: int | None = None
    now_ns: int = SMALLEST
    seq: int = 0
    calls: int = 0
    regions: int = 0
    open: list[Span] = field(default_factory=list)
    around: dict[str, list[Span]] = field(
        default_factory=lambda: {"call": [], "region": [], "team": []}
    )
    forks: list[Row] = field(default_factory=list)
    part: Row | None = None
    sending: dict[int, Row] = field(default_factory=dict)
    posted: dict[int, Row] = field(default_factory=dict)
    started_parts: dict[int, Row] = field(default_factory=dict)
    acquired: defaultdict[int, list[Row]] = field(default_factory=lambda: defaultdict(list))

    def take(self, statement: Statement) -> None:
        """Add the event, gap, sample or skip of one statement."""
        first = statement.word("a time")
        span = _SPAN.fullmatch(first)
        if first == "skip":
            self.seq += statement.number("a number of events", 1, LAST_SEQ - self.seq)
            statement.end()
            return
        if span:
            self._gap(statement, span[1], span[2])
            return
        if statement.rest[:1] == ["sample"]:
            self._sample(statement, first)
            return
        self.now_ns = statement.integer(first, max(self.now_ns, SMALLEST + 1), LARGEST)
        verb = statement.word("an event")
        if verb not in _VERBS:
            raise statement.error(f"one of {', '.join(_VERBS)}", verb)
        if statement.readings:
            reading = self.definitions.reading(statement)
            self.rows["readings"].append(self._moment("read") | reading)
        getattr(self, f"_{verb}")(statement)
        self.first_ns = self.now_ns if self.first_ns is None else self.first_ns
        self.seq += 1

    def finish(self) -> None:
        """Raise where something was begun and not ended; add receives only posted."""
        for begun in self.open:
            raise begun.statement.error(f"a leave of {begun.name} later on")
        for row in self.forks:
            raise row["statement"].error("a join later on")
        for row in [*self.started_parts.values(), *([self.part] if self.part else [])]:
            raise row["statement"].error("an end of this collective later on")
        self.rows["posts"] += self.posted.values()

    def _inner(self, kind: str) -> Span | None:
        """The innermost open call, region (teams included) or team."""
        return self.around[kind][-1] if self.around[kind] else None

    def _moment(self, verb: str) -> Row:
        """The columns that say where and when this event is, and in which call."""
        moment, call = MOMENTS[verb], self._inner("call")
        row = {"location": self.location, moment.where: self.location}
        row |= {moment.time_ns: self.now_ns, moment.seq: self.seq}
        return row | ({moment.call: call and call.row["call"]} if moment.call else {})

    def _row(self, verb: str, statement: Statement, **usual: object) -> Row:
        return FORMS[verb].whole(statement, **usual) | self._moment(verb)

    def _push(self, begun: Span) -> None:
        for kind in begun.kinds:
            self.around[kind].append(begun)
        self.open.append(begun)

    def _enter(self, statement: Statement) -> None:
        if statement.rest and statement.rest[0].startswith("MPI_"):
            given = FORMS["call"].read(statement)
            name = self.definitions.operation(given["operation"], statement)
            call = self._moment("enter") | {"call": self.calls, "given": given}
            call |= {"operation": name, "statement": statement}
            self.calls += 1
            self.rows["calls"].append(call)
            self._push(Span(call, ("call",), name, statement))
            return
        name = statement.word("a name")
        row = self._row("enter", statement, region=None)
        if row["region"] is None:
            row["region"] = self.definitions.region(name)
        defined = self.definitions.rows["region_defs"]
        if row["region"] >= len(defined):
            raise statement.error("a region declared before", str(row["region"]))
        if defined[row["region"]]["role"] == "team":
            raise statement.error("team begin, for a team", name)
        self._open_region(row)

    def _open_region(self, row: Row) -> None:
        team, parent = self._inner("team"), self._inner("region")
        definition = self.definitions.rows["region_defs"][row["region"]]
        row |= {"row": self.regions, "barrier_ordinal": None}
        row |= {"parent": parent and parent.row["row"], "inside": team and team.row}
        if team and definition["role"] in {"barrier", "implicit_barrier"}:
            row["barrier_ordinal"] = team.barriers
            team.barriers += 1
        self.regions += 1
        self.rows["regions"].append(row)
        kinds = ("region", "team") if definition["role"] == "team" else ("region",)
        self._push(Span(row, kinds, definition["name"], row["statement"]))

    def _leave(self, statement: Statement) -> None:
        begun = self._close(statement, team=False)
        if statement.rest and statement.word("a name") != begun.name:
            raise statement.error(f"a leave of {begun.name}")
        statement.end()

    def _close(self, statement: Statement, *, team: bool) -> Span:
        if not self.open or ("team" in self.open[-1].kinds) != team:
            raise statement.error("something open to leave" if not team else "an open team")
        begun = self.open.pop()
        for kind in begun.kinds:
            self.around[kind].pop()
        begun.row |= self._moment("leave")
        return begun

    def _team(self, statement: Statement) -> None:
        word = statement.word("begin or end")
        edge = statement.choice("begin or end", word, ("begin", "end"))
        comm = statement.number("a team", SMALLEST + 1, LARGEST)
        if edge == "end":
            team = self._inner("team")
            if team and team.row["comm"] != comm:
                raise statement.error(f"the end of team {team.row['comm']}")
            statement.end()
            self._close(statement, team=True)
            return
        region = self.definitions.team(comm)
        self._open_region(self._row("enter", statement) | {"region": region, "comm": comm})
        if self.forks and self.forks[-1]["comm"] is None:
            self.forks[-1]["comm"] = comm

    def _fork(self, statement: Statement) -> None:
        team = self._inner("team")
        row = self._row("fork", statement) | {"comm": None, "inside": team and team.row}
        self.forks.append(row)
        self.rows["teams"].append(row)

    def _join(self, statement: Statement) -> None:
        statement.end()
        if not self.forks:
            raise statement.error("a fork before the join")
        self.forks.pop().update(self._moment("join"))

    def _acquire(self, statement: Statement) -> None:
        row = self._row("acquire", statement, order=None)  # which follows from time
        self.acquired[row["lock"]].append(row)
        self.rows["locks"].append(row)

    def _release(self, statement: Statement) -> None:
        lock = statement.number("a number", SMALLEST + 1, LARGEST)
        statement.end()
        if not self.acquired[lock]:
            raise statement.error("a lock that was acquired", str(lock))
        self.acquired[lock].pop().update(self._moment("release"))

    def _send(self, statement: Statement) -> None:
        call, row = self._inner("call"), self._side("send", "to", statement)
        row["within"] = call and call.row
        self._hold(row, row["send_request"], self.sending)
        self.rows["sends"].append(row)

    def _side(self, verb: str, partner: str, statement: Statement) -> Row:
        row = self._row(verb, statement, communicator=WORLD)
        if row[partner] is None:
            raise statement.error(f"{partner} and a rank")
        return row

    def _hold(self, row: Row, request: int | None, table: dict[int, Row]) -> None:
        if request is None:
            return
        if request in table:
            raise row["statement"].error("a request that is not in use", str(request))
        table[request] = row

    def _request(self, statement: Statement) -> int:
        statement.keyword("request")
        request = statement.number("a request", SMALLEST + 1, LARGEST)
        statement.end()
        return request

    def _sent(self, statement: Statement) -> None:
        request = self._request(statement)
        if request not in self.sending:
            raise statement.error("the request of a send under way", str(request))
        self.sending.pop(request).update(self._moment("sent"))

    def _post(self, statement: Statement) -> None:
        request = self._request(statement)
        row = self._moment("post") | {"request": request, "statement": statement}
        self._hold(row, request, self.posted)

    def _receive(self, statement: Statement) -> None:
        row = self._side("receive", "from", statement)
        call, request = self._inner("call"), row["receive_request"]
        posted = self._moment("post")
        if request is not None and request not in self.posted:
            raise statement.error("the request of a posted receive", str(request))
        if request is not None:
            posted = self.posted.pop(request)
        elif call:
            posted |= {"post_ns": call.row["enter_ns"], "post_seq": call.row["enter_seq"]}
        row |= {key: posted[key] for key in ("post_ns", "post_seq", "post_call")}
        self.rows["receives"].append(row)

    def _begin(self, statement: Statement) -> None:
        row, call = self._row("begin", statement), self._inner("call")
        if call is None:
            raise statement.error("an MPI call around the collective")
        row["operation"] = call.row["operation"]
        if row["request"] is None and self.part:
            raise statement.error("the end of the collective under way")
        if row["request"] is None:
            self.part = row
        else:
            self._hold(row, row["request"], self.started_parts)

    def _end(self, statement: Statement) -> None:
        row = self._row("end", statement, communicator=WORLD)
        request = row["request"]
        begun = self.part if request is None else self.started_parts.pop(request, None)
        if begun is None:
            raise statement.error("a collective under way")
        if request is None:
            self.part = None
        self.rows["parts"].append(begun | row)

    def _half(self, statement: Statement) -> None:
        self.rows["half_messages"].append(self._row("half", statement))

    def _gap(self, statement: Statement, start: str, end: str) -> None:
        start_ns = statement.integer(start, SMALLEST + 1, LARGEST)
        statement.keyword("gap")
        row = {"location": self.location, "start_ns": start_ns}
        row["end_ns"] = statement.integer(end, start_ns, LARGEST)
        self.rows["gaps"].append(FORMS["gap"].whole(statement) | row)

    def _sample(self, statement: Statement, time: str) -> None:
        """Add a sample, which is no event: it may stand anywhere and has no ordinal."""
        time_ns = statement.integer(time, SMALLEST + 1, LARGEST)
        statement.keyword("sample")
        row = {"location": self.location, "time_ns": time_ns}
        self.rows["samples"].append(FORMS["sample"].whole(statement) | row)

    def _read(self, statement: Statement) -> None:
        statement.end()
        if not statement.readings:
            raise statement.error("counters that were read", f"read at {self.now_ns}")

    def _tell(self, statement: Statement) -> None:
        row = self._row("tell", statement)
        self.rows["other_events"].append(row)
        if row["kind"] == ATTRIBUTE:  # has the ordinal of the event that follows
            if statement.readings:
                raise statement.error("counters at the event that the attribute belongs to")
            self.seq -= 1
