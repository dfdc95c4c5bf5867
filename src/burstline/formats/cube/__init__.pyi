from burstline.formats.cube.reading import read_profile as read_profile
from burstline.formats.cube.writing import write as write
