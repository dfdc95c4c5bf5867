from burstline.selection.offset import shift as shift
from burstline.selection.region import select as select

__all__ = ["select", "shift"]

# For other rooms of the house.
from burstline.selection.arguments import parse_iterations as parse_iterations
from burstline.selection.arguments import parse_ranks as parse_ranks
from burstline.selection.arguments import parse_time as parse_time
from burstline.selection.lazy import Lazy as Lazy
from burstline.selection.lazy import loaded as loaded
from burstline.selection.locations import of_locations as of_locations
from burstline.selection.loss import Losses as Losses
from burstline.selection.loss import former_locations as former_locations
from burstline.selection.loss import former_windows as former_windows
from burstline.selection.loss import losses as losses
from burstline.selection.region import bytes_until as bytes_until
from burstline.selection.region import estimate_bytes as estimate_bytes
from burstline.selection.region import narrowed as narrowed
