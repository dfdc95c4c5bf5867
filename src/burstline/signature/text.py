"""Signatures as TOML, and what documents of signatures and measurements must hold."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

import numpy as np

from burstline.columns import Integers
from burstline.errors import FormatError, UnsupportedRecordError
from burstline.model import COUNTED
from burstline.signature.model import VERSION, Measurement, Phase, Process, Signature, Stamps

_T = TypeVar("_T")

_MOST: Final = 1 << 62
_HASH: Final = re.compile("[0-9a-f]{16}")
_METHODS: Final = ("loops", "epas", "pas2p")
_TOLD: Final = (
    "method", "work_counter", "full", "representative", "span_ns", "runs", "spread",
    "drift", "crossing",
)  # fmt: skip
_NUMBERS: Final = ("rank", "events", "cut", "span_ns", "early_ns")


def to_toml(signature: Signature) -> str:
    """A signature as text; what is read from it is equal."""
    told = {name: getattr(signature, name) for name in _TOLD}
    lines = [f"version = {VERSION}"]
    lines += [f"{name} = {_toml(value)}" for name, value in told.items() if value is not None]
    lines += ["# the calls that are counted", f"counted = {json.dumps(sorted(COUNTED))}"]
    lines += ["", "[facts]"]
    lines += [f"{_toml(name)} = {_toml(text)}" for name, text in signature.facts.items()]
    for process in signature.processes:
        lines += ["", "[[process]]"]
        lines += [f"{name} = {getattr(process, name)}" for name in _NUMBERS]
        lines.append(
            "# name, occurrences, calls of one, ns, ns and occurrences after the cut, relevant"
        )
        phases = [[*phase] for phase in process.phases]
        windows = zip(process.phase, process.begin, process.end, process.base_ns, strict=True)
        lines += _rows("phases", phases)
        lines.append("# phase, calls before it begins and ends, ns on the base machine")
        lines += _rows("windows", [list(map(int, row)) for row in windows])
        lines.append("# calls, and the hash of them all")
        boundaries = zip(process.counts.tolist(), process.hashes.tolist(), strict=True)
        lines += _rows("boundaries", [[count, f"{value:016x}"] for count, value in boundaries])
    return "\n".join(lines) + "\n"


def _rows(name: str, rows: Sequence[Sequence[object]]) -> list[str]:
    return [f"{name} = [", *(f"  [{', '.join(map(_toml, row))}]," for row in rows), "]"]


def _toml(value: object) -> str:
    if isinstance(value, str):
        # TOML has JSON's escapes but for pairs of surrogates, and one character more to escape.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value)


def signature_in(read: dict[str, Any], path: Path) -> Signature:
    """The signature that a document holds; `path` is named where it is not one."""
    check = _Check(path)
    check.version(read.get("version"))
    if check.of(read, "counted", list) != sorted(COUNTED):
        check.fail("counted", "of the calls that this burstline counts: make it anew")
    processes = check.of(read, "process", list)
    signature = Signature(
        method=check.word(read, "method", _METHODS),
        work_counter=check.of(read, "work_counter", str),
        full=check.of(read, "full", bool),
        representative=check.number(read, "representative"),
        span_ns=check.number(read, "span_ns"),
        runs=check.number(read, "runs"),
        spread=check.real(read["spread"], "spread") if "spread" in read else None,
        drift=check.real(read.get("drift"), "drift"),
        crossing=check.number(read, "crossing"),
        processes=tuple(_process(check, each) for each in processes),
        facts={str(name): str(value) for name, value in check.of(read, "facts", dict).items()},
    )
    if signature.runs < 1 or (signature.spread is None) != (signature.runs == 1):
        check.fail("spread", "where it is of several runs, and only there")
    ranks = [process.rank for process in signature.processes]
    if ranks != sorted(set(ranks)) or signature.representative not in ranks:
        check.fail("process", "for each rank in ascending order, the representative among them")
    return signature


def _process(check: _Check, read: object) -> Process:
    if not isinstance(read, dict):
        check.fail("process", "as a table for each rank")
    numbers = {name: check.number(read, name) for name in _NUMBERS}
    phases = tuple(_phase(check, row) for row in check.rows(read, "phases", len(Phase._fields)))
    windows = check.integers(read, "windows", 4)
    boundaries = check.rows(read, "boundaries", 2)
    counts = np.array([check.counted(row[0], "boundaries") for row in boundaries], np.int64)
    hashes = np.array([check.hexadecimal(row[1]) for row in boundaries], np.uint64)
    phase, begin, end, base_ns = windows
    edges = np.concatenate([begin, end])
    if not (
        (np.diff(counts) > 0).all()
        and (len(counts) == 0 or (counts[0] > 0 and counts[-1] == numbers["cut"]))
        and (len(counts) > 0 or numbers["cut"] == 0)
        and np.isin(edges[edges > 0], counts).all()
        and (begin < end).all()
        and (phase < len(phases)).all()
    ):
        check.fail("windows", "between boundaries, which ascend and end with the cut")
    process = Process(
        **numbers, phases=phases, phase=phase, begin=begin, end=end, base_ns=base_ns,
        counts=counts, hashes=hashes,
    )  # fmt: skip
    _require_parts_of_run(check, process)
    return process


def _require_parts_of_run(check: _Check, process: Process) -> None:
    """Fail if a part of the base run is longer than what it is a part of."""
    if process.cut > process.events:
        check.fail("cut", "at one of the calls that the rank made")
    if process.early_ns > process.span_ns:
        check.fail("early_ns", "of at most span_ns, the time of the whole run")
    for phase in process.phases:
        # Occurrences after the cut are a sum of shares.
        if phase.late_ns > phase.total_ns or phase.late_weight > phase.weight * (1 + 1e-9):
            check.fail("phases", "of which no more lies after the cut than there is")
    # Each phase and both times are rounded.
    rounded = len(process.phases) + 2
    late_ns = sum(phase.late_ns for phase in process.phases)
    if late_ns > process.span_ns - process.early_ns + rounded:
        check.fail("phases", "that last no longer after the cut than the run does")
    if sum(phase.total_ns for phase in process.phases) > process.span_ns + rounded:
        check.fail("phases", "that last no longer than the run does")


def _phase(check: _Check, row: list[Any]) -> Phase:
    name, weight, events, total, late, late_weight, relevant = row
    if not isinstance(name, str) or not isinstance(relevant, bool):
        check.fail("phases", f"in rows of {', '.join(Phase._fields)}")
    return Phase(
        name,
        max(check.counted(weight, "phases"), 1),
        check.real(events, "phases"),
        check.counted(total, "phases"),
        check.counted(late, "phases"),
        check.real(late_weight, "phases"),
        relevant,
    )


def measurement_in(read: object, path: Path) -> Measurement:
    """The measurement that a document holds; `path` is named where it is not one."""
    check = _Check(path, "measurement")
    if not isinstance(read, dict):
        check.fail("version", "in a document, as burstline signature run writes it")
    check.version(read.get("version"))
    stamps = []
    for each in check.of(read, "ranks", list):
        if not isinstance(each, dict):
            check.fail("ranks", "as a table for each rank")
        counts, time_ns = (
            np.array(
                [check.counted(value, name) for value in check.of(each, name, list)], np.int64
            )
            for name in ("counts", "time_ns")
        )
        begun, ended = check.number(each, "init_ns"), each.get("finalize_ns")
        if ended is not None:
            ended = check.counted(ended, "finalize_ns")
        course = [begun, *time_ns.tolist(), *([] if ended is None else [ended])]
        ascend = (np.diff(counts) > 0).all() and (np.diff(course) >= 0).all()
        if len(counts) != len(time_ns) or not ascend:
            check.fail("counts", "in ascending order, each with its time, from init_ns on")
        if len(counts) and time_ns[-1] == begun:
            check.fail("time_ns", "that passes: a clock that stands still measures nothing")
        if course[-1] - begun > check.number(read, "wall_ns"):
            check.fail("wall_ns", "of at least the time that each rank measured")
        stamps.append(Stamps(check.number(each, "rank"), counts, time_ns, begun, ended))
    facts = {str(name): str(value) for name, value in check.of(read, "facts", dict).items()}
    return Measurement(tuple(stamps), check.number(read, "wall_ns"), facts)


class _Check:
    """Values as they must be, or an error that names the file and the key."""

    def __init__(self, path: Path, noun: str = "signature") -> None:
        self._path, self._noun = path, noun

    def fail(self, key: str, wanted: str) -> NoReturn:
        raise FormatError(
            self._path,
            None,
            expected=f"a {self._noun} with {key} {wanted}",
            found="another value",
        )

    def version(self, version: object) -> None:
        if type(version) is not int or version != VERSION:
            raise UnsupportedRecordError(
                self._path,
                None,
                expected=f"a {self._noun} of version {VERSION}",
                found=f"version {version}",
                way_out="Make it anew with this burstline.",
            )

    def of(self, read: dict[str, Any], key: str, kind: type[_T]) -> _T:
        value = read.get(key)
        if not isinstance(value, kind):
            self.fail(key, f"of type {kind.__name__}")
        return value

    def word(self, read: dict[str, Any], key: str, words: Sequence[str]) -> str:
        value = self.of(read, key, str)
        if value not in words:
            self.fail(key, f"one of {', '.join(words)}")
        return value

    def number(self, read: dict[str, Any], key: str) -> int:
        return self.counted(read.get(key), key)

    def counted(self, value: object, key: str) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < _MOST:
            self.fail(key, "whole and not negative")
        return value

    def real(self, value: Any, key: str) -> float:  # noqa: ANN401 -- what a file holds
        if type(value) not in (int, float) or not 0 <= value < _MOST:
            self.fail(key, "a number and not negative")
        return float(value)

    def hexadecimal(self, value: object) -> int:
        if not isinstance(value, str) or not _HASH.fullmatch(value):
            self.fail("boundaries", "of a count and 16 hexadecimal digits each")
        return int(value, 16)

    def rows(self, read: dict[str, Any], key: str, width: int) -> list[list[Any]]:
        rows = self.of(read, key, list)
        if not all(isinstance(row, list) and len(row) == width for row in rows):
            self.fail(key, f"of rows of {width} values")
        return rows

    def integers(self, read: dict[str, Any], key: str, width: int) -> list[Integers]:
        rows = self.rows(read, key, width)
        values = [[self.counted(value, key) for value in row] for row in rows]
        return list(np.array(values, np.int64).reshape(-1, width).T)
