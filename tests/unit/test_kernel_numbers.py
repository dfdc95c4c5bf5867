"""The numbers that Python shares with kernels and recorder are their own."""

import ast
import re
from enum import IntEnum
from pathlib import Path

import numpy as np

import burstline
from burstline import _core
from burstline.formats.intake.calls import DetailKind, Transfer
from burstline.formats.otf2.reading.details import OF_CALLS, EventRecords, raw_kinds
from burstline.formats.raw.files import layout
from burstline.model import GAP_KINDS

PACKAGE = Path(burstline.__file__).parent
RAW_H = PACKAGE / "record" / "native" / "raw.h"
STUB = PACKAGE / "_core.pyi"
ENUMERATIONS = {
    name: made
    for name, made in vars(_core).items()
    if isinstance(made, type) and issubclass(made, IntEnum)
}


def members_in_the_stub() -> dict[str, dict[str, int]]:
    classes = (node for node in ast.parse(STUB.read_text()).body if type(node) is ast.ClassDef)
    return {
        made.name: {
            line.targets[0].id: ast.literal_eval(line.value)
            for line in made.body
            if isinstance(line, ast.Assign)
        }
        for made in classes
        if [ast.unparse(base) for base in made.bases] == ["IntEnum"]
    }


def test_the_stub_has_the_enumerations_of_the_kernels():
    of_kernels = {
        name: {one.name: int(one) for one in made} for name, made in ENUMERATIONS.items()
    }
    assert {"EventClass", "Written", "Defined", "RecordKind"} <= set(of_kernels)
    assert members_in_the_stub() == of_kernels


def functions_in_the_stub() -> dict[str, tuple[list[str], str | None]]:
    """The parameters and the text of each kernel, and of each method of their classes."""
    body = ast.parse(STUB.read_text()).body
    nodes = [("", node) for node in body] + [
        (f"{made.name}.", node)
        for made in body
        if isinstance(made, ast.ClassDef)
        for node in made.body
    ]
    return {
        place + node.name: ([each.arg for each in node.args.args], ast.get_docstring(node))
        for place, node in nodes
        if isinstance(node, ast.FunctionDef) and not node.decorator_list
    }


def functions_of_the_kernels() -> dict[str, tuple[list[str], str | None]]:
    places = [("", _core)] + [
        (f"{made.__name__}.", made) for made in vars(_core).values() if isinstance(made, type)
    ]
    return {
        place + name: (re.findall(r"\bself\b|\w+(?=: )", head.partition(") ->")[0]), text)
        for place, owner in places
        for name, function in vars(owner).items()
        for head, text, _ in getattr(function, "__nb_signature__", ())
    }


def test_the_stub_has_the_parameters_and_texts_of_the_kernels():
    assert functions_in_the_stub() == functions_of_the_kernels()


def test_kinds_of_gaps_and_ways_of_transfers_are_ours_and_others_have_no_holes():
    assert tuple(kind.name.lower() for kind in sorted(_core.GapKind)) == GAP_KINDS
    ways = {way.name: int(way) for way in _core.Way}
    assert ways == {"PUT": Transfer.PUT, "GET": Transfer.GET}
    assert sorted(_core.Written) == list(range(1, len(_core.Written) + 1))
    assert sorted(_core.EventClass) == list(range(len(_core.EventClass)))


def test_kinds_of_records_of_calls_are_those_of_raw_files():
    columns = {column: np.zeros(1) for column in _core.otf2_record_fields().values()}
    of_calls = {}
    for kind in _core.RecordKind:
        found = raw_kinds(EventRecords(columns | {"kind": np.array([kind], np.int32)}))
        of_calls[kind.name] = found.item()
    plain = {name: code for name, code in of_calls.items() if name in DetailKind.__members__}

    assert {name: DetailKind(code).name for name, code in plain.items()} == {
        n: n for n in plain
    }
    assert DetailKind(of_calls["COLLECTIVE_START"]) is DetailKind.COLLECTIVE
    assert set(OF_CALLS.tolist()) == {
        _core.RecordKind[name] for name, code in of_calls.items() if code >= 0
    }


def test_a_name_of_a_value_stands_in_one_of_seven_columns():
    fields = _core.otf2_record_fields()
    together = ("partner", "communicator", "tag", "bytes", "request", "has_request", "message")
    assert [fields[name] for name in together] == list("abcdefg")
    assert set(fields.values()) == set("abcdefg")


def test_kinds_of_raw_records_are_those_of_the_recorder():
    body = re.search(r"enum burst_kind \{(.*?)\};", RAW_H.read_text(), re.DOTALL)
    assert body
    defined = {name: int(code) for name, code in re.findall(r"BURST_(\w+) = (\d+)", body[1])}
    assert {kind.name: int(kind) for kind in layout.Kind} == defined
    assert {kind.name: int(kind) for kind in DetailKind}.items() <= defined.items()
