"""A program like NAS CG: few different calls, many times each, in three nested loops.

::

    conj_grad: 25 times [three sums along a row of ranks, a transpose], a residual, a norm

Every rank makes the same calls: 56 different ones, about 12,500 with the 15 iterations of
class A. All ranks keep step, and no message is received before it was sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import burstline
from benchmarks import labels
from burstline.model import CODES, NAMES

INNER: Final = 25
SUMS: Final = 3
ITERATIONS_OF_CLASS_A: Final = 15
COUNTERS: Final = ("PAPI_TOT_INS", "PAPI_TOT_CYC", "PAPI_L2_DCM")

_WORK_NS: Final = 40_000
_CALL_NS: Final = 4_000
_JITTER_NS: Final = 3_000
_EVENTS: Final = {  # Paraver's event type and value of each operation
    "Init": (50000003, 31),
    "Finalize": (50000003, 32),
    "Irecv": (50000001, 4),
    "Send": (50000001, 1),
    "Wait": (50000001, 5),
    "Bcast": (50000002, 7),
    "Barrier": (50000002, 8),
    "Reduce": (50000002, 9),
}
_STATES: Final = {"Irecv": 11, "Send": 4, "Wait": 8, "Bcast": 13, "Barrier": 13, "Reduce": 13}
_FUNCTIONS: Final = ("conj_grad", "initialize_mpi", "main")
_STARTS: Final = ("__libc_start_call_main", "__libc_start_main", "_start")
_COUNTER_TYPES: Final = (42000050, 42000059, 42000002)


@dataclass(frozen=True, slots=True)
class Step:
    """An MPI call of the source: operation, place, partner's distance and bytes."""

    operation: str
    function: str
    line: int
    from_line: int
    distance: int = 0
    size: int = 0


def program(iterations: int) -> list[Step]:
    """Give the calls of every rank, in order."""
    setup = [Step("Init", "main", 9, 0)]
    setup += [Step("Bcast", "initialize_mpi", 20 + k, 11) for k in range(4)]
    finish = [Step("Reduce", "main", 90, 0), Step("Finalize", "main", 99, 0)]
    timed = [Step("Barrier", "main", 60, 0)]
    return setup + _iteration(30) + timed + iterations * _iteration(70) + finish


def _iteration(line: int) -> list[Step]:
    """Give one call of conj_grad from a line of main, and the norm after it."""
    inner = [
        *_sums("conj_grad", 220, line, 2800),
        *_exchange("conj_grad", 240, line, 8, 2800),
        *_sums("conj_grad", 260, line, 8),
        *_sums("conj_grad", 280, line, 8),
    ]
    residual = [
        *_sums("conj_grad", 320, line, 2800),
        *_exchange("conj_grad", 340, line, 8, 2800),
        *_sums("conj_grad", 360, line, 8),
    ]
    return INNER * inner + residual + _sums("main", line + 4, 0, 16)


def _sums(function: str, line: int, from_line: int, size: int) -> list[Step]:
    return [
        step for k in range(SUMS) for step in _exchange(function, line, from_line, 1 << k, size)
    ]


def _exchange(function: str, line: int, from_line: int, distance: int, size: int) -> list[Step]:
    names = ("Irecv", "Send", "Wait")
    return [
        Step(name, function, line + k, from_line, distance, size)
        for k, name in enumerate(names)
    ]


@dataclass(frozen=True, slots=True)
class Times:
    """When every call was entered and left, ns, shape (ranks, calls)."""

    enter: npt.NDArray[np.int64]
    leave: npt.NDArray[np.int64]


def times(ranks: int, calls: int) -> Times:
    """Let all ranks keep step, each a little early or late."""
    rng = np.random.default_rng(0)
    shape = (ranks, calls)
    begin = 1_000_000 + np.arange(calls) * (_WORK_NS + _CALL_NS + _JITTER_NS)
    enter = begin + rng.integers(_JITTER_NS, size=shape)
    return Times(enter, begin + _CALL_NS + rng.integers(_JITTER_NS, size=shape))


def in_memory(ranks: int, iterations: int) -> burstline.Trace:
    """Make the tables of the program's trace that loop detection reads."""
    steps = program(iterations)
    places = list(dict.fromkeys(steps))
    when = times(ranks, len(steps))
    rank = np.repeat(np.arange(ranks, dtype=np.int32), len(steps))
    step = np.tile(np.arange(len(steps), dtype=np.int32), ranks)
    paths = {
        "call_path": np.arange(2 * len(places), dtype=np.int32),
        "parent": pa.array([None] * len(places) + list(range(len(places))), pa.int32()),
        "function": ["main"] * len(places) + [step.function for step in places],
        "file": ["cg.f"] * 2 * len(places),
        "line": pa.array([s.from_line for s in places] + [s.line for s in places], pa.int32()),
    }
    ids = np.arange(ranks, dtype=np.int32)
    tables = {
        "locations": {"location": ids, "application": np.zeros(ranks, np.int32), "rank": ids},
        "calls": _calls(steps, places, rank, when) | {"location": rank, "call": step},
        "bursts": _bursts(rank, step, when),
        "call_paths": paths,
        "counters": {"name": list(COUNTERS)},
    }
    return burstline.Trace({name: pa.table(columns) for name, columns in tables.items()})


