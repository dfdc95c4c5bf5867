from .loss import Losses as Losses
from .loss import losses as losses
from .offset import shift as shift
from .region import select as select

__all__ = [
    "Losses",
    "losses",
    "select",
    "shift",
]

# For other rooms of the house.
from .arguments import parse_iterations as parse_iterations
from .arguments import parse_ranks as parse_ranks
from .arguments import parse_time as parse_time
from .lazy import Lazy as Lazy
from .loss import former_locations as former_locations
from .region import estimate_bytes as estimate_bytes
from .region import narrowed as narrowed
