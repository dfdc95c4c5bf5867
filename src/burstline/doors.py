"""Doors: the names of a package, each imported on first use, after SPEC 1 of Scientific Python.

A door is an ``__init__.py`` without code. Its names, and where each is at home, stand in the
``__init__.pyi`` beside it: above ``__all__`` those for everybody, below those for other rooms.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def door(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of the package that `file` opens."""
    homes, public = names_of(f"{file.removesuffix('.py')}.pyi")

    def attribute(name: str) -> Any:  # noqa: ANN401 -- any name
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        if home == ".":
            return import_module(f".{name}", package)
        value = getattr(import_module(home, package), name)
        # The next access finds the name in the module, without this function.
        vars(import_module(package))[name] = value
        return value

    return attribute, lambda: sorted(public), public


def names_of(stub: str) -> tuple[dict[str, str], list[str]]:
    """The home of each name of a stub, and those of them that are for everybody."""
    # Every import is a line of its own, ``from home import name as name``: splitting lines
    # takes a hundredth of the time of a parser, at each start.
    homes: dict[str, str] = {}
    public: list[str] | None = None
    with open(stub, encoding="utf-8") as lines:  # noqa: PTH123 -- pathlib takes 5 ms to load
        for line in lines:
            words = line.split()
            if words[:1] == ["from"]:
                homes[words[3]] = words[1]
            elif words[:1] == ["__all__"]:
                public = list(homes)
    return homes, list(homes) if public is None else public
