"""How kinds of time look: a label, a colour and a hatch each, in one order everywhere.

Colours tell what kind of loss it is; waits of one colour differ in their hatch, which tells
them apart in grey, too. The colour is a class of the style sheet, by the name.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from burstline.columns import Floats, Integers
from burstline.timeline import KINDS


class Look(NamedTuple):
    """A kind of time, as a page names and draws it."""

    name: str
    label: str
    hatch: str = ""


LOOKS: Final = (
    Look("computing", "Computing"),
    Look("transfer", "Transfer"),
    Look("other_mpi", "Other MPI"),
    Look("openmp", "OpenMP", "c"),
    Look("io", "Files"),
    Look("blocked", "Blocked, cause unknown"),
    Look("collective", "Collective wait", "b"),
    Look("threads", "Wait for threads", "d"),
    Look("late_receiver", "Late receiver", "c"),
    Look("late_sender", "Late sender", "a"),
    Look("idle", "Idle threads", "b"),
    Look("ends", "Init, Finalize"),
    Look("not_recorded", "Not recorded", "n"),
)
"""In the order of stacks: computing at the bottom, waits above, what nobody watched last."""

_BY_NAME: Final = {look.name: look for look in LOOKS}


def look(name: str) -> Look:
    """How a kind looks, by its name."""
    return _BY_NAME[name]


def parts_of(times: Integers | Floats) -> dict[str, float]:
    """Times by the name of their kind, those that are there."""
    return {name: value for name, value in zip(KINDS, times.tolist(), strict=True) if value}
