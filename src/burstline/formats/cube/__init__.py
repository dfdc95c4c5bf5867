"""Cube's profiles (``.cubex``), as Score-P and Scalasca write them.

::

    P.cubex ─ checked ─► tar members ─ pycubexr ─► trees, rows ─► Profile

The file is a tar archive: ``anchor.xml`` has the three trees, ``N.index`` says which call
paths have values of metric N, and ``N.data`` holds them.
"""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
