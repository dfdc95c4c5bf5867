"""Structure: the loops of a program, read off its trace.

::

    by_means   trace  --reduction-->  unique calls  --clustering-->  loops  --nesting-->
    by_order   trace  --call graph-->  what follows what  --cycles-->  a nest  --reading-->
                      one program for all ranks  --fidelity-->  and what it reproduces

No source and no recompilation are needed: a loop shows in how regularly its calls return,
and in which calls follow which.
"""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
