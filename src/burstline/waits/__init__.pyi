from burstline.waits.analysis import wait_states as wait_states
from burstline.waits.intrinsic import Intrinsic as Intrinsic
from burstline.waits.result import Part as Part
from burstline.waits.result import Waits as Waits

__all__ = ["Intrinsic", "Part", "Waits", "wait_states"]

# For other rooms of the house.
from burstline.waits.analysis import CLOCKS as CLOCKS
from burstline.waits.analysis import TOOLS as TOOLS
from burstline.waits.analysis import Known as Known
from burstline.waits.analysis import states_of as states_of
from burstline.waits.analysis import with_intrinsic as with_intrinsic
from burstline.waits.computation import with_computation as with_computation
from burstline.waits.division import time_line as time_line
from burstline.waits.intrinsic import largest_cells as largest_cells
from burstline.waits.metrics import METRICS as METRICS
from burstline.waits.metrics import PARENTS as PARENTS
from burstline.waits.metrics import WAITS as WAITS
from burstline.waits.metrics import metric_named as metric_named
from burstline.waits.regression import Fit as Fit
from burstline.waits.regression import fitted as fitted
from burstline.waits.result import largest_wait as largest_wait
from burstline.waits.result import sentences as sentences
from burstline.waits.result import told_path as told_path
from burstline.waits.result import transfer_ns as transfer_ns
from burstline.waits.result import verdict as verdict
from burstline.waits.times import Nodes as Nodes
