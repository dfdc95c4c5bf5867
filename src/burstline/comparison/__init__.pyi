from burstline.comparison.result import Comparison as Comparison
from burstline.comparison.result import Difference as Difference
from burstline.comparison.result import Pair as Pair
from burstline.comparison.result import compare as compare
from burstline.comparison.scores import j_c as j_c
from burstline.comparison.scores import j_mc as j_mc

__all__ = ["Comparison", "Difference", "Pair", "compare", "j_c", "j_mc"]

# For other rooms of the house.
from burstline.comparison.result import verdict as verdict
