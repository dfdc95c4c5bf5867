"""The occurrences of phases in the events of a process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from burstline.columns import Integers


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """Stretches of events in the order of time, of which none overlaps another."""

    phase: Integers  # (occurrences,) place of its phase in `names`
    begin: Integers  # (occurrences,) boundary at which it begins, and ends
    end: Integers
    names: tuple[str, ...]  # (phases,)
