from burstline.merge.fusion import Fusion as Fusion
from burstline.merge.fusion import fuse as fuse
from burstline.merge.matching import match as match
from burstline.merge.model import Alignment as Alignment
from burstline.merge.model import Matching as Matching
from burstline.merge.model import Published as Published
from burstline.merge.model import Weights as Weights
from burstline.merge.tables.bursts import BurstTable as BurstTable
from burstline.merge.tables.bursts import burst_table as burst_table
from burstline.merge.trust.checking import Check as Check
from burstline.merge.trust.checking import check as check
from burstline.merge.trust.quality import Limits as Limits

__all__ = [
    "Alignment",
    "BurstTable",
    "Check",
    "Fusion",
    "Limits",
    "Matching",
    "Published",
    "Weights",
    "burst_table",
    "check",
    "fuse",
    "match",
]

# For other rooms of the house.
from burstline.merge.align.loops import loops_of as loops_of
from burstline.merge.fusion import PLACE as PLACE
from burstline.merge.fusion import FusedCounter as FusedCounter
from burstline.merge.fusion import values_of as values_of
from burstline.merge.matching import METHODS as METHODS
from burstline.merge.model import STAGES as STAGES
from burstline.merge.tables.bursts import Shared as Shared
from burstline.merge.tables.bursts import burst_parts as burst_parts
from burstline.merge.tables.columns import FIXED as FIXED
from burstline.merge.tables.columns import counter_columns as counter_columns
from burstline.merge.tables.columns import table_schema as table_schema
from burstline.merge.tables.overview import ColumnFacts as ColumnFacts
from burstline.merge.tables.overview import Overview as Overview
from burstline.merge.tables.overview import PartSums as PartSums
from burstline.merge.tables.rows import locations_held as locations_held
from burstline.merge.tables.rows import node_numbers as node_numbers
from burstline.merge.trust.checking import Variation as Variation
from burstline.merge.trust.checking import shared as shared
from burstline.merge.trust.quality import DO_NOT_USE as DO_NOT_USE
from burstline.merge.trust.quality import NO_INFORMATION as NO_INFORMATION
from burstline.merge.trust.quality import TRUST as TRUST
from burstline.merge.trust.quality import VERDICTS as VERDICTS
from burstline.merge.trust.quality import WITH_CARE as WITH_CARE
from burstline.merge.trust.quality import CounterQuality as CounterQuality
from burstline.merge.trust.quality import Decision as Decision
from burstline.merge.trust.quality import Spread as Spread
from burstline.merge.trust.quality import compare as compare
