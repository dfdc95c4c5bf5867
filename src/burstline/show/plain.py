"""Results for programs: one JSON document, or CSV. Notes for people go to standard error."""

from __future__ import annotations

import csv
import json
import sys
from typing import TYPE_CHECKING, Any

from burstline.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def print_json(document: dict[str, Any]) -> None:
    """Print one JSON document on standard output."""
    sys.stdout.write(json.dumps(document, indent=2, allow_nan=False) + "\n")


def print_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows as CSV on standard output."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(
        [printable(cell) if isinstance(cell, str) else cell for cell in row] for row in rows
    )


def note(text: str) -> None:
    """Say something in one line on standard error."""
    sys.stderr.write(printable(" ".join(text.split()), limit=1_000) + "\n")
