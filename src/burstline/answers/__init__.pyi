from burstline.answers.fitness import checks as checks
from burstline.answers.ranks import per_rank as per_rank
from burstline.answers.run import verdict_on_run as verdict_on_run
from burstline.answers.values import Check as Check
from burstline.answers.values import Fact as Fact
from burstline.answers.values import Place as Place
from burstline.answers.values import RankTime as RankTime
from burstline.answers.values import Sentence as Sentence
from burstline.answers.values import Verdict as Verdict
from burstline.answers.waits import verdict_on_waits as verdict_on_waits

__all__ = [
    "Check",
    "Fact",
    "Place",
    "RankTime",
    "Sentence",
    "Verdict",
    "checks",
    "per_rank",
    "verdict_on_run",
    "verdict_on_waits",
]

# For other rooms of the house.
from burstline.answers.places import path_text as path_text
