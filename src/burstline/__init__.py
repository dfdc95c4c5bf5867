"""Explain what a parallel program did, from its execution trace.

The public names are listed in ``__init__.pyi``. Each is imported on first use,
so ``import burstline`` costs nothing and ``burstline --help`` is instant.
"""

from typing import Final

from burstline.doors import door

__version__: Final = "0.1.0"

__getattr__, __dir__, __all__ = door(__name__, __file__)
