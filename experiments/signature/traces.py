"""Phases of traces by each method, as Markdown: how many, what they cover, what they predict.

::

    python -m experiments.signature.traces FOLDER

The rank that stands for all is shown. The error is that of predicting the trace by its own
early part.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import burstline
from burstline.signature import METHODS, phases

PATTERNS = ("*.prv", "*.prv.gz", "**/*.otf2")


def traces(folder: Path) -> list[Path]:
    """The traces below a folder."""
    return sorted(path for pattern in PATTERNS for path in folder.glob(pattern))


def rows(path: Path) -> Iterator[str]:
    """The rows of a trace."""
    trace = burstline.read(path)
    name = path.parent.name if path.suffix == ".otf2" else path.name.partition(".")[0]
    for method in METHODS:
        document = phases(trace, method=method).as_dict()
        found = {row["rank"]: row for row in document["processes"]}[document["representative"]]
        yield (
            f"| {name} | `{method}` | {found['relevant']} of {found['phases']} | "
            f"{found['once']} | {found['coverage']:.3f} | "
            f"{found['early_ns'] / found['actual_ns']:.2f} | {found['error']:+.1%} |\n"
        )
        name = ""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m experiments.signature.traces")
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    sys.stdout.write(
        "| trace | method | relevant phases | once | coverage | cut at | error |\n"
        "| --- | --- | --: | --: | --: | --: | --: |\n"
    )
    for path in traces(folder):
        sys.stdout.writelines(rows(path))


if __name__ == "__main__":
    main()
