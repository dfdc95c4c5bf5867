"""The Parquet store: a folder with a file per table, opened lazily, larger than memory."""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
