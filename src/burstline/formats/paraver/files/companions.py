"""The names of the files beside a ``.prv``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burstline.errors import ParameterError

if TYPE_CHECKING:
    from pathlib import Path


def companion_paths(path: Path) -> tuple[Path, Path]:
    """The paths of the ``.pcf`` and ``.row`` beside a ``.prv`` or ``.prv.gz``."""
    stem = path.name.removesuffix(".gz").removesuffix(".prv")
    if not stem or path.name not in {f"{stem}.prv", f"{stem}.prv.gz"}:
        raise ParameterError(f"{path}: the name of a Paraver trace ends in .prv or .prv.gz")
    return path.with_name(f"{stem}.pcf"), path.with_name(f"{stem}.row")
