"""Efficiency: how well a run used its ranks, why not better, and how it scales.

::

    calls, bursts ──a fold──► useful time ──POP──► Efficiency ──several runs──► Scalability
                              ideal network ──► serialisation, transfer ─┘
"""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
