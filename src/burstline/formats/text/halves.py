"""Halves: what one side of a message or a member of a collective records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from burstline import schema
from burstline.formats.text.statements import LARGEST, SMALLEST, large, signed, small

if TYPE_CHECKING:
    from collections.abc import Callable

    from burstline.formats.text.definitions import Row
    from burstline.formats.text.happening import Happening
    from burstline.formats.text.statements import Statement


def send(here: Happening, statement: Statement) -> None:
    """``send to R [tag T] [bytes N] [comm C] [request Q]``."""
    given = statement.options({"to": small} | _HALF_OPTIONS)
    row = _half(here, "to", given, statement) | here.stamp("send")
    row |= {"send_call": here.call, "done": None, "statement": statement}
    _hold(row, here.sending, statement)
    here.rows.sends.append(row)


def _half(here: Happening, partner: str, given: Row, statement: Statement) -> Row:
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


def sent(here: Happening, statement: Statement) -> None:
    """``sent request Q``."""
    statement.keyword("request")
    request = statement.number("a request", SMALLEST + 1, LARGEST)
    statement.end()
    if request not in here.sending:
        raise statement.error("the request of a send under way", str(request))
    row = here.sending.pop(request)
    row["done"] = here.stamp("send_done") | {"send_done_call": here.call}


def post(here: Happening, statement: Statement) -> None:
    """``post request Q``."""
    statement.keyword("request")
    request = statement.number("a request", SMALLEST + 1, LARGEST)
    statement.end()
    row = here.stamp("post") | {"post_call": here.call, "request": request}
    row |= {"location": here.location, "statement": statement}
    _hold(row, here.posted, statement)


def receive(here: Happening, statement: Statement) -> None:
    """``receive from R [tag T] [bytes N] [comm C] [request Q]``."""
    given = statement.options({"from": small} | _HALF_OPTIONS)
    row = _half(here, "from", given, statement) | here.stamp("receive")
    call, request = here.call, row["request"]
    if request is None:
        entered = call and (call["enter_ns"], call["enter_seq"])
        row["post_ns"], row["post_seq"] = entered or (here.now_ns, here.seq)
        row["post_call"] = call
    elif request in here.posted:
        posted = here.posted.pop(request)
        row |= {key: posted[key] for key in ("post_ns", "post_seq", "post_call")}
    else:
        raise statement.error("the request of a posted receive", str(request))
    here.rows.receives.append(row | {"receive_call": call, "statement": statement})


def begin(here: Happening, statement: Statement) -> None:
    """``begin [request Q]``."""
    given = statement.options({"request": signed})
    call = here.call
    if call is None:
        raise statement.error("an MPI call around the collective")
    row = {"location": here.location, "call": call} | here.stamp("begin")
    request: Any = given.get("request")
    if request is None and here.part:
        raise statement.error("the end of the collective under way")
    if request in here.taking_part:
        raise statement.error("a request that is not in use", str(request))
    if request is None:
        here.part = row, statement
    else:
        here.taking_part[request] = row, statement


def end(here: Happening, statement: Statement) -> None:
    """``end [comm C] [root R] [sent N] [received N] [request Q]``."""
    given = statement.options(_PART_OPTIONS)
    request: Any = given.get("request")
    begun = here.part if request is None else here.taking_part.pop(request, None)
    if begun is None:
        raise statement.error("a collective under way")
    if request is None:
        here.part = None
    row = begun[0] | here.stamp("end") | {"done_call": here.call}
    row |= {"communicator": given.get("comm"), "root": given.get("root")}
    row |= {"sent_bytes": given.get("sent", 0), "received_bytes": given.get("received", 0)}
    here.rows.parts.append(row | {"statement": statement, "request": request})


def half(here: Happening, statement: Statement) -> None:
    """``half KIND [comm C] [peer P] [tag T] [bytes N] [request Q]``."""
    row = _lone(here.location, statement.one_of("a kind", schema.HALF_KINDS), here.call)
    row |= {"seq": here.seq, "time_ns": here.now_ns, "statement": statement}
    given = statement.options(_LONE_OPTIONS)
    here.rows.halves.append(row | {LONE_COLUMNS[name]: value for name, value in given.items()})


def _lone(location: int, kind: str, call: Row | None) -> Row:
    row: Row = dict.fromkeys(LONE_COLUMNS.values())
    return row | {
        "location": location,
        "kind": kind,
        "call": call and call["call"],
    }


def halves_of_send(row: Row) -> list[Row]:
    """Give the events of a send that nobody receives."""
    names = ("communicator", "tag", "bytes", "request")
    about = {name: row[name] for name in names} | {"peer": row["partner"]}
    stamp = {"seq": row["send_seq"], "time_ns": row["send_ns"]}
    found = [_lone(row["location"], "send", row["send_call"]) | about | stamp]
    if row["done"] is not None:
        done = row["done"]
        stamp = {"seq": done["send_done_seq"], "time_ns": done["send_done_ns"]}
        one = _lone(row["location"], "send_done", done["send_done_call"])
        found.append(one | {"request": row["request"]} | stamp)
    return found


def halves_of_receive(row: Row) -> list[Row]:
    """Give the events of a receive that nobody sends to, or that never completes."""
    found = []
    if row["request"] is not None:
        stamp = {"seq": row["post_seq"], "time_ns": row["post_ns"]}
        one = _lone(row["location"], "post", row["post_call"])
        found.append(one | {"request": row["request"]} | stamp)
    if "receive_seq" in row:
        names = ("communicator", "tag", "bytes", "request")
        about = {name: row[name] for name in names} | {"peer": row["partner"]}
        stamp = {"seq": row["receive_seq"], "time_ns": row["receive_ns"]}
        found.append(_lone(row["location"], "receive", row["receive_call"]) | about | stamp)
    return found


LONE_COLUMNS: Final = {
    "comm": "communicator",
    "peer": "peer",
    "tag": "tag",
    "bytes": "bytes",
    "request": "request",
}
"""Columns of `half_messages` by the name of the option that sets them."""

_LONE_OPTIONS: Final = {
    "comm": small,
    "peer": small,
    "tag": small,
    "bytes": large,
    "request": signed,
}
_HALF_OPTIONS: Final = {"tag": small, "bytes": large, "comm": small, "request": signed}
_PART_OPTIONS: Final = {
    "comm": small,
    "root": small,
    "sent": large,
    "received": large,
    "request": signed,
}
EVENTS: Final[dict[str, Callable[[Happening, Statement], None]]] = {
    "send": send,
    "sent": sent,
    "post": post,
    "receive": receive,
    "half": half,
    "begin": begin,
    "end": end,
}
