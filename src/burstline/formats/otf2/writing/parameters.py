"""Parameters that a program told: raw events of a trace become those of an archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from burstline._core import Written
from burstline.columns import to_numpy
from burstline.formats.derivation.other_events import PARAMETER_TYPES
from burstline.formats.otf2.writing.order import Happened, Turn
from burstline.formats.walking import Walk

if TYPE_CHECKING:
    from burstline.formats.otf2.writing.definitions import Defining
    from burstline.trace import Trace

_COLUMNS = ("location", "seq", "time_ns", "type", "value")


class Parameters:
    """The parameters of a trace with raw events, as one has that came out of a Paraver file.

    Parameters
    ----------
    trace : Trace
        The trace.
    defining : Defining
        Takes their definitions.
    """

    def __init__(self, trace: Trace, defining: Defining) -> None:
        self._events = Walk(trace, "events", _COLUMNS) if trace.has_raw else None
        self._texts: dict[int, dict[int, int]] = {}
        self._references: dict[int, int] = {}
        values: dict[int, dict[int, str]] = {}
        for row in trace.event_values.to_pylist():
            values.setdefault(row["group"], {})[row["value"]] = row["label"]
        for row in trace.event_types.to_pylist():
            if row["type"] in PARAMETER_TYPES:
                labels = values.get(row["group"], {})
                form = "string" if labels else "int64"
                self._references[row["type"]] = defining.parameter(row["label"], form)
                self._texts[row["type"]] = {
                    value: defining.text(label) for value, label in labels.items()
                }

    def tell(self, happened: Happened, location: int) -> None:
        """Add the parameters that a location told.

        Parameters
        ----------
        happened : Happened
            Takes the events.
        location : int
            Not before one that was asked for already.
        """
        if self._events is None or not self._texts:
            return
        rows = self._events.of(location)
        time, seq, kind, value = (
            to_numpy(rows[name]).astype(np.int64)
            for name in ("time_ns", "seq", "type", "value")
        )
        mine = np.flatnonzero(np.isin(kind, list(self._texts)))
        mine = mine[np.argsort(kind[mine], kind="stable")]
        borders = np.flatnonzero(np.diff(kind[mine])) + 1
        for some in np.split(mine, borders) if len(mine) else ():
            one = int(kind[some[0]])
            texts, told = self._texts[one], value[some]
            if texts:
                told = np.array([texts.get(number, 0) for number in told.tolist()], np.int64)
            what = Written.TEXT_PARAMETER if texts else Written.PARAMETER
            happened.add(what, time[some], seq[some], Turn.START, self._references[one], told)
