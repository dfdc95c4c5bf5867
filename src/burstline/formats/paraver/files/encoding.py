"""Text of files that claim no encoding."""

from __future__ import annotations


def decode(line: bytes) -> tuple[str, bool]:
    r"""Decode a line as UTF-8, or as Latin-1 where it is not; never fails.

    >>> decode(b"caf\xe9")
    ('café', False)
    """
    try:
        return line.decode(), True
    except UnicodeDecodeError:
        return line.decode("latin-1"), False
