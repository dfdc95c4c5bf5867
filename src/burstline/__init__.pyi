from . import operations as operations
from . import schema as schema
from . import structure as structure
from .errors import BurstlineError as BurstlineError
from .errors import FormatError as FormatError
from .errors import InconsistentTraceError as InconsistentTraceError
from .errors import MemoryBudgetError as MemoryBudgetError
from .errors import MissingExtraError as MissingExtraError
from .errors import NotEnoughDataError as NotEnoughDataError
from .errors import ParameterError as ParameterError
from .errors import TruncatedTraceError as TruncatedTraceError
from .errors import UnsupportedRecordError as UnsupportedRecordError
from .formats import read as read
from .formats import write as write
from .formats.cube import read_profile as read_profile
from .merge import burst_table as burst_table
from .merge import fuse as fuse
from .merge import match as match
from .profile import Profile as Profile
from .selection import select as select
from .selection import shift as shift
from .summary import summarise as summarise
from .trace import Trace as Trace

__version__: str
