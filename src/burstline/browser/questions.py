"""Questions of the browser, and what their answers change in what is seen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from burstline.errors import ParameterError, printable
from burstline.selection import parse_ranks, parse_time
from burstline.show import IPC, chosen_counter, format_ns
from burstline.structure import compact

if TYPE_CHECKING:
    from burstline.browser.outline import View
    from burstline.structure import Structure

QUESTIONS: Final = {
    "least": "Only what takes this long: 1ms. Empty: everything",
    "bursts": "Computation before calls, from this mean on: 1ms. Empty: none",
    "ranks": "What these ranks execute: 0-7,12. Empty: all",
    "search": "Part of a line or of a file's name",
}
"""What is asked, by its subject."""


def answered(about: str, text: str, view: View, structure: Structure) -> View:
    """The view that an answer asks for.

    >>> from burstline.browser.outline import View
    >>> answered("least", "1.5ms", View(), None).least_ns
    1500000
    """
    wanted = text.strip()
    if about == "least":
        return replace(view, least_ns=parse_time(wanted) if wanted else 0)
    if about == "bursts":
        return replace(view, bursts_ns=parse_time(wanted) if wanted else None)
    return replace(view, ranks=chosen_ranks(wanted, structure) if wanted else None)


def chosen_ranks(text: str, structure: Structure) -> tuple[int, ...]:
    """The ranks of a structure that a list of numbers and ranges names."""
    named = parse_ranks(text)
    everybody = sorted(set(structure.ranks))
    found = tuple(rank for rank in everybody if any(rank in some for some in named))
    if not found:
        raise ParameterError(
            f"none of the ranks {printable(text)} calls MPI; there are {compact(everybody)}"
        )
    return found


def current(about: str, view: View) -> str:
    """The answer that would lead to the present view."""
    if about == "ranks":
        # a list of numbers can be read again; ranges with strides cannot
        return "" if view.ranks is None else ",".join(map(str, view.ranks))
    value_ns = view.least_ns if about == "least" else view.bursts_ns
    return f"{value_ns}ns" if value_ns else ""


def restrictions(view: View) -> list[str]:
    """What of a structure a view shows."""
    said = ["all ranks" if view.ranks is None else f"ranks {compact(view.ranks)}"]
    if view.least_ns:
        said.append(f"time ≥ {format_ns(view.least_ns)}")
    if view.bursts_ns is not None:
        said.append(f"computation ≥ {format_ns(view.bursts_ns)}")
    return said


def counters(structure: Structure) -> list[str]:
    """The counters that can be shown, instructions per cycle included."""
    found = list(structure.counters)
    try:
        chosen_counter(structure, IPC)
    except ParameterError:
        return found
    return [IPC, *(name for name in found if name != IPC)]
