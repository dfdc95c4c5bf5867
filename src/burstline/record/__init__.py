"""From a command line to raw files: which MPI it uses, the recorder for it, and the run.

::

    command ──mpi──► Abi ──build──► shared object ─┐
            ──launch──► where its programs begin ──┴─► recorded command ──session──► raw files

The recorder itself is C (``native/``), its wrappers are generated from ``calls.toml``.
Nothing here knows a trace; `burstline.read` makes one of the raw files.
"""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
