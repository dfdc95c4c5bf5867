"""Event types, operations and communicators as the native builder takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from burstline import _core, extrae
from burstline._core import CallKind, EventClass
from burstline.columns import Integers
from burstline.formats.paraver.files.pcf import Pcf
from burstline.model import BESIDE_COUNTERS
from burstline.model import operations as mpi

_CALL_KINDS: Final[tuple[tuple[CallKind, tuple[str, ...]], ...]] = (
    (CallKind.BLOCKING_SEND, mpi.BLOCKING_SENDS),
    (CallKind.IMMEDIATE_SEND, mpi.IMMEDIATE_SENDS),
    (CallKind.START, mpi.STARTS),
    (CallKind.BLOCKING_RECEIVE, mpi.BLOCKING_RECEIVES),
    (CallKind.IMMEDIATE_RECEIVE, mpi.IMMEDIATE_RECEIVES),
    (CallKind.COMPLETION, mpi.COMPLETIONS),
    (CallKind.COLLECTIVE, mpi.COLLECTIVES + mpi.TOGETHER),
    (CallKind.READS_FILE, tuple(name for name in mpi.IO if "_read" in name)),
    (CallKind.WRITES_FILE, tuple(name for name in mpi.IO if "_write" in name)),
    (
        CallKind.GETS_MEMORY,
        ("MPI_Get", "MPI_Get_accumulate", "MPI_Rget", "MPI_Rget_accumulate"),
    ),
    (CallKind.GETS_MEMORY, ("MPI_Fetch_and_op", "MPI_Compare_and_swap")),
    (CallKind.PUTS_MEMORY, ("MPI_Put", "MPI_Accumulate", "MPI_Rput", "MPI_Raccumulate")),
)

_END_OF_TIME: Final = 1 << 61
_CLASSIFIED: Final = extrae.KNOWN_TYPES | extrae.OVERLAPPED_TYPES | frozenset(extrae.SET_TYPES)
"""Types whose class is known without a label; the rest of the counters' range is counters."""


def call_kinds() -> npt.NDArray[np.uint16]:
    """The :class:`CallKind` bits of each operation, shape (operations,)."""
    kinds = np.zeros(len(mpi.NAMES), np.uint16)
    for bit, names in _CALL_KINDS:
        kinds[[mpi.CODES[name] for name in names]] |= np.uint16(bit)
    return kinds


def type_table(pcf: Pcf) -> _core.TypeTable:
    """The classes of labelled and known types, and of ranges for the others."""
    kinds = [*pcf.types, *sorted(_CLASSIFIED - pcf.types.keys())]
    classes = np.array([_class_of(kind, pcf) for kind in kinds], np.uint8)
    ranges = [(extrae.COUNTER_TYPES[0], extrae.COUNTER_TYPES[-1], int(EventClass.COUNTER))]
    return _core.TypeTable(np.array(kinds, np.int64), classes, ranges)


def _class_of(kind: int, pcf: Pcf) -> EventClass:
    label = pcf.types.get(kind)
    return extrae.classify(kind, *((label.label, label.gradient) if label else ()))


def counters_of(types: Integers, pcf: Pcf) -> list[tuple[int, str]]:
    """Type and name of the counters among the types that occur, by type; names differ."""
    counters: list[tuple[int, str]] = []
    taken = set(BESIDE_COUNTERS)
    for kind in sorted(int(kind) for kind in types):
        if _class_of(kind, pcf) is not EventClass.COUNTER:
            continue
        label = pcf.types.get(kind)
        name = extrae.counter_name(kind, label.label if label else None)
        if name in taken:
            name = f"{name} ({kind})"
        taken.add(name)
        counters.append((kind, name))
    return counters


def vocabulary(
    types: _core.TypeTable,
    counters: Sequence[tuple[int, str]],
    communicators: Mapping[tuple[int, int], int],
    application_of_location: npt.NDArray[np.int32],
) -> _core.Vocabulary:
    """The vocabulary of the builder, once the whole file was scanned."""
    column = {kind: position for position, (kind, _) in enumerate(counters)}
    codes = np.array([column.get(int(kind), -1) for kind in types.types()], np.int32)
    operation = np.full(max(extrae.MPI_OPERATIONS) + 1, -1, np.int16)
    for value, name in extrae.MPI_OPERATIONS.items():
        operation[value] = mpi.CODES[name]
    return _core.Vocabulary(
        types,
        codes,
        len(counters),
        operation,
        call_kinds(),
        [(application, source, row) for (application, source), row in communicators.items()],
        application_of_location.astype(np.int32),
        [(value, int(step)) for value, step in extrae.LOCK_STEPS.items()],
        (extrae.CALLER_FUNCTIONS[0], extrae.CALLER_LINES[0]),
        (extrae.SAMPLED_FUNCTIONS[0], extrae.SAMPLED_LINES[0]),
        _END_OF_TIME,
    )
