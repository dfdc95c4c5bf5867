"""How a call path of the analysis of waits is called, and the place that it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from burstline.answers.values import Place
from burstline.identity import MAINS
from burstline.quantities import format_share
from burstline.waits import EXTENSION, OFF_PROCESSOR, Sampled, Waits, function_of, one_of

_LEAST_SEEN: Final = 5
"""Periods of samples: fewer say nothing of where it is computed."""
_MOST_SEEN: Final = 3
_LITTLE_SEEN: Final = 0.1
_LOOKED_AT: Final = 64
"""Call paths of which a place is told: a text of each takes long."""


def place_of(waits: Waits, call_path: int, rank: int | None = None) -> Place:
    """The function and line of a call path, as far as they are known."""
    places, table = waits.places, waits.profile.call_paths
    [row] = table.slice(call_path, 1).to_pylist()
    if (seen := _sampled(waits, call_path, rank)) is not None:
        return Place(rank, seen.function, seen.file, seen.line)
    if call_path in places.ends:
        # Which function computes is not known, only the calls around it.
        return _called_from(waits, places.ends[call_path], Place(rank))
    if row["paradigm"] != "mpi":
        begin = None if row["begin_line"] is None else int(row["begin_line"])
        function = row["function"]
        if row["paradigm"] == "openmp":
            function = _function_around(waits, row)
        return Place(rank, function and _plain(function), row["file"], begin)
    above = None if row["parent"] is None else table.slice(row["parent"], 1).to_pylist()[0]
    if above is None or above["role"] == "artificial":
        return _called_from(waits, call_path, Place(rank))
    if above["function"].startswith(EXTENSION):
        return Place(rank)
    caller = Place(rank, _plain(above["function"]), above["file"], above["begin_line"])
    return _called_from(waits, call_path, caller)


def _sampled(waits: Waits, call_path: int, rank: int | None) -> Sampled | None:
    """The function that samples show to compute there: longer than others do on a rank."""
    if (site := waits.places.placed.get(call_path)) is not None:
        [row] = waits.profile.call_paths.slice(call_path, 1).to_pylist()
        name, of_site = (row["function"], row["file"]), waits.places.functions.get(site, ())
        return next((each for each in of_site if (each.function, each.file) == name), None)
    if rank is not None and call_path in waits.places.in_constructs:
        return waits.places.in_constructs[call_path].get(rank)
    seen = waits.places.functions.get(call_path, ())
    if not seen or is_off(waits, call_path, rank):
        return None
    ranks = len(set(waits.profile.locations["rank"].to_pylist()))
    return function_of(seen, rank, ranks)


def _called_from(waits: Waits, call_path: int, otherwise: Place) -> Place:
    """The line that a call is most often made from."""
    sites = waits.places.sites.get(call_path, ())
    if sites:
        file, _, line = sites[0].rpartition(":")
        return Place(otherwise.rank, otherwise.function, file, int(line))
    return otherwise


def _plain(function: str) -> str:
    return function.partition("@")[0].strip()


def _sampled_text(seen: Sampled) -> str:
    is_known = seen.file is not None and seen.line is not None
    return f"{seen.function} at {seen.file}:{seen.line}" if is_known else seen.function


def place_text(waits: Waits, call_path: int, rank: int | None = None) -> str:
    """The end of a call path: an operation or function, and what it is called in.

    Behind `at` is the line of a call, or the one most seen of a function that samples show, on
    a rank if it is given; in parentheses the one that a function begins at.
    """
    places = waits.places
    if (seen := _sampled(waits, call_path, rank)) is not None:
        return _sampled_text(seen)
    if call_path in places.ends:
        return _computing_text(waits, call_path)
    text = _name_with_line(waits, call_path)
    [row] = waits.profile.call_paths.slice(call_path, 1).to_pylist()
    if row["paradigm"] == "openmp":
        return f"{text} in {function}" if (function := _function_around(waits, row)) else text
    parent = row["parent"]
    if parent is None or row["paradigm"] == "compiler":
        return text
    [above] = waits.profile.call_paths.slice(parent, 1).to_pylist()
    if above["role"] == "artificial" or above["function"].startswith(EXTENSION):
        return text
    sites = places.place_text(call_path)
    caller = above["function"]
    if sites:
        caller += f" at {sites[0]}"
    elif parent not in places.regions or above["paradigm"] == "openmp":
        caller = _name_with_line(waits, parent)  # with the line that it calls from
    return f"{text} called by {caller}"


def short_text(waits: Waits, call_path: int, rank: int | None = None) -> str:
    """A call with its line, a function, or computing by the calls around it: in few words."""
    if (seen := _sampled(waits, call_path, rank)) is not None:
        return _sampled_text(seen)
    if call_path in waits.places.ends:
        return _computing_text(waits, call_path).partition(", in ")[0]
    text = _name_with_line(waits, call_path)
    sites = waits.places.place_text(call_path)
    [row] = waits.profile.call_paths.slice(call_path, 1).to_pylist()
    return f"{text} at {sites[0]}" if row["paradigm"] == "mpi" and sites else text


def by_place(waits: Waits, values: Sequence[float]) -> list[tuple[int, float]]:
    """Values of call paths by place, those first that have most.

    A place is all call paths that are told in the same few words: calls at one line, whoever
    calls their function. It is named by the call path that has most of it. Of many call paths
    those with most are looked at.
    """
    rows: dict[str, list[int]] = {}
    for row in sorted(range(len(values)), key=lambda row: -values[row])[:_LOOKED_AT]:
        if values[row] > 0:
            rows.setdefault(short_text(waits, row), []).append(row)
    sums = ((each[0], float(sum(values[row] for row in each))) for each in rows.values())
    return sorted(sums, key=lambda place: -place[1])


def short_inside(waits: Waits, call_path: int, rank: int | None = None) -> str:
    """The same behind a verb."""
    text = short_text(waits, call_path, rank)
    return f"in {text}" if _is_inside(waits, call_path, rank) else text


def computing_places(waits: Waits, paths: Sequence[int]) -> dict[int, str]:
    """Where the computing of each of some call paths is, by its place among them.

    Only of functions that the trace tells of, or that samples saw there, with their shares of
    these; other computing is known by the calls around it.
    """
    return {
        number: text
        for number, path in enumerate(paths)
        if path >= 0 and (text := _computing_in(waits, path))
    }


def _computing_in(waits: Waits, call_path: int) -> str:
    """The functions of some computing, behind a verb; nothing where none is known."""
    if call_path not in waits.places.ends:
        return short_inside(waits, call_path) if call_path in waits.places.regions else ""
    if is_off(waits, call_path):
        return ""
    if _sampled(waits, call_path, None) is not None:
        return short_inside(waits, call_path)
    seen = waits.places.functions.get(call_path, ())
    periods = [sum(each.periods.values()) for each in seen]
    if sum(periods) < _LEAST_SEEN:
        return ""
    shares = (count / sum(periods) for count in periods)
    shown = [
        f"{each.function} ({format_share(part)})"
        for each, part in zip(seen[:_MOST_SEEN], shares, strict=False)
        if part >= _LITTLE_SEEN
    ]
    return f"in {', '.join(shown)}" if shown else ""


def inside_text(waits: Waits, call_path: int, rank: int | None = None) -> str:
    """The same behind a verb: in a call or function, but computing from one call to another."""
    where = place_text(waits, call_path, rank)
    return f"in {where}" if _is_inside(waits, call_path, rank) else where


def _is_inside(waits: Waits, call_path: int, rank: int | None) -> bool:
    is_bare = call_path in waits.places.ends
    return not is_bare or _sampled(waits, call_path, rank) is not None


def path_text(waits: Waits, call_path: int) -> str:
    """A whole call path: with the lines of calls, and the calls around computing."""
    parents = waits.profile.call_paths["parent"].to_pylist()
    chain = [call_path]
    while (parent := parents[chain[-1]]) is not None:
        chain.append(parent)
    names = waits.path(call_path)[::-1]
    for k, node in enumerate(chain):
        name, *line = names[k].split("@", 1)
        if node in waits.places.regions and line and not name.startswith("!$omp"):
            names[k] = f"{name} ({line[0]})"
    if call_path in waits.places.placed:
        of_site = _computing_text(waits, chain[1]).partition(", in ")[0]
        names[:2] = [place_text(waits, call_path), of_site]
    elif call_path in waits.places.ends:
        names[0] = _computing_text(waits, call_path).partition(", in ")[0]
    elif len(chain) > 1 and chain[1] in waits.places.regions:
        names[0] = " at ".join([names[0], *waits.places.place_text(call_path)])
    return " > ".join(names[::-1])


def is_named(waits: Waits, call_path: int, rank: int | None = None) -> bool:
    """Whether the function that computes is known, or never will be: Python's own."""
    if is_off(waits, call_path, rank) or _sampled(waits, call_path, rank) is not None:
        return True
    end = waits.places.ends.get(call_path)
    return end is None or _is_of_python(waits, end)


