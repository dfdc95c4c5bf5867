"""Values as they are: typed columns of tables, and a result as a document.

Whoever shows them knows units, digits, indents and widths, and makes texts safe to print.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from math import isnan
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias, TypeVar

T = TypeVar("T")
Contract: TypeAlias = Sequence[str | tuple[str, "str | Callable[[Any], Any] | Contract"]]
"""Keys in order: attributes, or a key and its attribute, which may be one of an attribute (None
where that is), its function, or the keys below it; a value for ``**`` has keys of its own."""


class Kind(Enum):
    """What a value is."""

    TEXT = "text"
    PATH = "path"  # names from the root
    TIME = "time"  # ns
    BYTES = "bytes"
    SHARE = "share"  # of 1
    COUNT = "count"  # a whole number
    AMOUNT = "amount"  # a mean of counts, or a large number
    RATIO = "ratio"  # a plain number


class Notation(NamedTuple):
    """How values of a kind are told."""

    kind: Kind
    digits: int | None = None  # behind the point; None: as the kind is told
    signed: bool = False
    absent: str = "-"  # where nothing is known
    unit: str = ""  # behind a plain number

    def or_nothing(self) -> Notation:
        """The same, with nothing where nothing is known."""
        return self._replace(absent="")


TEXT: Final = Notation(Kind.TEXT)
PATH: Final = Notation(Kind.PATH)
TIME: Final = Notation(Kind.TIME)
CHANGE: Final = Notation(Kind.TIME, signed=True)
BYTES: Final = Notation(Kind.BYTES)
SHARE: Final = Notation(Kind.SHARE)
COUNT: Final = Notation(Kind.COUNT)
AMOUNT: Final = Notation(Kind.AMOUNT)


def ratio(digits: int, *, signed: bool = False, absent: str = "-", unit: str = "") -> Notation:
    """A plain number with so many digits behind the point."""
    return Notation(Kind.RATIO, digits, signed, absent, unit)


class Value(NamedTuple):
    """A value that is told otherwise than others of its column."""

    value: Any
    notation: Notation


class Column(NamedTuple):
    """What stands above a column, how its values are told, and how wide it is at least."""

    name: str
    notation: Notation = TEXT
    width: int = 0


class Table(NamedTuple):
    """Values under their columns, with a title above, and styles of rows, as of Rich.

    The first `left` columns are told like text, of which the last is wrapped where it is too
    narrow; the others like numbers. A row of a tree has a depth. Spare columns, by their names,
    are left out one by one where a screen is too narrow for all.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    left: int = 1
    styles: Sequence[str] = ()
    depths: Sequence[int] = ()
    spare: Sequence[str] = ()


def table_of(
    items: Iterable[T],
    cells: Mapping[Column, Callable[[T], Any]],
    title: str = "",
    *,
    left: int = 1,
    styles: Sequence[str] = (),
) -> Table:
    """A table with a row for each item, its values made by functions below their columns."""
    rows = [[cell(item) for cell in cells.values()] for item in items]
    return Table(list(cells), rows, title, left, styles)


class Documented:
    """A frozen result as JSON has it by its contract; without one it is its fields by name."""

    __slots__ = ()
    CONTRACT: ClassVar[Contract] = ()

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        names = [each.name for each in fields(self)] if not self.CONTRACT else ()  # type: ignore[arg-type]
        return _by_contract(self, self.CONTRACT or names)


def _by_contract(result: object, contract: Contract) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for entry in contract:
        key, source = (entry, entry) if isinstance(entry, str) else entry
        if isinstance(source, str):
            value: Any = result
            for name in source.split("."):
                value = None if value is None else getattr(value, name)
            value = document(value)
        elif callable(source):
            value = document(source(result))
        else:
            value = _by_contract(result, source)
        made |= value if key == "**" else {key: value}
    return made


def document(value: Any) -> Any:  # noqa: ANN401 -- any value
    """A frozen result as JSON has it: fields by name, arrays as lists, None for no number.

    >>> import numpy as np
    >>> document((np.arange(2), None, {"a": np.int64(3), "b": float("nan")}))
    [[0, 1], None, {'a': 3, 'b': None}]
    """
    import numpy as np  # noqa: PLC0415 -- no help loads NumPy

    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if value is None or type(value) in {str, int, bool}:
        return value
    if isinstance(value, float):
        return None if isnan(value) else value
    if hasattr(value, "as_dict"):
        return value.as_dict()
    if is_dataclass(value):
        value = {each.name: getattr(value, each.name) for each in fields(value)}
    elif hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {name: document(each) for name, each in value.items()}
    return [document(each) for each in value] if isinstance(value, list | tuple) else value
