from .agreement import accuracy as accuracy
from .agreement import adjusted_rand as adjusted_rand
from .call_features import features as features
from .calls import Calls as Calls
from .detection import METHODS as METHODS
from .detection import detect as detect
from .factors import factor_map as factor_map
from .feature_importance import importance as importance
from .inner_loops import inside as inside
from .iterations import Iterations as Iterations
from .labels import labels_of as labels_of
from .model import Coverage as Coverage
from .model import Structure as Structure
from .nodes import Call as Call
from .nodes import Condition as Condition
from .nodes import Item as Item
from .nodes import Loop as Loop
from .nodes import walk as walk
from .plane import points as points
from .runs import Runs as Runs
from .table import LoopTable as LoopTable
from .table import loop_table as loop_table
from .table import loops_table as loops_table
from .windows import iterations_window as iterations_window

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
from .agreement import Accuracy as Accuracy
from .call_features import Features as Features
from .callpaths import Frame as Frame
from .callpaths import Path as Path
from .callpaths import clean_paths as clean_paths
from .calls import Signature as Signature
from .calls import sign as sign
from .factors import FactorMap as FactorMap
from .feature_importance import Importance as Importance
from .inner_loops import Inside as Inside
from .inner_loops import InsideLoop as InsideLoop
from .inner_loops import Place as Place
from .labels import NO_LABEL as NO_LABEL
from .labels import OUTSIDE as OUTSIDE
from .labels import Labels as Labels
from .labels import has_labels as has_labels
from .plane import IN_NO_LOOP as IN_NO_LOOP
from .plane import LEFT_OUT as LEFT_OUT
from .plane import Points as Points
from .ranks import compact as compact
from .spread import Trend as Trend
from .summaries import LoopSummary as LoopSummary
from .summaries import Slow as Slow
