"""Samples: the function and line of a thread each time it was interrupted."""

from __future__ import annotations

import pyarrow as pa

from burstline.extrae import UNRESOLVED
from burstline.model import Trace


def sampled(trace: Trace) -> pa.Table:
    """The samples of a trace, each with the function and line that was executed.

    Parameters
    ----------
    trace : Trace
        Its tables `samples` and `call_paths` are read.

    Returns
    -------
    pyarrow.Table
        One row per sample, in the order of location and time: `location` (int32),
        `time_ns` (int64), `function` (string; ``??`` if the trace does not say), `file`
        (string) and `line` (int32), null if unknown. Empty if nobody took samples.

    Notes
    -----
    Linear in the samples, all of which are in memory.

    Examples
    --------
    >>> from burstline.testing import trace_of
    >>> trace = trace_of(
    ...     "ranks 1 | path 0 solve file a.c line 3 | 0 | 0 enter MPI_Init | 5 leave"
    ...     " | 9 sample path 0"
    ... )
    >>> sampled(trace).to_pylist()
    [{'location': 0, 'time_ns': 9, 'function': 'solve', 'file': 'a.c', 'line': 3}]
    """
    samples, paths = trace.table("samples"), trace.table("call_paths")
    row = samples["call_path"]
    function, file, line = (
        paths[name].combine_chunks().take(row.combine_chunks())
        for name in ("function", "file", "line")
    )
    return pa.table(
        {
            "location": samples["location"],
            "time_ns": samples["time_ns"],
            "function": function.fill_null(UNRESOLVED),
            "file": file,
            "line": line,
        }
    )
