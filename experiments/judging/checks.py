"""Which checks hold on traces of a folder, and what was found: the table of docs/results."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

import burstline
from burstline.answers import Check
from burstline.quantities import format_ns, format_share

_SUFFIX: Final = ".prv.gz"


def cell(check: Check) -> str:
    """What was found: bold where a check fails, a question mark where it is not known."""
    figure = "" if check.figure is None else _text(check.figure, check.unit)
    if check.passed is None:
        return f"{figure} ?".strip()
    return figure if check.passed else f"**{figure or 'fails'}**"


def _text(figure: float, unit: str) -> str:
    if unit == "ns":
        return format_ns(round(figure))
    return format_share(figure) if unit == "share" else f"{round(figure):,}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="with traces, as X.prv.gz")
    asked = parser.parse_args()
    heads: tuple[str, ...] = ()
    for path in sorted(asked.folder.glob(f"*{_SUFFIX}")):
        checks = burstline.open(path).verdict().checks
        if not heads:
            heads = ("trace", *(check.name for check in checks))
            print("|", " | ".join(heads), "|")
            print("|", " | ".join("---" for _ in heads), "|")
        print("|", " | ".join([path.name.removesuffix(_SUFFIX), *map(cell, checks)]), "|")


if __name__ == "__main__":
    main()
