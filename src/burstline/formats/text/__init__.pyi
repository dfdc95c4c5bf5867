from burstline.formats.text.reading.trace import parse as parse
from burstline.formats.text.reading.trace import read as read
from burstline.formats.text.reading.trace import recognises as recognises
from burstline.formats.text.writing import render as render
