from burstline.formats.paraver.files.header import recognises as recognises
from burstline.formats.paraver.reading.in_memory import read_whole as read_whole
from burstline.formats.paraver.reading.in_memory import refuse_errors as refuse_errors
from burstline.formats.paraver.reading.trace_file import scan as scan