def is_off(waits: Waits, call_path: int, rank: int | None = None) -> bool:
    """Whether nobody computes there, on a rank or at all: it is off the processor."""
    profile, absent = waits.profile, waits.places.absent.get(call_path)
    name: str = profile.call_paths["function"][call_path].as_py()
    if not absent:
        return name.startswith(OFF_PROCESSOR)
    ranks, time = profile.locations["rank"].to_pylist(), profile.exclusive("time")[call_path]
    whole = sum(
        int(time[place]) for place, each in enumerate(ranks) if rank is None or each == rank
    )
    off = sum(absent.values()) if rank is None else absent.get(rank, 0)
    return off > whole / 2


def absent_text(waits: Waits, call_path: int, rank: int | None = None) -> str:
    """Where a rank is off its processor: between calls, or in a function."""
    where = inside_text(waits, call_path, rank)
    return where if where.startswith(OFF_PROCESSOR) else f"{OFF_PROCESSOR} {where}"


def _is_of_python(waits: Waits, call_path: int) -> bool:
    """Whether a call is made from Python, whose functions no stack has."""
    return any(name.startswith(EXTENSION) for name in waits.path(call_path))


def _function_around(waits: Waits, row: dict[str, Any]) -> str | None:
    """The function that a construct of threads is in, None where none is known."""
    table = waits.profile.call_paths
    while row["parent"] is not None and row["paradigm"] == "openmp":
        [row] = table.slice(row["parent"], 1).to_pylist()
    is_function = row["paradigm"] not in ("openmp", "measurement")
    return _plain(row["function"]) if is_function else None


