"""Comparison: how alike profiles are, and where they differ.

::

    Profiles ──names of metrics, call paths─► Tables ─┬─ shares of time ───► J_MC ─┐
                                                      └─ shares of metric ─► J_C ──┴► Comparison

Shares alone are compared, never times: so a profile in ticks can be held against one in
seconds.
"""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
