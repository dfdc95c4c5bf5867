"""The text form's events: what happens on one location, from statements to rows.

::

    Statement ─ take ─► calls · regions · halves of messages · parts of collectives · …

Each statement that is an event takes the next ordinal of its location, its ``seq``.
Halves are joined later, when all locations are known.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from burstline import schema
from burstline.formats.text.options import ATTRIBUTE, HALF_COLUMNS, OTHER_COLUMNS
from burstline.formats.text.reading.location import Span
from burstline.formats.text.statements import (
    LARGEST,
    SMALLEST,
    large,
    maybe_large,
    maybe_small,
    signed,
    small,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from burstline.formats.text.places import Row
    from burstline.formats.text.reading.location import Location
    from burstline.formats.text.statements import Statement

_SPAN = re.compile(r"([+-]?[0-9_]+)\.\.([+-]?[0-9_]+)")
_LAST_SEQ: Final = 1 << 62


def take(here: Location, statement: Statement) -> None:
    """Add the event, gap or skip of one statement."""
    first = statement.word("a time")
    span = _SPAN.fullmatch(first)
    if first == "skip":
        here.seq += statement.number("a number of events", 1, _LAST_SEQ - here.seq)
        statement.end()
        return
    if span:
        _gap(here, statement, span[1], span[2])
        return
    here.now_ns = statement.integer(first, max(here.now_ns, SMALLEST + 1), LARGEST)
    verb = statement.word("an event")
    if verb not in _EVENTS:
        raise statement.error(f"one of {', '.join(_EVENTS)}", verb)
    _add_reading(here, statement)
    _EVENTS[verb](here, statement)
    here.first_ns = here.now_ns if here.first_ns is None else here.first_ns
    here.seq += 1


def finish(here: Location) -> None:
    """Raise where something was begun and not ended; add receives that were only posted."""
    for begun in here.open:
        raise begun.statement.error(f"a leave of {begun.name} later on")
    for _, statement in here.forks:
        raise statement.error("a join later on")
    for _, statement in [*here.started_parts.values(), *([here.part] if here.part else [])]:
        raise statement.error("an end of this collective later on")
    here.rows.never_completed += here.posted.values()


def _enter(here: Location, statement: Statement) -> None:
    """``enter NAME [option value] …``."""
    name = statement.word("a name")
    if name.startswith("MPI_"):
        given = statement.options(_CALL_OPTIONS)
        _check_path(here, given, statement)
        row = {
            "location": here.location,
            "call": here.calls,
            "operation": here.definitions.operation(name, statement),
        }
        row |= here.stamp("enter") | {"given": given}
        here.calls += 1
        here.rows.calls.append(row)
        here.push(Span(row, ("call",), name, statement))
        return
    given = statement.options(_REGION_OPTIONS)
    _check_path(here, given, statement)
    region = given.pop("def", None)
    if region is None:
        region = here.definitions.region(name)
    elif not isinstance(region, int) or region >= len(here.definitions.regions):
        raise statement.error("a region declared before", str(region))
    if here.definitions.regions[region]["role"] == "team":
        raise statement.error("team begin, for a team", name)
    _open_region(here, region, statement, given)


def _check_path(here: Location, given: Row, statement: Statement) -> None:
    path = given.get("path")
    if path is not None and path >= len(here.definitions.paths):
        raise statement.error("a call path declared before", str(path))


def _open_region(here: Location, region: int, statement: Statement, given: Row) -> Span:
    team = here.team
    definition = here.definitions.regions[region]
    row: Row = {"location": here.location, "row": here.regions, "region": region}
    row |= here.stamp("enter") | {"parent": here.region and here.region["row"]}
    row |= {"call_path": given.get("path"), "iterations": given.get("iterations")}
    row |= {"origin": given.get("origin", "recorded"), "inside": team and team.row}
    row["barrier_ordinal"] = None
    if team and definition["role"] in {"barrier", "implicit_barrier"}:
        row["barrier_ordinal"] = team.barriers
        team.barriers += 1
    here.regions += 1
    here.rows.regions.append(row)
    kinds = ("region", "team") if definition["role"] == "team" else ("region",)
    begun = Span(row, kinds, definition["name"], statement)
    here.push(begun)
    return begun


def _leave(here: Location, statement: Statement) -> None:
    """``leave [NAME]``."""
    _close(here, statement, team=False)


def _close(here: Location, statement: Statement, *, team: bool) -> None:
    if not here.open or ("team" in here.open[-1].kinds) != team:
        raise statement.error("something open to leave" if not team else "an open team")
    begun = here.pop()
    if statement.rest and not team and statement.word("a name") != begun.name:
        raise statement.error(f"a leave of {begun.name}")
    statement.end()
    begun.row |= here.stamp("leave")


def _team(here: Location, statement: Statement) -> None:
    """``team begin C`` and ``team end C``."""
    edge = statement.one_of("begin or end", ("begin", "end"))
    comm = statement.number("a team", SMALLEST + 1, LARGEST)
    if edge == "end":
        if here.team and here.team.row["comm"] != comm:
            raise statement.error(f"the end of team {here.team.row['comm']}")
        _close(here, statement, team=True)
        return
    statement.end()
    row = _open_region(here, here.definitions.team(comm), statement, {}).row
    row["comm"] = comm
    if here.forks and here.forks[-1][0]["comm"] is None:
        here.forks[-1][0]["comm"] = comm


def _fork(here: Location, statement: Statement) -> None:
    """``fork THREADS``."""
    row: Row = {"fork_location": here.location, "threads": statement.number("threads")}
    statement.end()
    row |= here.stamp("fork") | {"comm": None}
    row["inside"] = here.team and here.team.row
    here.forks.append((row, statement))
    here.rows.teams.append(row)


def _join(here: Location, statement: Statement) -> None:
    """``join``."""
    statement.end()
    if not here.forks:
        raise statement.error("a fork before the join")
    row, _ = here.forks.pop()
    row |= here.stamp("join")


def _acquire(here: Location, statement: Statement) -> None:
    """``acquire LOCK [order N]``."""
    row: Row = {"location": here.location, "lock": signed(statement)}
    row["order"] = statement.options({"order": large}).get("order")
    row |= here.stamp("acquire") | {"release_ns": None, "release_seq": None}
    here.acquired.setdefault(row["lock"], []).append(row)
    here.rows.locks.append(row)


def _release(here: Location, statement: Statement) -> None:
    """``release LOCK``."""
    lock = signed(statement)
    statement.end()
    if not here.acquired.get(lock):
        raise statement.error("a lock that was acquired", str(lock))
    here.acquired[lock].pop().update(here.stamp("release"))


def _send(here: Location, statement: Statement) -> None:
    """``send to R [tag T] [bytes N] [comm C] [request Q]``."""
    given = statement.options({"to": small} | _SIDE_OPTIONS)
    row = _side(here, "to", given, statement) | here.stamp("send")
    row |= {"send_call": here.call_number, "within": here.call, "done": None}
    row["statement"] = statement
    _hold(row, here.sending, statement)
    here.rows.sends.append(row)


def _side(here: Location, partner: str, given: Row, statement: Statement) -> Row:
    if partner not in given:
        raise statement.error(f"{partner} and a rank")
    return {
        "location": here.location,
        "partner": given[partner],
        "tag": given.get("tag", 0),
        "bytes": given.get("bytes", 0),
        "communicator": given.get("comm"),
        "request": given.get("request"),
    }


def _hold(row: Row, table: dict[int, Row], statement: Statement) -> None:
    request = row["request"]
    if request is None:
        return
    if request in table:
        raise statement.error("a request that is not in use", str(request))
    table[request] = row


def _sent(here: Location, statement: Statement) -> None:
    """``sent request Q``."""
    statement.keyword("request")
    request = statement.number("a request", SMALLEST + 1, LARGEST)
    statement.end()
    if request not in here.sending:
        raise statement.error("the request of a send under way", str(request))
    row = here.sending.pop(request)
    row["done"] = here.stamp("send_done") | {"send_done_call": here.call_number}


def _post(here: Location, statement: Statement) -> None:
    """``post request Q``."""
    statement.keyword("request")
    request = statement.number("a request", SMALLEST + 1, LARGEST)
    statement.end()
    row = here.stamp("post") | {"post_call": here.call_number, "request": request}
    row |= {"location": here.location, "statement": statement}
    _hold(row, here.posted, statement)


def _receive(here: Location, statement: Statement) -> None:
    """``receive from R [tag T] [bytes N] [comm C] [request Q]``."""
    given = statement.options({"from": small} | _SIDE_OPTIONS)
    row = _side(here, "from", given, statement) | here.stamp("receive")
    call, request = here.call, row["request"]
    if request is None:
        entered = call and (call["enter_ns"], call["enter_seq"])
        row["post_ns"], row["post_seq"] = entered or (here.now_ns, here.seq)
        row["post_call"] = here.call_number
    elif request in here.posted:
        posted = here.posted.pop(request)
        row |= {key: posted[key] for key in ("post_ns", "post_seq", "post_call")}
    else:
        raise statement.error("the request of a posted receive", str(request))
    row |= {"receive_call": here.call_number, "statement": statement}
    here.rows.receives.append(row)


def _begin(here: Location, statement: Statement) -> None:
    """``begin [request Q]``."""
    given = statement.options({"request": signed})
    call = here.call
    if call is None:
        raise statement.error("an MPI call around the collective")
    row = {"location": here.location, "call": call["call"], "operation": call["operation"]}
    row |= here.stamp("begin")
    request: Any = given.get("request")
    if request is None and here.part:
        raise statement.error("the end of the collective under way")
    if request in here.started_parts:
        raise statement.error("a request that is not in use", str(request))
    if request is None:
        here.part = row, statement
    else:
        here.started_parts[request] = row, statement


def _end(here: Location, statement: Statement) -> None:
    """``end [comm C] [root R] [sent N] [received N] [request Q]``."""
    given = statement.options(_PART_OPTIONS)
    request: Any = given.get("request")
    begun = here.part if request is None else here.started_parts.pop(request, None)
    if begun is None:
        raise statement.error("a collective under way")
    if request is None:
        here.part = None
    row = begun[0] | here.stamp("end") | {"done_call": here.call_number}
    row |= {"communicator": given.get("comm"), "root": given.get("root")}
    row |= {"sent_bytes": given.get("sent", 0), "received_bytes": given.get("received", 0)}
    here.rows.parts.append(row | {"statement": statement, "request": request})


def _half(here: Location, statement: Statement) -> None:
    """``half KIND [comm C] [peer P] [tag T] [bytes N] [request Q]``."""
    row: Row = {"location": here.location, "seq": here.seq, "time_ns": here.now_ns}
    row["kind"] = statement.one_of("a kind", schema.HALF_KINDS)
    row |= {"call": here.call_number, "statement": statement}
    given = statement.options(_HALF_OPTIONS)
    row |= {column: given.get(name) for name, column in HALF_COLUMNS.items()}
    here.rows.half_messages.append(row)


def _gap(here: Location, statement: Statement, start: str, end: str) -> None:
    start_ns = statement.integer(start, SMALLEST + 1, LARGEST)
    statement.keyword("gap")
    row: Row = {"location": here.location, "start_ns": start_ns}
    row["end_ns"] = statement.integer(end, start_ns, LARGEST)
    row["kind"] = statement.one_of("a kind", schema.GAP_KINDS)
    statement.end()
    here.rows.gaps.append(row)


def _add_reading(here: Location, statement: Statement) -> None:
    if not statement.readings:
        return
    unknown = statement.readings.keys() - set(here.definitions.counter_names)
    if unknown:
        raise statement.error("a counter declared before", min(unknown))
    row = {"location": here.location, "seq": here.seq, "time_ns": here.now_ns}
    here.rows.readings.append(row | statement.readings)


def _read(here: Location, statement: Statement) -> None:
    """``read COUNTER=N …``: a reading that belongs to no other event."""
    statement.end()
    if not statement.readings:
        raise statement.error("counters that were read", f"read at {here.now_ns}")


def _tell(here: Location, statement: Statement) -> None:
    """``tell KIND [name N] [type T] [value V] [text S] [comm C]``.

    An attribute belongs to the event that follows, and takes its ordinal.
    """
    row: Row = {"location": here.location, "seq": here.seq, "time_ns": here.now_ns}
    row["kind"] = statement.one_of("a kind", schema.OTHER_EVENT_KINDS)
    given = statement.options(_OTHER_OPTIONS)
    row |= {column: given.get(name) for name, column in OTHER_COLUMNS.items()}
    here.rows.other_events.append(row | {"statement": statement})
    if row["kind"] == ATTRIBUTE:
        if statement.readings:
            raise statement.error("counters at the event that the attribute belongs to")
        here.seq -= 1


def _value_type(statement: Statement) -> str:
    return statement.one_of("a type", schema.VALUE_TYPES)


_CALL_OPTIONS: Final = {
    "comm": maybe_small,
    "peer": maybe_small,
    "tag": maybe_small,
    "root": maybe_small,
    "sent": maybe_large,
    "received": maybe_large,
    "path": small,
}
_REGION_OPTIONS: Final = {
    "path": small,
    "iterations": large,
    "origin": lambda statement: statement.one_of("an origin", schema.ORIGINS),
    "def": small,
}
_HALF_OPTIONS: Final = {
    "comm": small,
    "peer": small,
    "tag": small,
    "bytes": large,
    "request": signed,
}
_SIDE_OPTIONS: Final = {"tag": small, "bytes": large, "comm": small, "request": signed}
_PART_OPTIONS: Final = {
    "comm": small,
    "root": small,
    "sent": large,
    "received": large,
    "request": signed,
}
_OTHER_OPTIONS: Final[dict[str, Callable[[Statement], int | str]]] = {
    "name": text,
    "type": _value_type,
    "value": signed,
    "text": text,
    "comm": small,
}
_EVENTS: Final[dict[str, Callable[[Location, Statement], None]]] = {
    "enter": _enter,
    "leave": _leave,
    "fork": _fork,
    "join": _join,
    "team": _team,
    "acquire": _acquire,
    "release": _release,
    "send": _send,
    "sent": _sent,
    "post": _post,
    "receive": _receive,
    "half": _half,
    "begin": _begin,
    "end": _end,
    "read": _read,
    "tell": _tell,
}
