"""The library of OTF2: that in the package ``otf2``, or one that the environment names."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from burstline.errors import MissingExtraError

VARIABLE: Final = "BURSTLINE_OTF2"
"""Environment variable that names a shared library to use instead."""

_WAY_OUT: Final = (
    "pip install 'burstline[otf2]' (from Python 3.12 on this compiles the package otf2, with "
    f"a C compiler, in half a minute), or set {VARIABLE} to the path of a libotf2.so"
)


def find_library() -> str:
    """The path of the library."""
    if named := os.environ.get(VARIABLE):
        return named
    for folder in _library_folders():
        if libraries := sorted(folder.glob("_otf2*.so")):
            return str(libraries[0])
    raise MissingExtraError("otf2", "reading an OTF2 archive", way_out=_WAY_OUT)


def _library_folders() -> list[Path]:
    module = find_spec("_otf2")
    if module is None:
        return []
    if module.submodule_search_locations:
        return [Path(place) for place in module.submodule_search_locations]
    return [Path(module.origin).parent] if module.origin else []
