"""What a method of detection finds: the program, and when its iterations were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from burstline.structure.program.iterations import Steps
    from burstline.structure.program.nodes import Call, Item
    from burstline.structure.reduction import Reduced


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """The program that one method found, without its fidelity."""

    method: str  # how it was found
    parameters: Mapping[str, object]  # the arguments of the method
    reduced: Reduced  # the unique calls
    items: tuple[Item, ...]  # the program, in its order
    left_out: tuple[Call, ...]  # calls that the method did not look at
    steps: Steps  # when the iterations of its loops were
    unique_calls: int  # different calls, by rank, operation and call path
