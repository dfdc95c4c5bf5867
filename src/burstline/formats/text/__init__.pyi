from burstline.formats.text.reading.source import parse as parse
from burstline.formats.text.reading.source import read as read
from burstline.formats.text.reading.source import recognises as recognises
