"""The reader of raw files has the numbers of the recorder: all of them, and no others.

The headers of the recorder are read as text; what they define is compared by name and value.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from burstline.formats.intake import calls
from burstline.formats.raw.events import openmp
from burstline.formats.raw.files import layout
from repository.source import PACKAGE

NATIVE = PACKAGE / "record" / "native"
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
NUMBER = re.compile(r"(\w+) = (-?\d+)")
DEFINE = re.compile(r"^#define (BURST_\w+) (\S+)$", re.MULTILINE)
FIELD = re.compile(r"\s*(\w+) ([^;]+);")
NAME = re.compile(r"(\w+)(?:\[(\d+)\])?")
FORMATS = {"uint16_t": "<u2", "uint32_t": "<u4", "uint64_t": "<u8"}


def header(name):
    """Return a header of the recorder without comments."""
    return re.sub(r" +$", "", COMMENT.sub("", (NATIVE / name).read_text()), flags=re.MULTILINE)


def block(text, kind, name):
    """Return what stands between the braces of an enumeration or a structure."""
    return re.search(rf"^{kind} {name} {{(.*?)}};", text, re.MULTILINE | re.DOTALL)[1]


def enumeration(text, name, prefix="BURST_"):
    """Return the numbers of an enumeration by name; each has its number beside it."""
    body = block(text, "enum", name)
    found = {key: int(value) for key, value in NUMBER.findall(body)}
    assert re.findall(r"\w+", re.sub(r"=[^,]*", "", body)) == list(found)
    assert all(key.startswith(prefix) for key in found)
    return {key.removeprefix(prefix): value for key, value in found.items()}


def structure(text, name):
    """Return the fields of a structure as NumPy describes them, aligned as C does."""
    fields = []
    for kind, names in FIELD.findall(block(text, "struct", name)):
        for key, count in NAME.findall(names):
            if kind == "char":
                fields.append((key, f"S{count}"))
            else:
                fields.append((key, FORMATS[kind], *([int(count)] if count else [])))
    return np.dtype(fields, align=True)


def numbers(members):
    """Return the numbers of a Python enumeration by name."""
    return {member.name: member.value for member in members}


@pytest.mark.parametrize(
    ("name", "enum", "members", "prefix"),
    [
        ("raw.h", "burst_kind", layout.Kind, "BURST_"),
        ("raw.h", "burst_communicator", layout.CommunicatorKind, "BURST_"),
        ("raw.h", "burst_transfer", calls.Transfer, "BURST_RMA_"),
        ("raw.h", "burst_name", layout.Named, "BURST_NAME_"),
        ("raw.h", "burst_code", layout.CodePart, "BURST_CODE_"),
        ("raw.h", "burst_ending", layout.Ending, "BURST_BY_"),
        ("raw.h", "burst_processors", layout.Processors, "BURST_"),
        ("omp.h", "burst_omp", openmp.Op, "BURST_OMP_"),
    ],
)
def test_every_number_of_an_enumeration_is_the_recorders(name, enum, members, prefix):
    assert numbers(members) == enumeration(header(name), enum, prefix)


def test_every_enumeration_of_the_format_is_compared():
    enums = re.findall(r"^enum (\w+)", header("raw.h") + header("omp.h"), re.MULTILINE)

    assert sorted(enums) == [
        "burst_code", "burst_communicator", "burst_ending", "burst_kind", "burst_name",
        "burst_no_rank", "burst_omp", "burst_omp_lock", "burst_omp_sync", "burst_omp_work",
        "burst_processors", "burst_transfer",
    ]  # fmt: skip


def test_records_of_calls_have_the_numbers_of_the_recorder_in_every_format():
    assert numbers(calls.DetailKind) == numbers(layout.OF_THE_CALL)


def test_what_stands_for_no_rank_is_the_recorders():
    found = enumeration(header("raw.h"), "burst_no_rank")

    assert found.pop("UNKNOWN_RANK") < calls.ANY_SOURCE  # as other ranks that there are not
    assert found == {"PROC_NULL": calls.PROC_NULL, "ANY_SOURCE": calls.ANY_SOURCE}


def test_every_constant_is_the_recorders():
    found = dict(DEFINE.findall(header("raw.h")))

    assert found == {
        "BURST_RAW_MAGIC": f'"{layout.MAGIC.decode()}"',
        "BURST_RAW_VERSION": str(layout.VERSION),
        "BURST_RAW_HEADER_BYTES": str(layout.HEADER_BYTES),
        "BURST_RAW_SUFFIX": f'"{layout.SUFFIX}"',
        "BURST_TAIL_SUFFIX": f'"{layout.TAIL_SUFFIX}"',
        "BURST_TAIL_MAGIC": f'"{layout.TAIL_MAGIC.decode()}"',
        "BURST_PYTHON_MODULE": f"{layout.PYTHON_MODULE:#x}",
        "BURST_COUNT_TYPE": str(layout.COUNT_TYPE),
        "BURST_TIME_TYPE": str(layout.TIME_TYPE),
    }


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("burst_raw_header", layout.HEADER),
        ("burst_record", layout.RECORD),
        ("burst_tail", layout.TAIL),
    ],
)
def test_every_field_stands_where_the_recorder_puts_it(name, fields):
    own = structure(header("raw.h"), name)

    assert own.names == fields.names
    assert dict(own.fields) == dict(fields.fields)
    assert own.itemsize == fields.itemsize


@pytest.mark.parametrize(
    ("enum", "roles", "others"),
    [
        ("work", openmp.WORK_ROLES, {"SINGLE_OTHER": "single", "OTHER_WORK": "call"}),
        ("sync", openmp.SYNC_ROLES, {}),
        ("lock", openmp.LOCK_ROLES, {}),
    ],
)
def test_regions_have_the_roles_of_what_the_recorder_saw(enum, roles, others):
    kinds = enumeration(header("omp.h"), f"burst_omp_{enum}", "BURST_OMP_")
    found = {name: openmp.ROLES[roles[number]] for name, number in kinds.items()}

    assert found == {name: others.get(name, name.lower()) for name in kinds}
    assert sorted(kinds.values()) == list(range(1, len(roles)))


def test_counters_of_work_stand_where_compiled_programs_put_them():
    own = enumeration(header("runtime.h"), "burst_work_counter", "BURST_WORK_")
    text = (PACKAGE / "record" / "pass" / "tally.h").read_text()
    listed = re.search(r"enum Counter : unsigned \{(.*?)\};", text, re.DOTALL)[1]
    *names, (last, count) = re.findall(r"(\w+)(?: = (\d+))?,?\n", listed)

    assert {name: place for place, (name, _) in enumerate(names)} | {last: int(count)} == own
