"""Labels of callers and counters: a function, a source line, a name.

::

    CommSend [CommSend(Domain&, int)]                  ->  CommSend
    f.cc:101 [/path/f.cc:101, /path/program]           ->  f.cc, line 101       Extrae >= 4.3
    101 (f.cc, program)                                ->  f.cc, line 101       Extrae < 4.3
    sweep @ 8 (f.c), called by 5                       ->  sweep in f.c, line 8, below frame 5
    PAPI_TOT_INS [Instr completed]                     ->  PAPI_TOT_INS

Extrae cuts the short form of a C++ function at its first ``<`` or ``(``, which leaves the
return type of a template as its name. The long form in brackets is parsed instead.
"""

from __future__ import annotations

import re
from typing import NamedTuple

UNRESOLVED = "??"
"""A function that no label names."""

_LARGEST_LINE, _MOST_DIGITS = 2**31 - 1, 19
_UNRESOLVED = frozenset(["", UNRESOLVED, "Unresolved", "_NOT_Found", "(null)"])
_INLINED = " inlined at "
_OUTLINED = re.compile(r"\[clone (\._omp_fn\.\d{1,9})\]")
_COMPILER_SUFFIX = re.compile(r"\.(?:isra|part|constprop|cold|lto_priv)(?:\.\d{1,9})?$")
_MOST_SUFFIXES = 4
_MOST_INLINED = 16
# operators whose names hold brackets would end a name too early
_OPERATOR = re.compile(
    r"\boperator *(?:\(\)|\[\]|<=>|<<=|<<|<=|<|>>=|>>|>=|->\*|->|>)|\(anonymous namespace\)"
)
_NEW_LINE = re.compile(r"(.+?):(\d{1,19})(?:, .*)?", re.ASCII)
_CALLED_BY = ", called by "
_HOLDER = re.compile(r"(.+?):(\d{1,19})(?::\d{1,19})? in (.+)", re.ASCII)
_OLD_LINE = re.compile(r"(\d{1,19}) \((.*?)(?:, .*)?\)", re.ASCII)


class SourceLine(NamedTuple):
    """A place in the source: short name, and line from 1; None if unknown."""

    file: str | None = None
    line: int | None = None


def read_function(label: str) -> str | None:
    """The function that a caller label means, None if it is unresolved.

    Only the name, with ``._omp_fn.N`` of outlined loops; of inlined functions the innermost.
    """
    return read_signature(*_forms(label))


def read_holders(label: str) -> list[tuple[str, SourceLine]]:
    """The functions that an inlined function is in, and the line of each where it is called.

    The innermost first; none if the function of the caller label is not inlined. A part of a
    function that the compiler has put back into it is in no other one.
    """
    holders: list[tuple[str, SourceLine]] = []
    inner = read_function(label)
    _, *places = _forms(label)[0].split(_INLINED, _MOST_INLINED)
    for place in places:
        match = _HOLDER.fullmatch(place.partition(_INLINED)[0].strip())
        if match is None:
            break
        path, line, function = match.groups()
        name = read_signature(function) or UNRESOLVED
        if name != inner:
            holders.append((name, _short_form(f"{path.rpartition('/')[2]}:{line}")))
        inner = name
    return holders


def _forms(label: str) -> tuple[str, str]:
    """The signature that a caller label has, and its short form."""
    text = label.strip()
    short, bracket, long = text.partition(" [")
    if bracket and not long.startswith("clone "):
        # a short form with dots in it is abbreviated; else it is a prefix of the long one
        text = long.removesuffix("]")
    return text, short.strip()


def read_signature(signature: str, otherwise: str = "") -> str | None:
    """The function of a demangled signature, None if it is unresolved."""
    innermost = signature.partition(_INLINED)[0]
    name = _plain_name(innermost) or otherwise
    if name in _UNRESOLVED:
        return None
    outlined = _OUTLINED.search(innermost)
    for _ in range(_MOST_SUFFIXES):
        name = _COMPILER_SUFFIX.sub("", name) or name
    return name + outlined[1] if outlined else name


def _plain_name(text: str) -> str:
    """The name in a demangled C++ signature; other text as it is."""
    characters: list[str] = []
    depth = 0
    position = 0
    while position < len(text):
        character = text[position]
        if whole := _OPERATOR.match(text, position):
            if depth == 0:
                characters.append(whole[0])
            position = whole.end()
            continue
        if character == "(" and depth == 0:
            return _without_return_type("".join(characters))
        if character == "<":
            depth += 1
        elif character == ">":
            depth -= 1
        elif depth <= 0:
            characters.append(character)
        depth = max(depth, 0)
        position += 1
    return _without_return_type("".join(characters)) if "<" in text else text.strip()


def _without_return_type(signature: str) -> str:
    before, operator, after = signature.rpartition("operator")
    if operator and not after[:1].isalnum() and not after.startswith("_"):
        return before.rpartition(" ")[2] + operator + after.rstrip()
    words = signature.replace("(anonymous namespace)", "(anonymous\0namespace)").split()
    return words[-1].replace("\0", " ") if words else ""


def read_line(label: str) -> SourceLine:
    """The source line that a caller-line label means; compilers' own code has no line."""
    short, bracket, long = label.strip().partition(" [")
    name, line = _short_form(short.strip())
    if not bracket:
        return SourceLine(name, line)
    full, long_line = _short_form(long.removesuffix("]").strip())
    if name is None or ".." in name:
        name = full.rpartition("/")[2] if full else None
    return SourceLine(name, long_line or line)


def _short_form(text: str) -> SourceLine:
    """What ``file:line[, module]`` or ``line (file[, module])`` says."""
    # the test of the last character keeps the search linear
    if text.endswith(")") and (match := _OLD_LINE.fullmatch(text)):
        number, name = match.groups()
    elif match := _NEW_LINE.fullmatch(text):
        name, number = match.groups()
    else:
        name, number = text, "0"
    if name in _UNRESOLVED or text == "End":
        return SourceLine()
    line = int(number)
    return SourceLine(name, line if 0 < line <= _LARGEST_LINE else None)


def frame_label(function: str, file: str | None, line: int | None, caller: int) -> str:
    """The label of a frame on call paths; `caller` is the number of the one around it, or 0."""
    place = UNRESOLVED if file is None else f"{line or 0} ({file})"
    return f"{function} @ {place}" + f"{_CALLED_BY}{caller}" * (caller > 0)


def read_frame(label: str) -> tuple[str, SourceLine, int]:
    """Function, line and caller that :func:`frame_label` was given."""
    function, _, place = label.partition(" @ ")
    line, _, caller = place.rpartition(_CALLED_BY)
    is_called = caller.isascii() and caller.isdigit() and len(caller) < _MOST_DIGITS
    name = read_function(function) or UNRESOLVED
    return name, read_line(line if is_called else place), int(caller) if is_called else 0


def read_counter(label: str) -> str:
    """The counter that a type's label means: its first word, without ``Absolute``."""
    words = label.split(maxsplit=2)
    if is_absolute(label):
        return words[1]
    return words[0] if words else ""


def is_absolute(label: str) -> bool:
    """Whether a counter's label means absolute values, not differences."""
    return label.startswith("Absolute ") and len(label.split(maxsplit=1)) == 2
