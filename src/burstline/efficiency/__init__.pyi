from burstline.efficiency.scaling import Scalability as Scalability
from burstline.efficiency.scaling import scalability as scalability

__all__ = ["Scalability", "scalability"]

# For other rooms of the house.
from burstline.efficiency.factors import FACTORS as FACTORS
from burstline.efficiency.factors import SPANS as SPANS
from burstline.efficiency.factors import Efficiency as Efficiency
from burstline.efficiency.factors import Factors as Factors
from burstline.efficiency.factors import communication_factors as communication_factors
from burstline.efficiency.factors import thread_factors as thread_factors
from burstline.efficiency.ideal_network import Ideal as Ideal
from burstline.efficiency.ideal_network import compared_with as compared_with
from burstline.efficiency.ideal_network import efficiencies_of as efficiencies_of
from burstline.efficiency.ideal_network import ideal_of as ideal_of
from burstline.efficiency.ideal_network import is_defined as is_defined
from burstline.efficiency.ideal_network import with_communication as with_communication
from burstline.efficiency.rank_times import Baseline as Baseline
from burstline.efficiency.rank_times import RankParts as RankParts
from burstline.efficiency.rank_times import RankTimes as RankTimes
from burstline.efficiency.scaling import ScaledRun as ScaledRun
from burstline.efficiency.useful_time import BURST_COLUMNS as BURST_COLUMNS
from burstline.efficiency.useful_time import CALL_COLUMNS as CALL_COLUMNS
from burstline.efficiency.useful_time import UsefulTime as UsefulTime
