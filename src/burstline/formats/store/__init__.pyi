from burstline.formats.store.folder import MANIFEST as MANIFEST
from burstline.formats.store.folder import StoreWriter as StoreWriter
from burstline.formats.store.folder import arrow_source as arrow_source
from burstline.formats.store.folder import damage_told as damage_told
from burstline.formats.store.folder import dictionary as dictionary
from burstline.formats.store.folder import read as read
from burstline.formats.store.folder import recognises as recognises
from burstline.formats.store.folder import write as write
