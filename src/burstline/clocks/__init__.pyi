from burstline.clocks.efforts import Effort as Effort
from burstline.clocks.retiming import Retiming as Retiming
from burstline.clocks.retiming import retimed as retimed

__all__ = ["Effort", "Retiming", "retimed"]

# For other rooms of the house.
from burstline.clocks.correction import corrected as corrected
from burstline.clocks.correction import violations as violations
from burstline.clocks.efforts import CLOCKS as CLOCKS
from burstline.clocks.efforts import constructs as constructs
from burstline.clocks.efforts import counts_of as counts_of
from burstline.clocks.efforts import efforts_of as efforts_of
from burstline.clocks.model import CALLS as CALLS
from burstline.clocks.model import KINDS as KINDS
from burstline.clocks.model import MOST_BYTES as MOST_BYTES
from burstline.clocks.model import EffortModel as EffortModel
from burstline.clocks.model import model_in as model_in
from burstline.clocks.model import non_negative as non_negative
from burstline.clocks.model import require_solver as require_solver
from burstline.clocks.model import share_explained as share_explained
from burstline.clocks.readings import Readings as Readings
from burstline.clocks.readings import readings_of as readings_of
from burstline.clocks.restamping import restamped as restamped
from burstline.clocks.retiming import COLLECTIVES as COLLECTIVES
from burstline.clocks.retiming import all_stamps as all_stamps
from burstline.clocks.retiming import restamp as restamp
from burstline.clocks.retiming import retimings as retimings
from burstline.clocks.stamps import stamps_of as stamps_of
