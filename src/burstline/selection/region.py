"""The region of interest: what is selected, what it needs from a store, how much it takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from burstline.columns import Mask
from burstline.errors import ParameterError
from burstline.model import Trace, schema
from burstline.selection.lazy import Lazy
from burstline.selection.narrowing import narrow
from burstline.selection.tables import selected
from burstline.selection.window import Borders, Moments, Window


def select(
    trace: Trace,
    *,
    start_ns: Moments | None = None,
    end_ns: Moments | None = None,
    ranks: Iterable[int | range] | None = None,
    application: int | None = None,
) -> Trace:
    """Restrict a trace to a time window and to some ranks.

    Every table is restricted, raw ones included; times stay as they are, see
    :func:`shift`. Calls, regions, bursts, teams, processes and locations are renumbered
    densely and what refers to them follows, or becomes null where it refers to something
    outside. Ranks keep their true number, communicators all their members, instances of
    collectives their sequence, events their ordinal.

    Parameters
    ----------
    trace : Trace
        The trace; it does not change.
    start_ns, end_ns : int or ndarray of int64, shape (locations,), optional
        The window ``[start_ns, end_ns)`` in the trace's time; default no border. With an
        array each location has a window of its own, and where that is empty the location is
        left out; ``burstline.structure.program.windows`` gives those of iterations of a loop.
    ranks : iterable of int or range, optional
        Ranks to keep, with all their threads, in every application or in `application`.
    application : int, optional
        Keep only this application.

    Returns
    -------
    Trace
        The selection; each table is made when it is first asked for. The trace itself if
        nothing was asked for.

    Raises
    ------
    ParameterError
        If the window is empty, or there is no such rank or application.

    Notes
    -----
    O(rows) of the tables asked for. Of a trace in a store, memory is that of the part
    selected and of one row group. A selection of the whole trace is the trace; a selection
    of a selection is the selection of what both allow, if their windows overlap. What has
    two locations, as a message, is kept if each part is inside the window of its own.

    A call cut by a border keeps its bytes and partners. A burst cut by a border has null
    counters, because how a delta spreads over the burst is unknown, and no polling time
    although it may have had some. A send whose completion lies outside has none. Raw
    events that enter or leave a call or a region go where it goes, clipped with it; what
    else a source recorded at that moment, such as the caller, stays where it was.

    Examples
    --------
    >>> from burstline.testing import trace_of
    >>> trace = trace_of(
    ...     "ranks 1 | 0 | 5 enter MPI_Init | 9 leave | 20 enter MPI_Finalize| 30 leave"
    ... )
    >>> cut = select(trace, start_ns=7, end_ns=20)
    >>> cut.calls["enter_ns"].to_pylist(), cut.bursts["end_ns"].to_pylist()
    ([7], [20])
    """
    if start_ns is None and end_ns is None and ranks is None and application is None:
        return trace
    region = _region(
        trace, start_ns=start_ns, end_ns=end_ns, ranks=ranks, application=application
    )
    near = narrow(trace, *region) if trace.is_stored else trace
    window = Window(near, *region)
    names = [name for name in schema.TABLES if name in trace]
    return Trace(Lazy(names, lambda name: selected(window, name)), sources=trace.sources)


def narrowed(trace: Trace, *, memory: int | None = None, **region: Any) -> Trace:  # noqa: ANN401 -- as select
    """The trace, of one in a store only what selecting a region and its losses need."""
    if not trace.is_stored:
        return trace
    return narrow(trace, *_region(trace, **region), memory=memory)


def estimate_bytes(trace: Trace, tables: Iterable[str], **region: Any) -> int:  # noqa: ANN401 -- as select
    """The bytes that tables of a selection may take, estimated before any is loaded."""
    borders, kept = _region(trace, **region)
    window = borders.hull(kept)
    return sum(trace.estimate_bytes(name, locations=kept, window=window) for name in tables)


def bytes_until(
    trace: Trace,
    name: str,
    ends_ns: Sequence[int],
    **region: Any,  # noqa: ANN401 -- as select
) -> list[int]:
    """The bytes that a table of selections with these ends may take, for the cost of one."""
    borders, kept = _region(trace, **region)
    start_ns = borders.hull(kept)[0]
    ends = np.array(ends_ns, np.int64)
    sizes = trace.bytes_until(name, ends, start_ns=start_ns, locations=kept)
    return [int(size) for size in sizes]


def _region(
    trace: Trace,
    *,
    start_ns: Moments | None = None,
    end_ns: Moments | None = None,
    ranks: Iterable[int | range] | None = None,
    application: int | None = None,
) -> tuple[Borders, Mask]:
    borders = Borders.of(start_ns, end_ns, trace.locations.num_rows)
    return borders, borders.reached(_kept_locations(trace, ranks, application))


def _kept_locations(
    trace: Trace, ranks: Iterable[int | range] | None, application: int | None
) -> Mask:
    of, rank = trace.arrays("locations", "application", "rank")
    kept = np.ones(len(of), bool)
    if application is not None:
        kept = of == application
        if not kept.any():
            there = ", ".join(map(str, np.unique(of).tolist())) or "none"
            raise ParameterError(f"there is no application {application}, only {there}")
    if ranks is None:
        return kept
    is_chosen, available = np.zeros(len(of), bool), np.unique(rank[kept])
    for some in ranks:
        part = some if isinstance(some, range) else range(some, some + 1)
        chosen = available[(available >= part.start) & (available < part.stop)]
        if part.step != 1 or not part or len(chosen) != len(part):
            name = (
                f"rank {part.start}" if len(part) == 1 else f"ranks {part.start} to {part[-1]}"
            )
            there = f"{available[0]} to {available[-1]}" if len(available) else "none"
            raise ParameterError(f"the trace lacks {name}; its ranks are {there}")
        is_chosen |= (rank >= part.start) & (rank < part.stop)
    if not is_chosen.any():
        raise ParameterError("no rank was chosen. Name some, as in 0,3-7.")
    return kept & is_chosen
