from .model import Gain as Gain
from .model import Learned as Learned
from .model import Score as Score
from .prediction import learn as learn

__all__ = [
    "Gain",
    "Learned",
    "Score",
    "learn",
]

# For other rooms of the house.
from .forests import require as require
from .scoring import relative_errors as relative_errors
