"""OTF2 archives, as Score-P, EZTrace and TAU write them, become a trace.

::

    anchor ─► definitions ─► places of locations, communicators, regions, counters
    a group of processes ─► events in a child process ─► calls, regions, teams, readings, bursts
    all groups ─► tables in memory
               └► halves of messages, parts of collectives ─► messages, collectives
"""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
