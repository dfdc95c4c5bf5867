"""What people read, from the top to the bottom: values and texts, for renderers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from burstline.values import Table


class Facts(NamedTuple):
    """Names and their values, a pair a line; missing styles of values are plain."""

    pairs: Iterable[tuple[str, str]]
    styles: Sequence[str] = ()


class Heading(NamedTuple):
    """A heading."""

    text: str


class Lines(NamedTuple):
    """Lines as they are, whatever the width."""

    lines: Sequence[str]


class Picture(NamedTuple):
    """A drawing as SVG, and what it says in a sentence."""

    title: str
    svg: bytes


Block = Facts | Table | Heading | Lines | Picture
