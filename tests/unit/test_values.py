"""One function makes of a frozen result what JSON has: by its contract, or its fields."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from burstline.values import Contract, Documented, document


@dataclass(frozen=True, slots=True)
class Inner(Documented):
    """A result without a contract."""

    shares: np.ndarray
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Outer(Documented):
    """A result with one: a renamed key, a function, keys of a mapping."""

    inner: tuple[Inner, ...]
    more: dict[str, np.int64]
    total_ns: int

    CONTRACT: ClassVar[Contract] = (
        "total_ns",
        ("**", "more"),
        ("parts", "inner"),
        ("count", lambda self: len(self.inner)),
        ("below", ("total_ns",)),
    )


def test_a_contract_names_keys_in_order_and_what_is_behind_them():
    made = Outer((Inner(np.array([0.5, 1])),), {"b": np.int64(3), "a": np.int64(4)}, 7)

    parts = [{"shares": [0.5, 1.0], "name": None}]
    expected = {"total_ns": 7, "b": 3, "a": 4, "parts": parts, "count": 1}
    expected["below"] = {"total_ns": 7}
    assert json.dumps(document({"x": made})) == json.dumps({"x": expected})


def test_without_a_contract_a_result_is_its_fields_and_what_is_no_number_is_none():
    assert Inner(np.arange(2), "n").as_dict() == {"shares": [0, 1], "name": "n"}
    made = document([np.array([[0.5, np.nan]]), Pair(np.float64("nan"))])
    assert made == [[[0.5, None]], {"low": None, "high": None}]


class Pair(NamedTuple):
    """A row of a result."""

    low: float
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Holder(Documented):
    """A result that shows what its attributes have."""

    pair: Pair | None

    CONTRACT: ClassVar[Contract] = (("least", "pair.low"), "pair")


def test_a_contract_reaches_into_attributes_as_far_as_there_are_any():
    assert Holder(Pair(1, 2)).as_dict() == {"least": 1, "pair": {"low": 1, "high": 2}}
    assert Holder(None).as_dict() == {"least": None, "pair": None}
