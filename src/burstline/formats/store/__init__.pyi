from burstline.formats.store.reading import open_store as open_store
from burstline.formats.store.writing import MANIFEST as MANIFEST
from burstline.formats.store.writing import StoreWriter as StoreWriter
from burstline.formats.store.writing import write_store as write_store
