from .checking import Check as Check
from .checking import check as check
from .checking import shared as shared
from .columns import table_schema as table_schema
from .fusion import FusedCounter as FusedCounter
from .fusion import Fusion as Fusion
from .fusion import fuse as fuse
from .fusion import values_of as values_of
from .matching import METHODS as METHODS
from .matching import match as match
from .model import STAGES as STAGES
from .model import Alignment as Alignment
from .model import Matching as Matching
from .model import Published as Published
from .model import Weights as Weights
from .quality import CounterQuality as CounterQuality
from .quality import Spread as Spread
from .quality import compare as compare
from .signature_codes import Signatures as Signatures
from .signature_codes import signatures as signatures
from .table import BurstTable as BurstTable
from .table import burst_parts as burst_parts
from .table import burst_table as burst_table
from .variation import Variation as Variation
from .verdicts import Limits as Limits

__all__ = [
    "METHODS",
    "STAGES",
    "Alignment",
    "BurstTable",
    "Check",
    "CounterQuality",
    "FusedCounter",
    "Fusion",
    "Limits",
    "Matching",
    "Published",
    "Signatures",
    "Spread",
    "Variation",
    "Weights",
    "burst_parts",
    "burst_table",
    "check",
    "compare",
    "fuse",
    "match",
    "shared",
    "signatures",
    "table_schema",
    "values_of",
]

# For other rooms of the house.
from .columns import FIXED as FIXED
from .columns import counter_columns as counter_columns
from .context import SIDES as SIDES
from .fusion import PLACE as PLACE
from .loops import LOOP_TYPES as LOOP_TYPES
from .overview import ColumnFacts as ColumnFacts
from .overview import Overview as Overview
from .tokens import tokens_of as tokens_of
from .verdicts import DO_NOT_USE as DO_NOT_USE
from .verdicts import TRUST as TRUST
from .verdicts import VERDICTS as VERDICTS
from .verdicts import WITH_CARE as WITH_CARE
