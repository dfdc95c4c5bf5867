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
from burstline.answers.fitness import PROCESSORS_ALONE as PROCESSORS_ALONE
from burstline.answers.places import by_place as by_place
from burstline.answers.places import computing_places as computing_places
from burstline.answers.places import path_text as path_text
from burstline.answers.run import FACTORS as FACTORS
from burstline.answers.run import GOOD as GOOD
from burstline.answers.run import between as between
from burstline.answers.run import leaves_of as leaves_of
from burstline.answers.run import longest_loop as longest_loop
from burstline.answers.screen import Answer as Answer
from burstline.answers.screen import Known as Known
from burstline.answers.screen import Overview as Overview
from burstline.answers.screen import Trust as Trust
from burstline.answers.screen import overview as overview
from burstline.answers.screen import place_shares as place_shares
from burstline.answers.values import table_of_checks as table_of_checks
from burstline.answers.waits import titled as titled
from burstline.answers.words import text_of as text_of