def _calls(
    steps: list[Step], places: list[Step], rank: npt.NDArray[np.int32], when: Times
) -> dict[str, object]:
    """Give the columns of the calls, rank after rank; path k + places leads to place k."""
    number = {step: k for k, step in enumerate(places)}
    place = np.tile(np.array([number[step] for step in steps], np.int32), len(when.enter))
    codes = np.array([CODES[f"MPI_{step.operation}"] for step in places], np.int16)
    distance = np.array([step.distance for step in places])[place]
    size = np.array([step.size for step in places])[place]
    partner = (rank + distance) % len(when.enter)
    nothing = pa.nulls(len(rank), pa.int32())
    return {
        "operation": pa.DictionaryArray.from_arrays(codes[place], NAMES),
        "enter_ns": when.enter.ravel(),
        "leave_ns": when.leave.ravel(),
        "communicator": nothing,
        "peer": pa.array(partner.astype(np.int32), mask=distance == 0),
        "root": nothing,
        "sent_bytes": pa.array(size, mask=distance == 0),
        "received_bytes": pa.nulls(len(rank), pa.int64()),
        "call_path": place + len(places),
    }


def _bursts(
    rank: npt.NDArray[np.int32], step: npt.NDArray[np.int32], when: Times
) -> dict[str, object]:
    """Give the columns of the bursts between the calls of each rank."""
    behind, before = step > 0, step < step.max()
    rng = np.random.default_rng(1)
    return {
        "location": rank[behind],
        "call_after": step[behind],
        "start_ns": when.leave.ravel()[before],
        "end_ns": when.enter.ravel()[behind],
        **{name: rng.integers(1000, 10**6, size=int(behind.sum())) for name in COUNTERS},
    }


def write_prv(path: Path, ranks: int, iterations: int) -> int:
    """Write the trace of the program as Extrae would; give its calls."""
    steps = program(iterations)
    when = times(ranks, len(steps))
    end_ns = int(when.leave.max())
    blocks = [_lines(rank, steps, when, end_ns) for rank in range(ranks)]
    with path.open("w") as out:
        out.write(labels.header(ranks, end_ns))
        out.writelines(text for _, text in sorted(chain.from_iterable(blocks)))
    path.with_suffix(".pcf").write_text(_pcf(steps))
    path.with_suffix(".row").write_text(labels.row(ranks))
    return ranks * len(steps)


def _lines(rank: int, steps: list[Step], when: Times, end_ns: int) -> list[tuple[int, str]]:
    """Give the records of a rank with the time they are sorted by."""
    who = f"{rank + 1}:1:{rank + 1}:1"
    ranks = len(when.enter)
    callers = {step: _callers(step) for step in dict.fromkeys(steps)}
    counters = ":".join(f"{kind}:{11111 * (k + 1)}" for k, kind in enumerate(_COUNTER_TYPES))
    enter, leave = when.enter[rank].tolist(), when.leave[rank].tolist()
    lines = [(0, f"1:{who}:0:{enter[0]}:1\n")]
    for k, step in enumerate(steps):
        code, value = _EVENTS[step.operation]
        after = enter[k + 1] if k + 1 < len(steps) else end_ns
        text = (
            f"1:{who}:{enter[k]}:{leave[k]}:{_STATES.get(step.operation, 15)}\n"
            f"2:{who}:{enter[k]}:{code}:{value}:{counters}{callers[step]}\n"
        )
        if step.operation == "Send":
            peer = (rank + step.distance) % ranks
            text += (
                f"3:{who}:{enter[k]}:{leave[k]}:{peer + 1}:1:{peer + 1}:1"
                f":{when.enter[peer, k - 1]}:{when.leave[peer, k + 1]}:{step.size}:1\n"
            )
        lines.append((enter[k], text))
        lines.append(
            (
                leave[k],
                f"1:{who}:{leave[k]}:{after}:1\n2:{who}:{leave[k]}:{code}:0:{counters}\n",
            )
        )
    return lines


def _callers(step: Step) -> str:
    """Give the events of the call stack, from the call outwards."""
    frames = [(_FUNCTIONS.index(step.function) + 2, step.line + 2)]
    if step.from_line:
        frames.append((_FUNCTIONS.index("main") + 2, step.from_line + 2))
    frames += [(k, 2) for k in range(len(_FUNCTIONS) + 2, len(_FUNCTIONS) + 2 + len(_STARTS))]
    return "".join(
        f":{70000000 + level}:{function}:{80000000 + level}:{line}"
        for level, (function, line) in enumerate(frames, start=1)
    )


def _pcf(steps: list[Step]) -> str:
    """Give the labels of everything the lines name."""
    by_type: dict[int, dict[int, str]] = {}
    for operation, (code, value) in _EVENTS.items():
        by_type.setdefault(code, {})[value] = f"MPI_{operation}"
    functions = dict(enumerate((*_FUNCTIONS, *_STARTS), start=2))
    numbers = {step.line for step in steps} | {step.from_line for step in steps} | {0}
    lines = {number + 2: f"cg.f:{number} [/src/cg.f:{number}, /src/cg]" for number in numbers}
    levels = range(1, 3 + len(_STARTS))
    parts = [
        _event_type([f"{code} MPI"], values | {0: "End"}) for code, values in by_type.items()
    ]
    parts += [
        _event_type(
            [f"{kind} {name}" for kind, name in zip(_COUNTER_TYPES, COUNTERS, strict=True)]
        )
    ]
    for base, name, values in (
        (70000000, "Caller", functions),
        (80000000, "Caller line", lines),
    ):
        kinds = [f"{base + level} {name} at level {level}" for level in levels]
        parts.append(_event_type(kinds, {0: "End", 1: "??"} | values))
    return "\n".join(parts)


def _event_type(kinds: list[str], values: dict[int, str] | None = None) -> str:
    head = "EVENT_TYPE\n" + "".join(f"0 {kind}\n" for kind in kinds)
    if not values:
        return head
    return head + "VALUES\n" + "".join(f"{value} {name}\n" for value, name in values.items())
