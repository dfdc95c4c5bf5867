from burstline.formats.perfetto.writing import write as write
