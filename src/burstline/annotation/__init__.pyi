from burstline.annotation.marks import INNERMOST as INNERMOST
from burstline.annotation.marks import RESERVED as RESERVED
from burstline.annotation.marks import STRUCTURE as STRUCTURE
from burstline.annotation.marks import MarkedLoop as MarkedLoop
from burstline.annotation.marks import Marks as Marks
from burstline.annotation.marks import iteration_type as iteration_type
from burstline.annotation.marks import loop_type as loop_type
from burstline.annotation.marks import marks_of as marks_of
from burstline.annotation.marks import with_waits as with_waits
from burstline.annotation.tables import annotated as annotated
from burstline.annotation.tables import with_loops as with_loops

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
    "with_loops",
    "with_waits",
]
