"""Which MPI operation each number in raw files means."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from burstline.formats.raw.events.calls import join_names

if TYPE_CHECKING:
    from collections.abc import Mapping

_TABLE: Final = "calls.toml"


def operation_numbers() -> Mapping[int, str]:
    """The operation of each number, from the recorder's own table of calls."""
    text = files("burstline").joinpath("record", _TABLE).read_text(encoding="utf-8")
    return join_names([(call["name"], call["number"]) for call in tomllib.loads(text)["call"]])
