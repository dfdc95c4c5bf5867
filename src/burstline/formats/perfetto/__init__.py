"""The trace as Chrome's JSON events, which Perfetto and ``chrome://tracing`` show.

::

    Trace ─ location after location ─► slices, counters ─┐
          ─ messages ─────────────────► arrows ──────────┴─► X.perfetto.json

Times are microseconds from the first moment of the trace, exact to the nanosecond.
"""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
