"""Cube's profiles (``.cubex``), as Score-P and Scalasca write them.

::

    P.cubex ─ checked ─► tar members ─ pycubexr ─► trees, rows ─► Profile ─► Q.cubex

In the tar archive, ``anchor.xml`` has the trees, ``N.index`` the call paths with values of
metric N, and ``N.data`` these.
"""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
