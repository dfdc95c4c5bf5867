"""The wrappers of MPI functions: the table of calls becomes C.

::

    calls.toml ──┬──────────────────► operations.c   names of operations
                 └─ kinds.toml ─────► wrappers.c     what `python -m` of this module prints

Every function is defined twice, as ``MPI_X`` and ``PMPI_X``, because Fortran bindings call the
second. Statements use the names of arguments in the standard.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from burstline.model import CODES, COLLECTIVES, COUNTED

_RECORD: Final = Path(__file__).parents[1]
_TABLE: Final = _RECORD / "calls.toml"
_HEAD: Final = """\
/* Generated from calls.toml; do not edit. */
#include <stddef.h>

#include "collectives.h"
#include "init.h"
#include "messages.h"
#include "objects.h"
#include "requests.h"
#include "signature.h"

#define CALLER __builtin_return_address(0)
"""
_CALL: Final = re.compile(r"(\w+)(\[_c\])?(?:\((.*)\))?(?: since ([\d.]+))?")
_ARGUMENT: Final = re.compile(r"(.*?)\s*(\w+)((?:\[\d*\])*)")
_COLLECTIVES: Final = (
    ("collective", "", 0),
    ("icollective", ", MPI_Request *request", 0),
    ("collective_init", ", MPI_Info info, MPI_Request *request", 4),
)
"""Of each collective: the kind, the arguments that it has more, and the MPI that brought it."""
_INSTEAD: Final = {
    "@STATUS": (r"\bstatus\b", "known"),
    "@BATCH": (r"\barray_of_statuses\b", "batch.statuses"),
}
"""Arguments of the real call that others take the place of."""
_HAS_LARGE: Final = "MPI_VERSION >= 4"
_OPERATIONS_HEAD: Final = """\
/* Generated from calls.toml; do not edit. */
#include <stddef.h>
#include <stdint.h>

const char *burst_operation_name(uint16_t op);
extern const uint16_t burst_codes[];
int burst_completes(uint16_t op);
"""


@dataclass(frozen=True, slots=True)
class WrapperKind:
    """The statements of a wrapper, in their order; see ``kinds.toml``."""

    first: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    success: str = ""
    after: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    completes: bool = False


_STATEMENTS: Final = tomllib.loads((_RECORD / "kinds.toml").read_text(encoding="utf-8"))
KINDS: Final = {name: WrapperKind(**parts) for name, parts in _STATEMENTS["kinds"].items()}


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of an MPI function."""

    type: str
    name: str
    suffix: str

    def __str__(self) -> str:
        """The declaration in C."""
        space = "" if self.type.endswith("*") else " "
        return f"{self.type}{space}{self.name}{self.suffix}"

    @property
    def large(self) -> Argument:
        """The same argument of the large-count twin."""
        if self.type == "MPI_User_function *":
            return Argument("MPI_User_function_c *", self.name, self.suffix)
        wide = _wide(self.name)
        if wide is None:
            return self
        return Argument(re.sub(r"\bint\b", wide, self.type), self.name, self.suffix)


@dataclass(frozen=True, slots=True)
class WrappedCall:
    """A row of the table."""

    name: str
    number: int
    kind: str
    arguments: tuple[Argument, ...]
    large: bool = False
    sent: str = ""
    received: str = ""
    transfer: int = 0
    since: float = 0


def calls() -> tuple[WrappedCall, ...]:
    """The table of MPI functions, by their numbers."""
    table = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    found = [
        call for kind, parts in table.items() for part in parts for call in _calls(kind, part)
    ]
    return tuple(sorted(found, key=lambda call: call.number))


def wrappers_source() -> str:
    """The C text of the wrappers of all functions in the table."""
    table = calls()
    parts = [_HEAD, _declarations(table)]
    parts += [_function(call) for call in table]
    twins = [_function(call, "_c") for call in table if call.large]
    return "\n".join([*parts, f"#if {_HAS_LARGE}", *twins, "#endif", ""])


def operations_source() -> str:
    """The C text of the names and codes of operations, and of those that complete requests."""
    table = calls()
    return "\n".join([_OPERATIONS_HEAD, _names(table), _codes(table), _completions(table)])


def _calls(kind: str, part: Mapping[str, Any]) -> Iterator[WrappedCall]:
    """The functions in a part of the table; a row without arguments has those before it."""
    rows = {int(key): row for key, row in part.items() if key.isdecimal()}
    told = {key: value for key, value in part.items() if not key.isdecimal()}
    ways = _COLLECTIVES if kind == "collective" else [(kind, "", 0)] * len(rows)
    large = arguments = ""
    for (number, row), (own, more, since) in zip(rows.items(), ways, strict=True):
        name, twin, given, version = _read(_CALL, row)
        if given is not None:
            large, arguments = twin, given
        declared, brought = _arguments(arguments + more), float(version or since)
        yield WrappedCall(name, number, own, declared, bool(large), since=brought, **told)


