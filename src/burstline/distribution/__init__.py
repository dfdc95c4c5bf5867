"""Workers: processes, here or on other machines, that Dask starts and that work on parts."""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
