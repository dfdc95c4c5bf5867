from burstline.formats.derivation.labels import Callers as Callers
from burstline.formats.derivation.labels import Others as Others
from burstline.formats.derivation.labels import label_tables as label_tables
from burstline.formats.derivation.records import bytes_with_records as bytes_with_records
from burstline.formats.derivation.records import with_records as with_records
