from burstline.learning.model import Learned as Learned
from burstline.learning.model import Score as Score
from burstline.learning.prediction import learn as learn

__all__ = [
    "Learned",
    "Score",
    "learn",
]

# For other rooms of the house.
from burstline.learning.columns import match_rates as match_rates
from burstline.learning.forests import require as require
from burstline.learning.model import Gain as Gain
from burstline.learning.scoring import relative_errors as relative_errors