def _name_with_line(waits: Waits, call_path: int) -> str:
    name, *line = waits.path(call_path)[-1].replace(" @", "@").split("@", 1)
    if not line:
        return name
    is_construct = name.startswith("!$omp")
    begins = call_path in waits.places.regions and not is_construct
    return f"{name} ({line[0]})" if begins else f"{name} at {line[0]}"


def _computing_text(waits: Waits, call_path: int) -> str:
    """Computing, by the calls around it and the function that is known to hold it."""
    functions, parents, files, lines = (
        waits.profile.call_paths[name].to_pylist()
        for name in ("function", "parent", "file", "begin_line")
    )
    places = waits.places
    end, begins = places.ends[call_path], places.begins[call_path]
    last = places.call(end, functions[end])
    before = [places.call(each, functions[each]) for each in begins]
    comma = "," * any("," in each for each in (*before, last))
    first = one_of(before, comma)
    what = OFF_PROCESSOR if is_off(waits, call_path) else "computing"
    text = f"{what} from {first}{comma} to {last}"
    if begins == (end,):
        text = f"{what} from one {last}{comma} to the next"
    holder = parents[call_path]
    if holder is None or functions[holder] not in MAINS or _is_of_python(waits, end):
        return text  # Python's own main would say nothing
    text += comma
    where = f"{files[holder]}:{lines[holder]}"
    is_told = last.endswith(f" {where}") or where in places.sites.get(end, ())
    if files[holder] is None or lines[holder] is None or is_told:
        return f"{text} in {functions[holder]} or what it calls"
    return f"{text} in {functions[holder]}, {where}, or what it calls"
