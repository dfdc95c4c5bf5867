"""From a linker's names of functions to the names that people know.

::

    _ZN6Domain8CommSendEi        ->  Domain::CommSend       C++
    __solver_MOD_sweep           ->  solver::sweep          gfortran, in a module
    sweep_                       ->  sweep_                 Fortran, in none
"""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
from functools import cache
from typing import TYPE_CHECKING, Final

from burstline.errors import printable
from burstline.extrae import read_function

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_MODULE = re.compile(r"__(\w+?)_MOD_(\w+)")
_CPP = ("_Z", "__Z")
_REFERENCE = re.compile(r"[ST][0-9A-Z]*_")
_MOST_REFERENCES, _LONGEST_HARMLESS, _LONGEST = 8, 512, 1 << 14
_LIBRARIES: Final = ("libstdc++.so.6", "libc++abi.so.1", "libc++.so.1")
_PATIENCE_S, _MOST_BYTES, _MOST_FAILURES = 5, 1 << 29, 4
_CHILD: Final = """
import ctypes, resource, sys
seconds, size = int(sys.argv[2]), int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
resource.setrlimit(resource.RLIMIT_AS, (size, size))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
library = ctypes.CDLL(sys.argv[1])
demangle = library.__cxa_demangle
demangle.restype = ctypes.c_void_p
status = ctypes.c_int()
for line in sys.stdin.buffer:
    at = demangle(line.rstrip(b"\\n"), None, None, ctypes.byref(status))
    text = ctypes.string_at(at)[:65536] if at else b""
    sys.stdout.buffer.write(text.replace(b"\\n", b" ") + b"\\n")
    sys.stdout.buffer.flush()
"""


class Demangler:
    """Gives functions the names under which the Paraver reader knows them.

    Names are demangled by the C++ library, which every machine has that runs this
    package. Such a name may stand for one that is exponentially longer: those that could
    are given to another process, whose time and memory are limited, and keep their form
    if it fails.
    """

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def __call__(self, name: str) -> str:
        """Give the name without its arguments, template arguments and clone suffixes.

        Examples
        --------
        >>> demangle = Demangler()
        >>> demangle("_ZN6Domain8CommSendIdEEvi"), demangle("__solver_MOD_sweep")
        ('Domain::CommSend', 'solver::sweep')
        >>> demangle("sweep_"), demangle("main._omp_fn.0"), demangle("solve.part.0")
        ('sweep_', 'main._omp_fn.0', 'solve')
        """
        if name not in self._known:
            self.learn([name])
        return self._known[name]

    def learn(self, names: Iterable[str]) -> None:
        """Demangle many names at once, which takes one process at most for all of them."""
        risky: list[str] = []
        for name in names:
            if name in self._known:
                continue
            if not name.startswith(_CPP) or len(name) > _LONGEST or not name.isascii():
                self._known[name] = _plain(name)
            elif _is_harmless(name):
                self._known[name] = _plain(_demangled(name) or name)
            else:
                risky.append(name)
        for name, text in zip(risky, _demangled_apart(risky), strict=True):
            self._known[name] = _plain(text or name)


def _is_harmless(name: str) -> bool:
    return len(name) <= _LONGEST_HARMLESS and len(_REFERENCE.findall(name)) <= _MOST_REFERENCES


def _plain(text: str) -> str:
    name = printable(read_function(text) or text, limit=_LONGEST)
    module = _MODULE.fullmatch(name)
    return f"{module[1]}::{module[2]}" if module else name


@cache
def _library() -> tuple[str, Callable[..., int | None]] | None:
    for name in _LIBRARIES:
        try:
            demangle = getattr(ctypes.CDLL(name), "__cxa_demangle")
        except (OSError, AttributeError):
            continue
        demangle.restype = ctypes.c_void_p
        return name, demangle
    return None


def _demangled(name: str) -> str | None:
    found = _library()
    if found is None:
        return None
    status = ctypes.c_int()
    at = found[1](name.encode(), None, None, ctypes.byref(status))
    if not at:
        return None
    text = ctypes.string_at(at).decode(errors="replace")
    ctypes.CDLL(None).free(ctypes.c_void_p(at))
    return text


def _demangled_apart(names: list[str]) -> list[str | None]:
    """Demangle in processes of limited time and memory; None where one failed."""
    found = _library()
    results: list[str | None] = []
    for _ in range(_MOST_FAILURES):
        if found is None or len(results) >= len(names):
            break
        finished = _one_process(found[0], names[len(results) :])
        results.extend(text or None for text in finished)
        if len(results) < len(names):
            results.append(None)  # the one that it failed at
    return results + [None] * (len(names) - len(results))


def _one_process(library: str, names: list[str]) -> list[str]:
    """Give what one process made of the names, up to the first that it failed at."""
    command = [sys.executable, "-I", "-S", "-c", _CHILD]
    try:
        done = subprocess.run(  # noqa: S603 -- our own interpreter and our own text
            [*command, library, str(_PATIENCE_S), str(_MOST_BYTES)],
            input="\n".join([*names, ""]).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_PATIENCE_S,
            check=False,
        )
        output = done.stdout
    except subprocess.TimeoutExpired as expired:
        output = expired.stdout or b""
    except OSError:
        return []
    return output.decode(errors="replace").split("\n")[:-1]
