"""The numbers that Python shares with the kernels are the kernels' own."""

import ast
from enum import IntEnum
from pathlib import Path

from burstline import _core
from burstline.schema import GAP_KINDS

STUB = Path(_core.__file__).with_name("_core.pyi")
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
        if [ast.unparse(base) for base in made.bases] == ["enum.IntEnum"]
    }


def test_the_stub_has_the_enumerations_of_the_kernels():
    of_kernels = {
        name: {one.name: int(one) for one in made} for name, made in ENUMERATIONS.items()
    }
    assert {"EventClass", "Written", "Defined"} <= set(of_kernels)
    assert members_in_the_stub() == of_kernels


def test_kinds_of_gaps_are_those_of_the_schema():
    assert tuple(kind.name.lower() for kind in sorted(_core.GapKind)) == GAP_KINDS


def test_kinds_of_events_to_write_have_no_holes():
    assert sorted(_core.Written) == list(range(1, len(_core.Written) + 1))
    assert sorted(_core.EventClass) == list(range(len(_core.EventClass)))
