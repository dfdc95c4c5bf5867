from burstline.formats.otf2.reading.archive import find_anchor as find_anchor
from burstline.formats.otf2.reading.archive import recognises as recognises
from burstline.formats.otf2.reading.archive import require_anchor as require_anchor
from burstline.formats.otf2.reading.trace import convert_otf2 as convert_otf2
from burstline.formats.otf2.reading.trace import is_part_of_one as is_part_of_one
from burstline.formats.otf2.reading.trace import read_otf2 as read_otf2
from burstline.formats.otf2.writing.archive import write_otf2 as write_otf2
