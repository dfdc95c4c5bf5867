"""Answers: what a run's numbers say, in sentences whose numbers are facts.

::

    Summary, Structure, Waits ──checks, templates──► sentences, checks, times of ranks
                                                        └─► info · waits · the page · JSON

Every text for people about results is made here, from templates, each with a test. Analyses to
the left hold facts alone, and renderers to the right word nothing.
"""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
