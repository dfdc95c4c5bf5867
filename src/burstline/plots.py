"""Pictures of results, as SVG or PNG; they need the extra ``plot``."""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
