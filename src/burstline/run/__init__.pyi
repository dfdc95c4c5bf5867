from burstline.run.run import Run as Run
from burstline.run.run import open as open  # noqa: A004 -- of runs, as of files

__all__ = ["Run", "open"]

# For other rooms of the house.
from burstline.run.analyses import ANALYSES as ANALYSES
from burstline.run.memory import available_memory as available_memory
from burstline.run.memory import memory_allowed as memory_allowed
from burstline.run.merging import write_merged as write_merged
from burstline.run.needs import ANALYSED as ANALYSED
from burstline.run.needs import CLOCKED as CLOCKED
from burstline.run.needs import COPIES_REPLAYED as COPIES_REPLAYED
from burstline.run.needs import CUT_FROM_STORE as CUT_FROM_STORE
from burstline.run.needs import CUT_HERE as CUT_HERE
from burstline.run.needs import DETECTED as DETECTED
from burstline.run.needs import LEAST_WINDOW as LEAST_WINDOW
from burstline.run.needs import REPLAYED as REPLAYED
from burstline.run.needs import RUNS_MERGED as RUNS_MERGED
from burstline.run.needs import Needs as Needs
from burstline.run.needs import bytes_held as bytes_held
from burstline.run.needs import bytes_needed as bytes_needed
from burstline.run.needs import bytes_to_merge as bytes_to_merge
from burstline.run.needs import needs_of_all as needs_of_all
from burstline.run.needs import require as require
from burstline.run.needs import require_bytes as require_bytes
from burstline.run.region import Chosen as Chosen
from burstline.run.several import Compared as Compared
from burstline.run.several import compared as compared
