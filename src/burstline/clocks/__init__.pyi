from burstline.clocks.retiming import Retiming as Retiming
from burstline.clocks.retiming import retimed as retimed

__all__ = ["Retiming", "retimed"]

# For other rooms of the house.
from burstline.clocks.efforts import CLOCKS as CLOCKS
from burstline.clocks.efforts import Effort as Effort
from burstline.clocks.retiming import COLLECTIVES as COLLECTIVES
from burstline.clocks.retiming import all_stamps as all_stamps
from burstline.clocks.retiming import retimings as retimings
