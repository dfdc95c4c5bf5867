"""Phases as published: stretches of events of different types, by types and amounts of work.

EPAS, of each process alone [1]_. A phase ends before the first event of a type that it has;
it is an occurrence of the oldest phase with the same types in the same order that did similar
work before each of them.

.. [1] F. Tirado, A. Wong, D. Rexachs, E. Luque, Scalable performance analysis method for SPMD
   applications, accepted 2022.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, get_args

import numpy as np

from burstline import _core
from burstline.columns import UNKNOWN
from burstline.errors import ParameterError
from burstline.signature.events import TIME
from burstline.signature.occurrences import Occurrences

if TYPE_CHECKING:
    import numpy.typing as npt

    from burstline.columns import AnyIntegers, Integers
    from burstline.signature.events import Events, Hashes

    # type, process, work, first event of each tick, as the kernel takes them
    Columns = tuple[Hashes, npt.NDArray[np.int32], Integers, Integers]

Key = Literal["operation", "full"]

SIMILARITY: Final = 0.85
"""How much of the more work the less must be, as published; for counters without noise."""

_NOISY: Final = (TIME, "cpu", "task-clock")
_WITHIN: Final = 3.8
"""99 of 100 normal values are as near to their mean, in units of the median distance."""
_NOTHING: Final = np.zeros(0, np.int64)


def epas(
    events: Events, process: int, *, similarity: float | None = None, key: Key = "operation"
) -> Occurrences:
    """The phases of a process, by nothing but its own events.

    Events are of one type if their operations are, or also partners and communicators if the
    key is ``"full"``. Without a similarity, it is that of :func:`noise`.
    """
    part = events.of(process)
    columns = _types(events, part, key), np.zeros(0, np.int32), events.work[part], _NOTHING
    threshold = _threshold(columns, events.work_counter, similarity)
    phase, begin = _core.phases(*columns, threshold)
    return Occurrences(phase, begin[:-1], begin[1:], _names(phase), threshold)


def _types(events: Events, part: slice, key: Key) -> Hashes:
    if key not in get_args(Key):
        raise ParameterError(f"no key {key!r}; there are {', '.join(get_args(Key))}")
    if key == "full" and not events.full:
        raise ParameterError(
            "the trace does not tell the partners of all calls: compare their operations alone"
        )
    return events.token[part] if key == "full" else events.operation[part].astype(np.uint64)


def _threshold(columns: Columns, counter: str, similarity: float | None) -> float:
    if similarity is None:
        is_noisy = counter.lower() in _NOISY
        return min(SIMILARITY, noise(columns)) if is_noisy else SIMILARITY
    if not 0 <= similarity <= 1:
        raise ParameterError(f"a similarity is a number from 0 to 1, got {similarity}")
    return similarity


def noise(columns: Columns) -> float:
    """The similarity that 99 of 100 events keep that differ by noise alone.

    Where the same types follow again, the ratio of the work at the same place is noise, or it
    is a change of the program, which is rarer. So the middle ratio tells the noise, as if
    logarithms of work were normal.
    """
    _, _, work, tick_begin = columns
    phase, begin = _core.phases(*columns, 0.0)
    if len(tick_begin):
        begin = tick_begin[begin]
    order = np.argsort(phase, kind="stable")
    before = np.full(len(phase), UNKNOWN, np.int64)
    again = phase[order[1:]] == phase[order[:-1]]
    before[order[1:][again]] = order[:-1][again]
    back = np.repeat(np.where(before >= 0, begin[:-1] - begin[before], 0), np.diff(begin))
    event = np.flatnonzero(back)
    one, other = work[event], work[event - back[event]]
    less, more = np.minimum(one, other), np.maximum(one, other)
    ratios = less[more > 0] / more[more > 0]
    return float(np.median(ratios)) ** _WITHIN if len(ratios) else 1.0


def _names(phase: AnyIntegers) -> tuple[str, ...]:
    return tuple(f"phase {k + 1}" for k in range(int(phase.max(initial=-1)) + 1))
