from burstline.structure.computation import inside as inside
from burstline.structure.detection import detect as detect
from burstline.structure.plane import points as points
from burstline.structure.program.model import Structure as Structure
from burstline.structure.program.nodes import Call as Call
from burstline.structure.program.nodes import Condition as Condition
from burstline.structure.program.nodes import Loop as Loop
from burstline.structure.program.windows import iterations_window as iterations_window
from burstline.structure.tables.call_counts import call_counts as call_counts
from burstline.structure.tables.costs import loop_table as loop_table
from burstline.structure.tables.costs import loops_table as loops_table
from burstline.structure.tables.in_calls import in_calls as in_calls
from burstline.structure.tables.segments import segments as segments
from burstline.structure.tables.table import LoopTable as LoopTable

__all__ = [
    "Call",
    "Condition",
    "Loop",
    "LoopTable",
    "Structure",
    "call_counts",
    "detect",
    "in_calls",
    "inside",
    "iterations_window",
    "loop_table",
    "loops_table",
    "points",
    "segments",
]

# For other rooms of the house.
from burstline.structure.calls import Calls as Calls
from burstline.structure.calls import chosen_application as chosen_application
from burstline.structure.computation import Inside as Inside
from burstline.structure.computation import InsideLoop as InsideLoop
from burstline.structure.computation import innermost_loops as innermost_loops
from burstline.structure.computation import sites_before as sites_before
from burstline.structure.detection import METHODS as METHODS
from burstline.structure.detection import detect_by_parts as detect_by_parts
from burstline.structure.detection import other_readings as other_readings
from burstline.structure.exact.known import tells_loops as tells_loops
from burstline.structure.exact.process import ProcessNest as ProcessNest
from burstline.structure.exact.process import process_nest as process_nest
from burstline.structure.plane import IN_NO_LOOP as IN_NO_LOOP
from burstline.structure.plane import LEFT_OUT as LEFT_OUT
from burstline.structure.plane import Points as Points
from burstline.structure.program.length import description_length as description_length
from burstline.structure.program.nodes import Item as Item
from burstline.structure.program.nodes import share_of as share_of
from burstline.structure.program.nodes import tree as tree
from burstline.structure.program.nodes import walk as walk
from burstline.structure.program.ranks import compact as compact
from burstline.structure.program.rules import Around as Around
from burstline.structure.program.rules import Conditions as Conditions
from burstline.structure.program.rules import chains as chains
from burstline.structure.program.rules import rule as rule
from burstline.structure.program.rules import size as size
from burstline.structure.program.runs import Runs as Runs
from burstline.structure.published.clustering import SCALES as SCALES
from burstline.structure.published.clustering import Scale as Scale
from burstline.structure.reduction import Reduced as Reduced
from burstline.structure.reduction import reduce_to_sites as reduce_to_sites
from burstline.structure.source import Parts as Parts
from burstline.structure.tables.call_counts import CallCounts as CallCounts
from burstline.structure.tables.call_counts import Seen as Seen
from burstline.structure.tables.in_calls import InCalls as InCalls
from burstline.structure.tables.segments import Change as Change
from burstline.structure.tables.segments import Segment as Segment
from burstline.structure.tables.spread import Trend as Trend
from burstline.structure.tables.table import LoopSummary as LoopSummary
from burstline.structure.tables.table import Slow as Slow
