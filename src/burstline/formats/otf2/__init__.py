"""OTF2 archives, as Score-P, EZTrace and TAU write them, become a trace.

::

    anchor ─► definitions ─► where locations stand, communicators, regions, counters
    a group of processes ─► events in a child process ─► calls, regions, teams, readings, bursts
    all groups ─► tables in memory
               └► halves of messages, parts of collectives ─► messages, collectives

The library of OTF2 is used as it is, from the package ``otf2``; it is found when it is needed.
"""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
