from burstline.formats.choice import read as read
from burstline.formats.choice import write as write
from burstline.formats.cube import read_profile as read_profile
from burstline.formats.paraver.reading.samples import sampled as sampled

__all__ = [
    "read",
    "read_profile",
    "sampled",
    "write",
]

# For other rooms of the house.
from burstline.formats.intake.budget import memory_each as memory_each
