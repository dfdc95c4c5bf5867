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
    """The outcome of one method, before anybody has judged it.

    Attributes
    ----------
    method : str
        How it was found.
    parameters : mapping of str to object
        What the method was told.
    reduced : Reduced
        The unique calls.
    items : tuple of Call, Condition and Loop
        The program, in its order.
    left_out : tuple of Call
        Calls that the method did not look at.
    steps : Steps
        When the iterations of its loops were.
    unique_calls : int
        Different calls, by rank, operation and call path.
    """

    method: str
    parameters: Mapping[str, object]
    reduced: Reduced
    items: tuple[Item, ...]
    left_out: tuple[Call, ...]
    steps: Steps
    unique_calls: int
