"""Annotation: what an analysis found, written back into the trace as events.

::

    Structure  --marks_of-->  Marks  --annotated-->  the trace, with loops and iterations
                                                     as events of reserved types

A timeline viewer shows the structure then, beside everything else that it can show.
"""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
