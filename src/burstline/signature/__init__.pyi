from burstline.signature.detection import Phases as Phases
from burstline.signature.detection import phases as phases
from burstline.signature.detection import signature_of as signature_of
from burstline.signature.estimate import Prediction as Prediction
from burstline.signature.estimate import predict as predict
from burstline.signature.model import Measurement as Measurement
from burstline.signature.model import Signature as Signature
from burstline.signature.model import Stamps as Stamps

__all__ = [
    "Measurement",
    "Phases",
    "Prediction",
    "Signature",
    "Stamps",
    "phases",
    "predict",
    "signature_of",
]

# For other rooms of the house.
from burstline.signature.detection import phase_table as phase_table
from burstline.signature.detection import phases_by_parts as phases_by_parts
from burstline.signature.estimate import Estimate as Estimate
from burstline.signature.events import Events as Events
from burstline.signature.events import Occurrences as Occurrences
from burstline.signature.events import events_of as events_of
from burstline.signature.events import hashes as hashes
from burstline.signature.model import Phase as Phase
from burstline.signature.model import Process as Process
from burstline.signature.model import stamps_of as stamps_of
from burstline.signature.processes import METHODS as METHODS
from burstline.signature.published import Coordination as Coordination
from burstline.signature.published import Key as Key
from burstline.signature.published import epas as epas
from burstline.signature.published import pas2p as pas2p
from burstline.signature.text import measurement_in as measurement_in
from burstline.signature.text import signature_in as signature_in
from burstline.signature.text import to_toml as to_toml
