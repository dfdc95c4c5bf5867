__all__: list[str] = []

# For other rooms of the house.
from burstline.signature.events import Events as Events
from burstline.signature.events import events_of as events_of
from burstline.signature.events import hashes as hashes
from burstline.signature.occurrences import Occurrences as Occurrences
from burstline.signature.published import SIMILARITY as SIMILARITY
from burstline.signature.published import Coordination as Coordination
from burstline.signature.published import Key as Key
from burstline.signature.published import epas as epas
from burstline.signature.published import pas2p as pas2p
