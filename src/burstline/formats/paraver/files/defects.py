"""What is odd in a file that is read all the same."""

from __future__ import annotations

from dataclasses import dataclass

from burstline.errors import printable


@dataclass(frozen=True, slots=True)
class Defect:
    """One kind of oddity.

    Attributes
    ----------
    kind : str
        Which oddity, in ``snake_case``.
    severity : str
        One of :data:`burstline.schema.SEVERITIES`.
    text : str
        Where first and what stood there, safe to print.
    count : int
        How often.
    """

    kind: str
    severity: str
    text: str
    count: int = 1


class Tally:
    """Counts oddities by kind and remembers the first of each.

    Memory is that of the kinds, however many oddities a file has.

    Examples
    --------
    >>> tally = Tally()
    >>> tally.note("pcf_line", "info", 7, "garbage")
    >>> tally.note("pcf_line", "info", 9, "more")
    >>> tally.defects()
    (Defect(kind='pcf_line', severity='info', text="line 7: 'garbage'", count=2),)
    """

    __slots__ = ("_counts", "_first")

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._first: dict[str, tuple[str, str]] = {}

    def note(self, kind: str, severity: str, line: int, found: str) -> None:
        """Count one oddity found on a line, counted from 1."""
        self._counts[kind] = self._counts.get(kind, 0) + 1
        if kind not in self._first:
            self._first[kind] = (severity, f"line {line}: {printable(found)!r}")

    def defects(self) -> tuple[Defect, ...]:
        """Give what was counted, in order of first appearance."""
        return tuple(
            Defect(kind, severity, text, self._counts[kind])
            for kind, (severity, text) in self._first.items()
        )


def decode(line: bytes) -> tuple[str, bool]:
    r"""Decode a line as UTF-8, or as Latin-1 where it is not; never fails.

    Returns
    -------
    tuple of str and bool
        The text, and whether it was UTF-8.

    Examples
    --------
    >>> decode(b"caf\xe9")
    ('café', False)
    """
    try:
        return line.decode(), True
    except UnicodeDecodeError:
        return line.decode("latin-1"), False
