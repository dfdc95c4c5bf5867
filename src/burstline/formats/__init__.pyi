from burstline.formats.choice import read as read
from burstline.formats.choice import write as write
from burstline.formats.cube import read_profile as read_profile
from burstline.formats.samples import sampled as sampled

__all__ = ["read", "read_profile", "sampled", "write"]

# For other rooms of the house.
from burstline.formats.intake.budget import memory_each as memory_each
from burstline.formats.intake.budget import memory_of_all as memory_of_all
from burstline.formats.outputs import ENDINGS as ENDINGS
from burstline.formats.outputs import files_of as files_of
from burstline.formats.outputs import files_read as files_read
from burstline.formats.outputs import is_prv as is_prv
from burstline.formats.outputs import outputs_of as outputs_of
from burstline.formats.outputs import require_apart as require_apart
from burstline.formats.outputs import require_free as require_free
