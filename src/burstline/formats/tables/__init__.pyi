from burstline.formats.tables.folder import STYLES as STYLES
from burstline.formats.tables.folder import read as read
from burstline.formats.tables.folder import recognises as recognises
from burstline.formats.tables.folder import write as write
