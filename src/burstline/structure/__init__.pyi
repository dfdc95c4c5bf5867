from burstline.structure.agreement import accuracy as accuracy
from burstline.structure.agreement import adjusted_rand as adjusted_rand
from burstline.structure.call_features import features as features
from burstline.structure.calls import Calls as Calls
from burstline.structure.detection import METHODS as METHODS
from burstline.structure.detection import detect as detect
from burstline.structure.factors import factor_map as factor_map
from burstline.structure.feature_importance import importance as importance
from burstline.structure.inner_loops import inside as inside
from burstline.structure.iterations import Iterations as Iterations
from burstline.structure.labels import labels_of as labels_of
from burstline.structure.model import Coverage as Coverage
from burstline.structure.model import Structure as Structure
from burstline.structure.nodes import Call as Call
from burstline.structure.nodes import Condition as Condition
from burstline.structure.nodes import Item as Item
from burstline.structure.nodes import Loop as Loop
from burstline.structure.nodes import walk as walk
from burstline.structure.plane import points as points
from burstline.structure.runs import Runs as Runs
from burstline.structure.table import LoopTable as LoopTable
from burstline.structure.table import loop_table as loop_table
from burstline.structure.table import loops_table as loops_table
from burstline.structure.windows import iterations_window as iterations_window

__all__ = [
    "METHODS",
    "Call",
    "Calls",
    "Condition",
    "Coverage",
    "Item",
    "Iterations",
    "Loop",
    "LoopTable",
    "Runs",
    "Structure",
    "accuracy",
    "adjusted_rand",
    "detect",
    "factor_map",
    "features",
    "importance",
    "inside",
    "iterations_window",
    "labels_of",
    "loop_table",
    "loops_table",
    "points",
    "walk",
]

# For other rooms of the house.
from burstline.structure.agreement import Accuracy as Accuracy
from burstline.structure.call_features import Features as Features
from burstline.structure.callpaths import Frame as Frame
from burstline.structure.callpaths import Path as Path
from burstline.structure.callpaths import clean_paths as clean_paths
from burstline.structure.calls import Signature as Signature
from burstline.structure.calls import sign as sign
from burstline.structure.factors import FactorMap as FactorMap
from burstline.structure.feature_importance import Importance as Importance
from burstline.structure.inner_loops import Inside as Inside
from burstline.structure.inner_loops import InsideLoop as InsideLoop
from burstline.structure.inner_loops import Place as Place
from burstline.structure.labels import NO_LABEL as NO_LABEL
from burstline.structure.labels import OUTSIDE as OUTSIDE
from burstline.structure.labels import Labels as Labels
from burstline.structure.labels import has_labels as has_labels
from burstline.structure.plane import IN_NO_LOOP as IN_NO_LOOP
from burstline.structure.plane import LEFT_OUT as LEFT_OUT
from burstline.structure.plane import Points as Points
from burstline.structure.ranks import compact as compact
from burstline.structure.spread import Trend as Trend
from burstline.structure.summaries import LoopSummary as LoopSummary
from burstline.structure.summaries import Slow as Slow
