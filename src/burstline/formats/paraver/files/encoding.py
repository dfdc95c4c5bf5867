"""Text of files that claim no encoding."""

from __future__ import annotations


def decode(line: bytes) -> tuple[str, bool]:
    """A line as UTF-8, or as Latin-1 where it is not, and whether it was UTF-8."""
    try:
        return line.decode(), True
    except UnicodeDecodeError:
        return line.decode("latin-1"), False
