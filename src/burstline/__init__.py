"""Explain what a parallel program did, from its execution trace.

The public names are listed in ``__init__.pyi``. Each is imported on first use,
so ``import burstline`` costs nothing and ``burstline --help`` is instant.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

__version__: Final = "0.1.0"

_HOMES: Final = {
    "BurstlineError": "errors",
    "FormatError": "errors",
    "InconsistentTraceError": "errors",
    "MemoryBudgetError": "errors",
    "MissingExtraError": "errors",
    "NotEnoughDataError": "errors",
    "ParameterError": "errors",
    "Profile": "profile",
    "Trace": "trace",
    "TruncatedTraceError": "errors",
    "UnsupportedRecordError": "errors",
    "burst_table": "merge",
    "fuse": "merge",
    "match": "merge",
    "operations": "",
    "read": "formats",
    "read_profile": "formats.cube",
    "schema": "",
    "select": "selection",
    "shift": "selection",
    "structure": "",
    "summarise": "summary",
    "write": "formats",
}
__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 -- the names are strings


def __getattr__(name: str) -> Any:  # noqa: ANN401 -- any public name
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES[name]
    if not home:
        return import_module(f"{__name__}.{name}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
