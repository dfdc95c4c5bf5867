from burstline.formats.otf2.reading.archive import find_anchor as find_anchor
from burstline.formats.otf2.reading.trace import convert as convert
from burstline.formats.otf2.reading.trace import read as read
from burstline.formats.otf2.reading.trace import recognises as recognises
from burstline.formats.otf2.writing.archive import write as write
from burstline.formats.otf2.writing.events import collectives_left_out as collectives_left_out
