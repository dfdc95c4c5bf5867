from .choice import read as read
from .choice import write as write
from .cube import read_profile as read_profile
from .paraver.sampling import sampled as sampled

__all__ = [
    "read",
    "read_profile",
    "sampled",
    "write",
]
