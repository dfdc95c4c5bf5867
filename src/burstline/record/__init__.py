"""From a command line to raw files: its MPI, the recorder for this, and the run.

::

    command ──mpi──► Abi ──build──► shared object ─┐
            ──launch──► places of its programs ────┴─► recorded command ──session──► raw files

The recorder is C (``native/``) with wrappers that are generated from two tables.
"""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
