"""Markup of a page: built by one function, escaped in one place.

Whatever is text is made printable and escaped; only what was built here is markup. So no label
of a trace is ever obeyed, by a browser or by a terminal that prints the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape, unescape
from itertools import chain, repeat
from typing import Any, Final, NamedTuple

from burstline.errors import printable
from burstline.show.blocks import Block, Facts, Heading, Picture
from burstline.show.units import UNITS_OF_TIME, text_of
from burstline.values import Column, Kind, Notation, Table, Value

_LONGEST: Final = 400
"""Characters of a text: a label of megabytes would make the page one."""
_TAG: Final = re.compile(r"<[^>]*>")
_VOID: Final = frozenset({"meta", "br", "input"})
_DRAWN: Final = frozenset({"rect", "path", "circle", "line"})
"""Elements of pictures without content, which end themselves."""
MOST_ROWS: Final = 200
DEEPEST: Final = 9
"""Levels of a tree that are indented: style sheets have a class for each."""
_FEWEST_SORTED: Final = 3
_SHORT: Final = 24
"""Characters that are not broken into lines."""
_LEAST_SHARE: Final = 0.0005
_UNITS_OF_BYTES: Final = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"), (1, "B"))
_LEAST_IN_UNIT: Final = 10
"""Of the largest value of a column: so small ones keep their digits."""
_LONGEST_ATTRIBUTE: Final = 20_000
_NUMBERS: Final = frozenset(Kind) - {Kind.TEXT, Kind.PATH}


class Html(str):
    """Markup: what :func:`tag` and :func:`join` have made, and nobody else."""

    __slots__ = ()


Attributes = Mapping[str, str | float | bool | None]
Child = str | None
"""A text, or markup; nothing for None."""


def text(value: str, limit: int = _LONGEST) -> Html:
    r"""A text as markup: printable, at most `limit` long, and escaped.

    >>> text("<b>\u202egnp.exe")
    '&lt;b&gt;\ufffdgnp.exe'
    """
    return Html(escape(printable(value, limit=limit)))


def join(*parts: Child) -> Html:
    """Parts one behind the other: markup as it is, texts escaped."""
    return Html(
        "".join(
            part if isinstance(part, Html) else text(part) for part in parts if part is not None
        )
    )


def tag(name: str, /, *children: Child, **attributes: str | float | bool | None) -> Html:
    """An element: ``class_`` is its class, ``data_x`` an attribute ``data-x``.

    An attribute is left out if it is None or false, and stands alone if it is true.

    >>> tag("a", "1 < 2", href="#waits", class_="n")
    '<a href="#waits" class="n">1 &lt; 2</a>'
    """
    words = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        shown = _name(key)
        if shown == "href" and not str(value).startswith("#"):
            raise ValueError(f"a page links to itself alone, not to {value!r}")
        words.append(shown if value is True else f'{shown}="{_attribute(value)}"')
    if name in _DRAWN and not children:
        return Html(f"<{' '.join(words)}/>")
    opened = f"<{' '.join(words)}>"
    return Html(opened if name in _VOID else f"{opened}{join(*children)}</{name}>")


@cache
def _name(key: str) -> str:
    """The name of an attribute, of the keyword that says it."""
    return key if key == "viewBox" else key.removesuffix("_").replace("_", "-")


def _attribute(value: str | float) -> str:
    """A text as markup; a number as short as it can be: a hundredth of a pixel is enough."""
    if isinstance(value, str):
        return text(value, _LONGEST_ATTRIBUTE)
    return f"{value:.2f}".rstrip("0").rstrip(".")


def plain(part: str) -> str:
    """The text of markup, or a text as it is.

    >>> plain(tag("b", "1 < 2"))
    '1 < 2'
    """
    return unescape(_TAG.sub("", part)) if isinstance(part, Html) else part


def link(target: str, *children: Child, **attributes: str | bool | None) -> Html:
    """A link to a place of the page."""
    return tag("a", *children, href=f"#{target}", **attributes)


def code(value: str) -> Html:
    """A name of the program's source."""
    return tag("code", value)


def heading(value: Child, note: Child = None) -> Html:
    """The title of a picture or table, and a sentence below it."""
    return join(tag("h3", value), None if note is None else tag("p", note, class_="sub"))


def tabs(name: str, panels: Sequence[tuple[str, Html]]) -> Html:
    """Panels of which one is shown; all of them, one below the other, without a script."""
    shown = [
        tag("div", tag("p", label, class_="sub no-js"), panel, data_tab=label)
        for label, panel in panels
    ]
    return tag("div", *shown, class_="tabs", data_tabs=name)


def share_text(share: float | None) -> str:
    """A share in percent: what is there is never told as 0.

    >>> share_text(0.505), share_text(0.0001), share_text(0), share_text(None)
    ('50.5 %', '< 0.1 %', '0 %', '-')
    """
    if share is None:
        return "-"
    if share == 0:
        return "0 %"
    return "< 0.1 %" if share < _LEAST_SHARE else f"{100 * share:.1f} %"


def facts(pairs: Iterable[tuple[str, Child]]) -> Html:
    """Names, and what is to be said of them."""
    shown = [join(tag("dt", name), tag("dd", value)) for name, value in pairs]
    return tag("dl", *shown, class_="facts")


