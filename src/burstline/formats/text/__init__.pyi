from burstline.formats.text.reading import parse as parse
from burstline.formats.text.reading import read as read
from burstline.formats.text.reading import recognises as recognises
from burstline.formats.text.rendering import render as render