def _arguments(text: str) -> tuple[Argument, ...]:
    every = [] if text == "void" else text.split(", ")
    return tuple(Argument(*_read(_ARGUMENT, each)) for each in every)


def _read(pattern: re.Pattern[str], text: str) -> tuple[Any, ...]:
    """What a part of the table says."""
    if (match := pattern.fullmatch(text)) is None:
        raise ValueError(f"{_TABLE}: {text!r} is not written as in the standard")
    return match.groups()


def _wide(name: str) -> str | None:
    """The type in the large-count twin of an ``int`` with this name."""
    if re.fullmatch(r"\w*displs|disp_unit", name):
        return "MPI_Aint"
    if re.fullmatch(r"\w*counts?|size|insize|outsize|position", name):
        return "MPI_Count"
    return None


def _declarations(table: tuple[WrappedCall, ...]) -> str:
    """Declarations of functions that older headers lack and the library may have."""
    parts = []
    for version, macro in ((4, "BURST_DECLARES_MPI_4"), (4.1, "BURST_DECLARES_MPI_4_1")):
        calls = [call for call in table if call.since == version]
        twins = "".join(_declared(call, "_c") for call in calls if call.large)
        large = f"#if {_HAS_LARGE}\n{twins}#endif\n"
        parts.append(f"#if defined({macro})\n{''.join(map(_declared, calls))}{large}#endif\n")
    return "".join(parts)


def _declared(call: WrappedCall, twin: str = "") -> str:
    return f"int MPI_{call.name}{twin}({_joined(_parameters(call, twin))});\n"


def _parameters(call: WrappedCall, twin: str) -> list[Argument]:
    return [argument.large if twin else argument for argument in call.arguments]


def _joined(arguments: list[Argument]) -> str:
    return ", ".join(map(str, arguments)) or "void"


def _names(table: tuple[WrappedCall, ...]) -> str:
    rows = "".join(f'    [{call.number}] = "MPI_{call.name}",\n' for call in table)
    return (
        f"static const char *const names[] = {{\n{rows}}};\n\n"
        "const char *burst_operation_name(uint16_t op) {\n"
        "    return op < sizeof names / sizeof *names ? names[op] : NULL;\n"
        "}\n"
    )


def _codes(table: tuple[WrappedCall, ...]) -> str:
    rows = "".join(f"    [{call.number}] = {_code(call) + 1},\n" for call in table)
    return f"const uint16_t burst_codes[] = {{\n{rows}}};\n"


def _code(call: WrappedCall) -> int:
    """The code of an operation in traces, whose names outlive a recorder's numbers."""
    return CODES[f"MPI_{call.name}"]


def _completions(table: tuple[WrappedCall, ...]) -> str:
    numbers = [call.number for call in table if KINDS[call.kind].completes]
    cases = "".join(f"        case {number}:\n" for number in numbers)
    return (
        "int burst_completes(uint16_t op) {\n    switch (op) {\n"
        f"{cases}            return 1;\n        default:\n            return 0;\n    }}\n}}\n"
    )


def _function(call: WrappedCall, twin: str = "") -> str:
    kind = KINDS[call.kind]
    arguments = _parameters(call, twin)
    declared = _joined(arguments)
    passed = given = ", ".join(argument.name for argument in arguments)
    for word, (argument, by) in _INSTEAD.items():
        given = re.sub(argument, by, given) if word in kind.first else given
    hidden = ", ".join(["void *caller", *map(str, arguments)])
    name = call.name + twin
    body = _body(call, kind, f"REAL({name})({given})", twin)
    public = "".join(
        f'__attribute__((visibility("default"))) int {prefix}MPI_{name}({declared}) {{\n'
        f"    return wrap_{name}({', '.join(filter(None, ['CALLER', passed]))});\n}}\n"
        for prefix in ("", "P")
    )
    return f"static int wrap_{name}({hidden}) {{\n{body}}}\n{public}"