def table(
    block: Table,
    *,
    kind: str = "",
    rows: Sequence[Attributes] = (),
    sums: Sequence[Sequence[Any]] = (),
    most: int = MOST_ROWS,
    bold: bool = False,
    alike: bool = False,
) -> Html:
    """A table of typed columns: each in one unit, which its head names, and sortable.

    `rows` are attributes of rows, `sums` rows below all others, which stay there. Of more than
    `most` rows the rest is counted. With `bold` the largest number of a column stands out;
    with `alike` all times are in one unit, so that columns are compared.
    """
    shown = [list(row) for row in block.rows[:most]]
    values = [[row[k] for row in shown] for k in range(len(block.columns))]
    if alike:
        times = [k for k, each in enumerate(block.columns) if each.notation.kind is Kind.TIME]
        every = [value for k in times for value in values[k]]
        values = [every if k in times else each for k, each in enumerate(values)]
    heads = [_head(*each) for each in zip(block.columns, values, strict=True)]
    largest = [_largest([row[k] for row in shown]) if bold else None for k in range(len(heads))]
    lines = zip(shown, chain(block.depths, repeat(0)), chain(rows, repeat({})), strict=False)
    body = [tag("tr", *_cells(row, heads, largest, at), **more) for row, at, more in lines]
    foot = [tag("tr", *_cells(row, heads, [None] * len(heads))) for row in sums]
    sortable = "" if block.depths or len(shown) < _FEWEST_SORTED else " sort"
    whole = tag(
        "table",
        tag("thead", tag("tr", *(head.shown for head in heads))),
        tag("tbody", *body),
        tag("tfoot", *foot) if foot else None,
        class_=f"t {kind}".strip() + sortable,
    )
    left_out = len(block.rows) - len(shown)
    rest = tag("p", f"{left_out:,} more rows are left out here.", class_="sub")
    title = heading(block.title) if block.title else None
    return join(title, tag("div", whole, class_="scroll"), rest if left_out else None)


class _Head(NamedTuple):
    """A column of a table, what stands above it, and the unit of its numbers."""

    column: Column
    shown: Html
    unit: tuple[float, str]
    is_number: bool


def _head(column: Column, values: Sequence[Any]) -> _Head:
    unit = scale(column.notation, values)
    is_number = column.notation.kind in _NUMBERS
    named = join(" ", tag("small", unit[1])) if unit[1] else None
    shown = tag("th", column.name, named, scope="col", class_="n" if is_number else None)
    return _Head(column, shown, unit, is_number)


def _cells(
    row: Sequence[Any], heads: Sequence[_Head], largest: Sequence[float | None], depth: int = 0
) -> list[Html]:
    return [
        _cell(value, head, most, None if k else depth)
        for k, (value, head, most) in enumerate(zip(row, heads, largest, strict=True))
    ]


def _largest(values: Iterable[Any]) -> float | None:
    numbers = [value for value in values if isinstance(value, int | float)]
    return max(numbers) if len(numbers) > 2 and max(numbers) > min(numbers) else None


def scale(notation: Notation, values: Iterable[Any]) -> tuple[float, str]:
    """What a column's values are divided by, and the unit that makes of them."""
    units = {Kind.TIME: UNITS_OF_TIME, Kind.BYTES: _UNITS_OF_BYTES}.get(notation.kind)
    numbers = [abs(value) for value in values if isinstance(value, int | float)]
    if units is None or not numbers:
        return 1, ""
    most = max(numbers)
    return next((each for each in units if most >= _LEAST_IN_UNIT * each[0]), units[-1])


def _cell(value: Any, head: _Head, most: float | None, depth: int | None) -> Html:  # noqa: ANN401 -- of any kind
    notation, number = head.column.notation, value
    if isinstance(value, Html):
        number, shown = None, value
    elif isinstance(value, Value):
        number, shown = value.value, text(text_of(*value))
    elif head.is_number:
        shown = text(number_text(value, notation, head.unit))
    else:
        shown = text(text_of(value, notation))
    is_name = depth is not None and not head.is_number
    is_short = not head.is_number and len(shown) <= _SHORT
    classes = ["n"] * head.is_number + ["s"] * is_short
    classes += [f"d{min(depth, DEEPEST)}"] if depth else []
    classes += ["max"] * (head.is_number and most is not None and value == most)
    return tag(
        "th" if is_name else "td",
        shown,
        scope="row" if is_name else None,
        class_=" ".join(classes) or None,
        data_v=f"{number:.12g}" if isinstance(number, int | float) else None,
    )


def number_text(value: float | None, notation: Notation, scale: tuple[float, str]) -> str:
    """A number of a column, in the unit of the column.

    >>> from burstline.values import TIME
    >>> number_text(35_400_000, TIME, (1e6, "ms")), number_text(12_000, TIME, (1e6, "ms"))
    ('35.4', '< 0.1')
    """
    if value is None:
        return notation.absent
    by, unit = scale
    if notation.kind is Kind.SHARE and notation.digits is None:
        return share_text(value)
    if not unit:
        return text_of(value, notation)
    scaled = value / by
    if by == 1 or not value:
        return f"{scaled:,.0f}"
    return "< 0.1" if 0 < scaled < 0.05 else f"{scaled:,.1f}"


def blocks(parts: Iterable[Block]) -> Html:
    """What other renderers show as well, one below the other."""
    shown = []
    for part in parts:
        if isinstance(part, Facts):
            shown.append(facts(part.pairs))
        elif isinstance(part, Table):
            shown.append(table(part))
        elif isinstance(part, Heading):
            shown.append(heading(part.text))
        elif isinstance(part, Picture):
            shown.append(heading(part.title))
        else:
            shown.append(tag("pre", "\n".join(part.lines)))
    return join(*shown)


def data_block(name: str, value: Any) -> Html:  # noqa: ANN401 -- a document of JSON
    """Data of a script: as JSON that no browser takes for markup."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Html(f'<script type="application/json" id="{name}">{text}</script>')
