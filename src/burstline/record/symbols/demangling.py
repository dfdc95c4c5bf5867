"""From a linker's names of functions to the names that people know.

::

    _ZN6Domain8CommSendEi        ->  Domain::CommSend(int)  C++
    __solver_MOD_sweep           ->  solver::sweep          gfortran, in a module
    sweep_                       ->  sweep_                 Fortran, in none

A mangled name of 100 letters can stand for one of 2**36: only the child demangles.
"""

from __future__ import annotations

import ctypes
import re
from functools import cache
from typing import TYPE_CHECKING, Final

from burstline.errors import printable
from burstline.extrae import read_function

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST: Final = 1 << 14
"""Characters of the longest name that is looked at."""

_MODULE = re.compile(r"__(\w+?)_MOD_(\w+)")
_CPP = ("_Z", "__Z")
_LIBRARIES: Final = ("libstdc++.so.6", "libc++abi.so.1", "libc++.so.1")


def is_mangled(name: str) -> bool:
    """Whether a name is one of C++ that can be demangled."""
    return name.startswith(_CPP) and len(name) <= LONGEST and name.isascii()


def plain(name: str) -> str:
    """The name without its arguments, template arguments and clone suffixes, safe to print.

    >>> plain("Domain::CommSend<double>(int)"), plain("__solver_MOD_sweep")
    ('Domain::CommSend', 'solver::sweep')
    >>> plain("sweep_"), plain("main._omp_fn.0"), plain("solve.part.0")
    ('sweep_', 'main._omp_fn.0', 'solve')
    """
    text = printable(read_function(name) or name, limit=LONGEST)
    module = _MODULE.fullmatch(text)
    return f"{module[1]}::{module[2]}" if module else text


@cache
def _demangle() -> Callable[..., int | None] | None:
    """The function of the C++ library, which everyone has who runs this package."""
    for name in _LIBRARIES:
        try:
            function = getattr(ctypes.CDLL(name), "__cxa_demangle")
        except (OSError, AttributeError):
            continue
        function.restype = ctypes.c_void_p
        return function
    return None


def demangled(name: str) -> str | None:
    """What a C++ name stands for; None if it stands for nothing."""
    demangle = _demangle()
    if demangle is None:
        return None
    address = demangle(name.encode(), None, None, ctypes.byref(ctypes.c_int()))
    if not address:
        return None
    text = ctypes.string_at(address).decode(errors="replace")
    ctypes.CDLL(None).free(ctypes.c_void_p(address))
    return text
