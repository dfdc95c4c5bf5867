from burstline.errors import BurstlineError as BurstlineError
from burstline.errors import FormatError as FormatError
from burstline.errors import InconsistentTraceError as InconsistentTraceError
from burstline.errors import MemoryBudgetError as MemoryBudgetError
from burstline.errors import MissingExtraError as MissingExtraError
from burstline.errors import NotEnoughDataError as NotEnoughDataError
from burstline.errors import ParameterError as ParameterError
from burstline.errors import TruncatedTraceError as TruncatedTraceError
from burstline.errors import UnsupportedRecordError as UnsupportedRecordError
from burstline.formats import read as read
from burstline.formats import read_profile as read_profile
from burstline.formats import write as write
from burstline.merge import burst_table as burst_table
from burstline.merge import fuse as fuse
from burstline.merge import match as match
from burstline.profile import Profile as Profile
from burstline.profile import Values as Values
from burstline.selection import select as select
from burstline.selection import shift as shift
from burstline.structure import detect as detect
from burstline.summary import Summary as Summary
from burstline.summary import summarise as summarise
from burstline.trace import Trace as Trace
from burstline.waits import wait_states as wait_states

from . import annotation as annotation
from . import formats as formats
from . import learning as learning
from . import merge as merge
from . import plots as plots
from . import progress as progress
from . import schema as schema
from . import show as show
from . import structure as structure
from . import testing as testing
from . import waits as waits

__version__: str