def _body(call: WrappedCall, kind: WrapperKind, real: str, twin: str) -> str:
    opening = "burst_open_poll" if kind.success else "burst_open"
    lines = [f"struct burst_call call = {opening}({call.number}, caller);", *kind.first]
    lines += _guarded("call.thread != NULL", kind.before)
    lines += [f"const int error = {real};"]
    if kind.success:
        test = f"error != MPI_SUCCESS || {kind.success}"
        lines += [f"burst_polled(&call, {call.number}, caller, {test});"]
    lines += _guarded("call.follow && error == MPI_SUCCESS", kind.after)
    lines += [
        *kind.last,
        f"burst_shut(call, {call.number}, error);",
        *_counting(call),
        *kind.beyond,
        "return error;",
    ]
    text = "".join(f"    {line}\n" for line in lines)
    return _expanded(_filled(text, call), twin)


def _counting(call: WrappedCall) -> tuple[str, ...]:
    """The statement that counts a call of a signature run."""
    if f"MPI_{call.name}" not in COUNTED:
        return ()
    counts = f"burst_count_alone({_code(call)});"
    if call.kind in {"send", "isend"}:
        counts = f"burst_count_send({_code(call)}, comm, dest);"
    elif f"MPI_{call.name}" in COLLECTIVES:
        counts = f"burst_count_collective({_code(call)}, comm);"
    return (f"if (burst_counts()) {counts}",)


def _guarded(condition: str, lines: tuple[str, ...]) -> list[str]:
    return [f"if ({condition}) {{", *(f"    {line}" for line in lines), "}"] if lines else []


def _filled(text: str, call: WrappedCall) -> str:
    """The statements of a wrapper without ``@WORDS``."""
    names = [argument.name for argument in call.arguments]
    outs = [argument.name for argument in call.arguments if argument.type == "MPI_Comm *"]
    ins = [argument.name for argument in call.arguments if argument.type == "MPI_Comm"]
    rooted = "root" in names
    count = "partitions * count" if "partitions" in names else "count"
    words = _STATEMENTS["words"] | {
        "NUMBER": str(call.number),
        "SENT": call.sent or "0",
        "RECEIVED": call.received or "0",
        "TRANSFER": str(call.transfer),
        "ROOTED": ".peer = root, .rooted = 1, " if rooted else "",
        "PARENT": ins[0] if ins else "",
        "CREATED": outs[-1] if outs else "",
        "TAG": "tag" if "tag" in names else "0",
        "PART": "burst_part(comm, root)" if rooted else "burst_part_unrooted(comm)",
        "TELL_ROOT": "burst_root(call.thread, burst_comm(comm), root);" if rooted else "",
        "BYTES": f"burst_bytes({count}, datatype)",
        "TO_SEND": _exchanged("send", names),
        "TO_RECEIVE": _exchanged("recv", names),
        "MOVED": _moved(names),
        "BATCHED": "incount" if "incount" in names else "count",
        "STATUSES": "known" if "status" in names else "array_of_statuses",
        "LOCKED": "rank" if "rank" in names else "BURST_EVERYBODY",
    }
    while "@" in text:
        text = re.sub(r"@([A-Z_]+)", lambda match: words[match[1]], text)
    return re.sub(r"^ +\n", "", text, flags=re.MULTILINE)


def _exchanged(side: str, names: list[str]) -> str:
    """The C expression of the bytes on a side of a call that sends and receives."""
    return f"burst_bytes({side}count, {side}type)" if f"{side}count" in names else "@BYTES"


def _moved(names: list[str]) -> str:
    """The C expression of the bytes that a one-sided or file operation moves."""
    if "result_count" in names:  # the origin may be nothing: MPI_NO_OP
        return "burst_bytes(target_count, target_datatype)"
    if "origin_count" in names:
        return "burst_bytes(origin_count, origin_datatype)"
    return f"burst_bytes({'count' if 'count' in names else '1'}, datatype)"


def _expanded(text: str, twin: str) -> str:
    """C for a text in the table's words."""
    large = "_large" if twin else ""
    words = {
        r"\b(ALL|RANK|MEMBERS|ROOT|LEAF)\b": lambda match: f"part.{match[1].lower()}",
        r"\bIN_PLACE\((\w+)\)": lambda match: f"({match[1]} == MPI_IN_PLACE)",
        r"\bBYTES\b": lambda _: "burst_bytes",
        r"\bSUM\b": lambda _: f"burst_sum{large}",
        r"\bSUMS\b": lambda _: f"burst_sums{large}",
        r"\bIN\b": lambda _: "burst_neighbours(comm, 0)",
        r"\bOUT\b": lambda _: "burst_neighbours(comm, 1)",
    }
    for pattern, by in words.items():
        text = re.sub(pattern, by, text)
    return text


if __name__ == "__main__":
    sys.stdout.write(wrappers_source())
