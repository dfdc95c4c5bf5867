"""Structure: the loops of a program, read off its trace; no source, no recompilation.

``published`` looks at how regularly unique calls return, ``exact`` at which calls follow which;
``assembly`` makes one program for all ranks of either, and ``program`` holds it.
"""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
