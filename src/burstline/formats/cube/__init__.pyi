from burstline.formats.cube.reading import read_profile as read_profile
