"""The map of the code is true, and fits three screens."""

from __future__ import annotations

import re
import tomllib

from repository.source import PACKAGE, ROOT

PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
PROSE = re.sub(r"^```.*?^```", "", PAGE, flags=re.MULTILINE | re.DOTALL)
SCREENS = 3 * 50
ARROWS = re.compile(r"^`[a-z_]+` →.*$", re.MULTILINE)


def test_it_fits_three_screens():
    assert len(PAGE.splitlines()) <= SCREENS


def test_every_path_exists():
    paths = {word for word in re.findall(r"`([^`\s]+)`", PROSE) if "/" in word or "." in word}
    paths -= {word for word in paths if word.startswith("..") or not word.strip("./")}
    lost = [
        path
        for path in sorted(paths)
        if not any(
            (root / path).exists() for root in (ROOT, PACKAGE, PACKAGE / "record/native")
        )
        and "." + path.rpartition(".")[2] not in {".prv", ".otf2"}
    ]

    assert len(paths) > 20
    assert not lost


def test_every_room_is_told_of():
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}

    assert not [room for room in rooms if f"`{room}/`" not in PROSE]


def test_layers_are_those_that_are_checked():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = next(
        one
        for one in settings["tool"]["importlinter"]["contracts"]
        if one["name"].startswith("Data flows upward")
    )
    (told,) = ARROWS.findall(PAGE)
    layers = [layer for layer in contract["layers"] if layer != "__main__"]

    assert re.findall(r"`([^`]+)`", told.partition(";")[0]) == layers
