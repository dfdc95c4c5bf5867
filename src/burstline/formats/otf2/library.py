"""The library that reads archives: found, not linked.

It is part of the package ``otf2`` (the extra of that name), whose extension module holds the
whole library. Any other shared library of OTF2 serves as well, if an environment variable
names it.
"""

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
    """The path of the library.

    >>> import os
    >>> os.environ["BURSTLINE_OTF2"] = "/opt/lib/libotf2.so"
    >>> find_library()
    '/opt/lib/libotf2.so'
    >>> del os.environ["BURSTLINE_OTF2"]
    """
    if named := os.environ.get(VARIABLE):
        return named
    for folder in _folders():
        found = sorted(folder.glob("_otf2*.so"))
        if found:
            return str(found[0])
    raise MissingExtraError("otf2", "reading an OTF2 archive", way_out=_WAY_OUT)


def _folders() -> list[Path]:
    found = find_spec("_otf2")
    if found is None:
        return []
    if found.submodule_search_locations:
        return [Path(place) for place in found.submodule_search_locations]
    return [Path(found.origin).parent] if found.origin else []
