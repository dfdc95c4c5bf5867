"""Missing values: what stands in arrays where a table has null."""

from __future__ import annotations

from typing import Final

UNKNOWN: Final = -1
"""An absent id (rank, call, communicator, call path, source of a tag)."""

NO_VALUE: Final = -(2**63)
"""An absent time, size or counter."""
