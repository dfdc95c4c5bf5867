from burstline.studies.feature_analysis import factor_map as factor_map
from burstline.studies.feature_analysis import importance as importance
from burstline.studies.learned import Learned as Learned
from burstline.studies.learned import Score as Score
from burstline.studies.loop_features import features as features
from burstline.studies.loop_labels import accuracy as accuracy
from burstline.studies.loop_labels import labels_of as labels_of
from burstline.studies.prediction import learn as learn

__all__ = [
    "Learned",
    "Score",
    "accuracy",
    "factor_map",
    "features",
    "importance",
    "labels_of",
    "learn",
]

# For other rooms of the house.
from burstline.studies.burst_features import match_rates as match_rates
from burstline.studies.feature_analysis import FactorMap as FactorMap
from burstline.studies.feature_analysis import Importance as Importance
from burstline.studies.learned import Gain as Gain
from burstline.studies.loop_features import Features as Features
from burstline.studies.loop_labels import NO_LABEL as NO_LABEL
from burstline.studies.loop_labels import OUTSIDE as OUTSIDE
from burstline.studies.loop_labels import Accuracy as Accuracy
from burstline.studies.loop_labels import Labels as Labels
from burstline.studies.scoring import relative_errors as relative_errors
from burstline.studies.scoring import require as require
