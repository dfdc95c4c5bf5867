"""What encloses other events: calls, regions, teams; and what is held: locks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from burstline import schema
from burstline.formats.text.happening import Open
from burstline.formats.text.statements import (
    LARGEST,
    SMALLEST,
    large,
    maybe_large,
    maybe_small,
    signed,
    small,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from burstline.formats.text.definitions import Row
    from burstline.formats.text.happening import Happening
    from burstline.formats.text.statements import Statement


def enter(here: Happening, statement: Statement) -> None:
    """``enter NAME [option value] …``."""
    name = statement.word("a name")
    if name.startswith("MPI_"):
        given = statement.options(_CALL_OPTIONS)
        _check_path(here, given, statement)
        row = {
            "location": here.location,
            "call": here.calls,
            "operation": here.defined.operation(name, statement),
        }
        row |= here.stamp("enter") | {"given": given}
        here.calls += 1
        here.rows.calls.append(row)
        here.push(Open(row, ("call",), name, statement))
        return
    given = statement.options(_REGION_OPTIONS)
    _check_path(here, given, statement)
    region = given.pop("def", None)
    if region is None:
        region = here.defined.region(name)
    elif not isinstance(region, int) or region >= len(here.defined.regions):
        raise statement.error("a region declared before", str(region))
    if here.defined.regions[region]["role"] == "team":
        raise statement.error("team begin, for a team", name)
    _open_region(here, region, statement, given)


def _check_path(here: Happening, given: Row, statement: Statement) -> None:
    path = given.get("path")
    if path is not None and path >= len(here.defined.paths):
        raise statement.error("a call path declared before", str(path))


def _open_region(here: Happening, region: int, statement: Statement, given: Row) -> Open:
    team = here.team
    definition = here.defined.regions[region]
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
    begun = Open(row, kinds, definition["name"], statement)
    here.push(begun)
    return begun


def leave(here: Happening, statement: Statement) -> None:
    """``leave [NAME]``."""
    _close(here, statement, team=False)


def _close(here: Happening, statement: Statement, *, team: bool) -> None:
    if not here.open or ("team" in here.open[-1].kinds) != team:
        raise statement.error("something open to leave" if not team else "an open team")
    begun = here.pop()
    if statement.rest and not team and statement.word("a name") != begun.name:
        raise statement.error(f"a leave of {begun.name}")
    statement.end()
    begun.row |= here.stamp("leave")


def team_edge(here: Happening, statement: Statement) -> None:
    """``team begin C`` and ``team end C``."""
    edge = statement.one_of("begin or end", ("begin", "end"))
    comm = statement.number("a team", SMALLEST + 1, LARGEST)
    if edge == "end":
        if here.team and here.team.row["comm"] != comm:
            raise statement.error(f"the end of team {here.team.row['comm']}")
        _close(here, statement, team=True)
        return
    statement.end()
    row = _open_region(here, here.defined.team(comm), statement, {}).row
    row["comm"] = comm
    if here.forks and here.forks[-1][0]["comm"] is None:
        here.forks[-1][0]["comm"] = comm


def fork(here: Happening, statement: Statement) -> None:
    """``fork THREADS``."""
    row: Row = {"fork_location": here.location, "threads": statement.number("threads")}
    statement.end()
    row |= here.stamp("fork") | {"comm": None}
    row["inside"] = here.team and here.team.row
    here.forks.append((row, statement))
    here.rows.teams.append(row)


def join(here: Happening, statement: Statement) -> None:
    """``join``."""
    statement.end()
    if not here.forks:
        raise statement.error("a fork before the join")
    row, _ = here.forks.pop()
    row |= here.stamp("join")


def acquire(here: Happening, statement: Statement) -> None:
    """``acquire LOCK [order N]``."""
    row: Row = {"location": here.location, "lock": signed(statement)}
    row["order"] = statement.options({"order": large}).get("order")
    row |= here.stamp("acquire") | {"release_ns": None, "release_seq": None}
    here.held.setdefault(row["lock"], []).append(row)
    here.rows.locks.append(row)


def release(here: Happening, statement: Statement) -> None:
    """``release LOCK``."""
    lock = signed(statement)
    statement.end()
    if not here.held.get(lock):
        raise statement.error("a lock that was acquired", str(lock))
    here.held[lock].pop().update(here.stamp("release"))


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
EVENTS: Final[dict[str, Callable[[Happening, Statement], None]]] = {
    "enter": enter,
    "leave": leave,
    "fork": fork,
    "join": join,
    "team": team_edge,
    "acquire": acquire,
    "release": release,
}
