"""A trace moved in time."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from burstline.columns import with_column
from burstline.errors import ParameterError
from burstline.model import Trace, schema
from burstline.selection.lazy import Lazy


def shift(trace: Trace, offset_ns: int) -> Trace:
    """Move a trace in time.

    Parameters
    ----------
    trace : Trace
        The trace; it does not change.
    offset_ns : int
        Added to every moment; durations stay.

    Returns
    -------
    Trace
        The same trace, later or (if negative) earlier.

    Raises
    ------
    ParameterError
        If a moment would leave 64 bits; when that table is first asked for.

    Notes
    -----
    O(rows) of the tables asked for. Selecting and shifting commute, if the window is
    shifted as well. A state that never ends (-1 in the source) still does not; keep all
    times from zero up, or it can no longer be told from one that ends.

    Examples
    --------
    >>> from burstline.testing import trace_of
    >>> late = shift(trace_of("ranks 1 | 0 | 5 enter MPI_Init | 9 leave"), 100)
    >>> late.calls["enter_ns"].to_pylist()
    [105]
    """
    if not offset_ns:
        return trace
    names = [name for name in schema.TABLES if name in trace]
    made = Lazy(names, lambda name: _shifted(trace, name, offset_ns))
    return Trace(made, sources=trace.sources)


def _shifted(trace: Trace, name: str, offset_ns: int) -> pa.Table:
    source = table = trace.table(name)
    for column in schema.TABLES[name].columns:
        if not column.is_moment:
            continue
        try:
            moved = pc.add_checked(source[column.name], offset_ns)
        except pa.ArrowInvalid as error:
            raise ParameterError(f"{offset_ns} ns is too far to move a trace") from error
        if name == "states" and column.name == "end_ns":
            never = pc.less(source["end_ns"], source["begin_ns"])
            moved = pc.if_else(never, source["end_ns"], moved)
        table = with_column(table, column.name, moved)
    return table
