from burstline.formats.store.reading import read as read
from burstline.formats.store.reading import recognises as recognises
from burstline.formats.store.writing import MANIFEST as MANIFEST
from burstline.formats.store.writing import StoreWriter as StoreWriter
from burstline.formats.store.writing import write as write
