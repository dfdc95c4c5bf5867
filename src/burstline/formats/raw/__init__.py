"""Raw files, one per thread as the recorder writes them, become a trace.

::

    folder ─► files ─► outlines, processes, definitions ─► clocks
    a group of processes ─► timelines ─► calls, requests, readings, regions, gaps, bursts
    all groups ─► tables in memory, or row groups of a store
               └► halves of messages, parts of collectives ─► messages, collectives
"""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
