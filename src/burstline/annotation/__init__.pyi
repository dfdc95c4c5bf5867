from .event_types import INNERMOST as INNERMOST
from .event_types import RESERVED as RESERVED
from .event_types import STRUCTURE as STRUCTURE
from .event_types import iteration_type as iteration_type
from .event_types import loop_type as loop_type
from .marks import MarkedLoop as MarkedLoop
from .marks import Marks as Marks
from .marks import marks_of as marks_of
from .tables import annotated as annotated

__all__ = [
    "INNERMOST",
    "RESERVED",
    "STRUCTURE",
    "MarkedLoop",
    "Marks",
    "annotated",
    "iteration_type",
    "loop_type",
    "marks_of",
]
