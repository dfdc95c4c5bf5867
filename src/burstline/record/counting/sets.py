"""Sets of counters, one per run: read from a TOML file.

::

    [sets]
    work = ["PAPI_TOT_INS", "PAPI_TOT_CYC"]
    memory = ["PAPI_TOT_INS", "PAPI_L2_DCM"]
"""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

from burstline.errors import FormatError, printable

if TYPE_CHECKING:
    from pathlib import Path


def read_sets(path: Path) -> dict[str, list[str]]:
    """The counters of each set in a file."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FormatError(path, None, expected="a TOML file", found=str(error)) from error
    sets = document.get("sets")
    if isinstance(sets, list):
        sets = {str(number): counters for number, counters in enumerate(sets, start=1)}
    if not isinstance(sets, dict) or not sets or not all(map(_is_set, sets.items())):
        raise FormatError(
            path,
            None,
            expected="a table [sets] whose entries are lists of counters",
            found=printable(str(sets)),
            way_out='For instance: [sets] work = ["PAPI_TOT_INS", "PAPI_TOT_CYC"]',
        )
    return sets


def _is_set(entry: tuple[str, object]) -> bool:
    name, counters = entry
    return (
        re.fullmatch(r"[\w.-]+", name) is not None
        and isinstance(counters, list)
        and bool(counters)
        and all(isinstance(counter, str) and "," not in counter for counter in counters)
    )
