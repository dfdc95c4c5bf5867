"""The region of interest: the same trace, restricted to a time window and to some ranks.

A window is half-open, ``[start, end)``; it is one for all locations, or each has its own. It
treats moments by what they are:

- What *begins* something (the enter of a call, a send, a record) is inside if
  ``start <= t < end``.
- What *ends* something that begins inside (a leave, a receive) may also be at ``end``.
- What *sums up* a stretch before it (a reading of counters) is inside if
  ``start < t <= end``.
- The first and the last moment of a location belong to every window that reaches them:
  a window over the whole trace loses nothing.

Intervals (calls, regions, bursts, teams, locks, gaps, states) that overlap the window are
kept and clipped to it; those as long as zero are kept where they begin. What has several
moments (messages, links, a member's part in a collective) is kept whole or not at all.
"""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
