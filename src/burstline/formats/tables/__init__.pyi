from burstline.formats.tables.reading import STYLES as STYLES
from burstline.formats.tables.reading import read as read
from burstline.formats.tables.reading import recognises as recognises
from burstline.formats.tables.writing import write as write
