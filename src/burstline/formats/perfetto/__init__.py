"""The trace as Chrome's JSON events, which Perfetto and ``chrome://tracing`` show.

::

    Trace ─ location after location ─► slices, counters ─┐
          ─ messages ─────────────────► arrows ──────────┴─► X.perfetto.json

A process is a rank, a thread a location; MPI calls and regions are slices, messages are
arrows between them, counters are tracks of rates. Times are microseconds from the first
moment of the trace, exact to the nanosecond. There is no way back: the form is for looking.
"""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
