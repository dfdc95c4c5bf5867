"""Halves: what one side of a message or a member of a collective records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

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
    "begin": begin,
    "end": end,
}
