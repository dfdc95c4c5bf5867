"""The text form's lines: from characters to statements, and the words and places in them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from burstline.errors import FormatError

_QUOTED = r'"(?:[^"\\]|\\.)*"'
_TOKEN = re.compile(rf'\s*(#.*|\||(?:{_QUOTED}|[^\s|"#])(?:{_QUOTED}|[^\s|"])*)')
_READING = re.compile(rf"({_QUOTED}|[^\"=]+)=([+-]?[0-9][0-9_]*)")
_NUMBER = re.compile(r"[+-]?[0-9]+(_[0-9]+)*")
_MOST_DIGITS: Final = 40
_WORD: Final = "a word, or one quoted as in JSON"

SMALLEST: Final = -(2**63)
LARGEST: Final = 2**63 - 1
LARGEST_ID: Final = 2**31 - 1
NOTHING: Final = "-"
"""How a value that is not known is written."""
Place = tuple[int, int, int]
"""Application, rank and thread."""

MOST_LOCATIONS: Final = 1 << 16
"""So many are read, and applications have lower numbers or this one."""

_PLACE = re.compile(r"(?:([0-9]{1,10})/)?([0-9]{1,10})(?:\.([0-9]{1,10}))?")


class Statement:
    """One statement: its words, read from left to right; readings are set apart."""

    __slots__ = ("_next", "line", "path", "readings", "words")

    def __init__(self, path: Path, line: int, words: Sequence[str]) -> None:
        self.path, self.line = path, line
        self.readings: dict[str, int] = {}
        self.words: list[str] = []
        self._next = 0
        for word in words:
            reading = _READING.fullmatch(word)
            if reading:
                counter = self._plain(reading[1])
                self.readings[counter] = self.integer(reading[2], SMALLEST + 1, LARGEST)
            else:
                self.words.append(self._plain(word))

    def error(self, expected: str, found: str | None = None) -> FormatError:
        """The error of this statement; `found` is all of it unless given."""
        return FormatError(
            self.path,
            self.line,
            expected=expected,
            found=" ".join(self.words) if found is None else found,
        )

    def _plain(self, word: str) -> str:
        if '"' not in word:
            return word
        if not word.startswith('"'):
            raise self.error(_WORD, word)
        try:
            plain = json.loads(word)
            plain.encode()
        except (ValueError, UnicodeError) as error:
            raise self.error(_WORD, word) from error
        return str(plain)

    def integer(self, word: str, lowest: int, highest: int) -> int:
        """A word as a number between two bounds, both included."""
        if not _NUMBER.fullmatch(word) or len(word) > _MOST_DIGITS:
            raise self.error("a number", word)
        value = int(word)
        if not lowest <= value <= highest:
            raise self.error(f"a number from {lowest} to {highest}", word)
        return value

    @property
    def rest(self) -> list[str]:
        """The words not yet read."""
        return self.words[self._next :]

    def word(self, what: str) -> str:
        """Read the next word, which is `what`."""
        if self._next == len(self.words):
            raise self.error(what)
        self._next += 1
        return self.words[self._next - 1]

    def number(self, what: str, lowest: int = 0, highest: int = LARGEST_ID) -> int:
        """Read the next word as a number; `what` it is, for the error."""
        return self.integer(self.word(what), lowest, highest)

    def keyword(self, word: str) -> None:
        """Read the next word, which has to be `word`."""
        if self.word(word) != word:
            raise self.error(word, self.words[self._next - 1])

    def numbers(self) -> list[int]:
        """Read numbers until the next word that is none."""
        values: list[int] = []
        while self._next < len(self.words) and _NUMBER.fullmatch(self.words[self._next]):
            values.append(self.number("a number"))
        return values

    def choice(self, what: str, word: str, values: Sequence[str]) -> str:
        """A word that is `what`, one of `values`."""
        if word not in values:
            raise self.error(f"{what}: one of {', '.join(values)}", word)
        return word

    def end(self) -> None:
        """Raise unless every word was read."""
        if self.rest:
            raise self.error("nothing more", self.rest[0])


def statements(content: str, path: Path) -> Iterator[Statement]:
    """The statements of a text, in order; never one without words."""
    for line, characters in enumerate(content.split("\n"), start=1):
        words: list[str] = []
        position = 0
        characters = characters.rstrip()  # noqa: PLW2901 -- only blanks are lost
        while position < len(characters):
            token = _TOKEN.match(characters, position)
            if token is None:
                raise FormatError(
                    path, line, expected="a closing quote", found=characters[position:]
                )
            position = token.end()
            if token[1] == "|":
                if words:
                    yield Statement(path, line, words)
                words = []
            elif not token[1].startswith("#"):
                words.append(token[1])
        if words:
            yield Statement(path, line, words)


def place_of(word: str, statement: Statement) -> Place | None:
    """The place a word names: ``rank``, ``rank.thread``, ``application/rank.thread``."""
    match = _PLACE.fullmatch(word)
    if match is None:
        return None
    application, *rest = (part or "0" for part in match.groups())
    rank, thread = (statement.integer(part, 0, LARGEST_ID) for part in rest)
    return statement.integer(application, 0, MOST_LOCATIONS), rank, thread


def place_word(place: Place) -> str:
    """The word that names a place, without what is zero."""
    application, rank, thread = place
    return (f"{application}/" if application else "") + f"{rank}" + f".{thread}" * bool(thread)


def thread_name(place: Place) -> str:
    """The name of a location that was given none, as Extrae would."""
    application, rank, thread = place
    return f"THREAD {application + 1}.{rank + 1}.{thread + 1}"
