from burstline.clocks.retiming import Retiming as Retiming
from burstline.clocks.retiming import retimed as retimed

__all__ = ["Retiming", "retimed"]

# For other rooms of the house.
from burstline.clocks.efforts import CLOCKS as CLOCKS
from burstline.clocks.efforts import Effort as Effort
from burstline.clocks.efforts import efforts_of as efforts_of
from burstline.clocks.readings import Readings as Readings
from burstline.clocks.readings import readings_of as readings_of
from burstline.clocks.retiming import COLLECTIVES as COLLECTIVES
from burstline.clocks.retiming import all_stamps as all_stamps
from burstline.clocks.retiming import restamp as restamp
from burstline.clocks.retiming import retimings as retimings
from burstline.clocks.stamps import stamps_of as stamps_of
