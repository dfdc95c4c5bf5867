"""What a window makes of each table of a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from burstline import schema
from burstline.matching import channels
from burstline.schema import NO_VALUE, UNKNOWN
from burstline.selection.window import kept_rows, numpy_columns, replaced

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from burstline.columns import Integers, Mask
    from burstline.selection.window import Window

_LAST: Final = 2**63 - 1
_LOCATION: Final = schema.VALUE_TYPES.index("location")
_STAMPS: Final = ("send_ns", "send_leave_ns", "post_ns", "receive_ns")


def selected(window: Window, name: str) -> pa.Table:
    """A table of the selection."""
    make = _TABLES.get(name)
    return window.trace.table(name) if make is None else make(window)


def _locations(window: Window) -> pa.Table:
    table = kept_rows(window.trace.locations, window.kept)
    _, processes = np.unique(table["process"].to_numpy(), return_inverse=True)
    table = window.clip(table, "location", "born_ns", "died_ns")
    return replaced(
        table, location=np.arange(table.num_rows), process=processes.astype(np.int64)
    )


def _calls(window: Window) -> pa.Table:
    table = kept_rows(window.trace.calls, window.numbers("calls").mask)
    table = window.clip(table, "location", "enter_ns", "leave_ns")
    return window.locate(window.refer(table, "location", "calls", "call"), "location")


def _regions(window: Window) -> pa.Table:
    table = kept_rows(window.trace.regions, window.numbers("regions").mask)
    table = window.clip(table, "location", "enter_ns", "leave_ns")
    table = window.refer(table, "location", "regions", "row", "parent")
    table = window.refer(table, "location", "teams", "team")
    return window.locate(table, "location")


def _loop_entries(window: Window) -> pa.Table:
    table = kept_rows(window.trace.loop_entries, window.numbers("loop_entries").mask)
    table = window.clip(table, "location", "enter_ns", "leave_ns")
    table = window.refer(table, "location", "loop_entries", "entry", "parent")
    return window.locate(table, "location")


def _loop_iterations(window: Window) -> pa.Table:
    location, time = window.trace.arrays("loop_iterations", "location", "time_ns")
    table = kept_rows(window.trace.loop_iterations, window.begins(location, time))
    return window.locate(window.refer(table, "location", "loop_entries", "entry"), "location")


def _call_loops(window: Window) -> pa.Table:
    table = window.refer(window.trace.call_loops, "location", "calls", "call")
    (call,) = numpy_columns(table, "call")
    return window.locate(kept_rows(table, call >= 0), "location")


def _teams(window: Window) -> pa.Table:
    table = kept_rows(window.trace.teams, window.numbers("teams").mask)
    table = window.clip(table, "fork_location", "fork_ns", "join_ns")
    (process,) = window.trace.arrays("locations", "process")
    (fork_location,) = numpy_columns(table, "fork_location")
    renumbered = np.unique(process[window.kept])
    table = replaced(table, process=np.searchsorted(renumbered, process[fork_location]))
    table = window.refer(table, "fork_location", "teams", "team", "parent")
    return window.locate(table, "fork_location")


def _bursts(window: Window) -> pa.Table:
    mask = window.numbers("bursts").mask
    whole = kept_rows(window.trace.bursts, mask)
    location, start, end = numpy_columns(whole, "location", "start_ns", "end_ns")
    first, last = window.borders.at(location)
    cut = (start < first) | (end > last)
    table = window.clip(whole, "location", "start_ns", "end_ns")
    table = window.refer(table, "location", "bursts", "burst")
    table = window.refer(table, "location", "calls", "call_before", "call_after")
    if cut.any():
        columns: dict[str, npt.NDArray[Any]] = {
            "gap_ns": np.where(cut, 0, numpy_columns(table, "gap_ns")[0])
            + _gap_within(window, table, cut)
        }
        for name in ("polling_ns", "polls"):
            columns[name] = np.where(cut, 0, numpy_columns(table, name)[0])
        for counter in table.column_names[len(schema.TABLES["bursts"].columns) :]:
            columns[counter] = np.where(cut, NO_VALUE, numpy_columns(table, counter)[0])
        table = replaced(table, **columns)
    return window.locate(table, "location")


def _gap_within(window: Window, bursts: pa.Table, cut: Mask) -> npt.NDArray[np.int64]:
    """The unwatched time of cut bursts; there are at most two to a location."""
    location, start, end = numpy_columns(bursts, "location", "start_ns", "end_ns")
    where, begin, stop = window.trace.arrays("gaps", "location", "start_ns", "end_ns")
    gap_ns = np.zeros(len(location), np.int64)
    rows = np.flatnonzero(cut)
    for side in ("left", "right"):
        at = np.searchsorted(location[rows], where, side=side) - (side == "right")
        burst = rows[np.clip(at, 0, len(rows) - 1)]
        overlap = np.minimum(end[burst], stop) - np.maximum(start[burst], begin)
        found = (location[burst] == where) & (overlap > 0)
        if side == "right":
            other = np.searchsorted(location[rows], where, side="left")
            found &= other < at
        np.add.at(gap_ns, burst[found], overlap[found])
    return gap_ns


def _messages(window: Window) -> pa.Table:
    mask = _whole_messages(window, "messages")
    table = kept_rows(window.trace.messages, mask)
    table = window.refer(table, "sender_location", "calls", "send_call", "send_done_call")
    table = window.refer(table, "receiver_location", "calls", "post_call", "receive_call")
    table = _forget_late_completions(window, table)
    return window.locate(table, "sender_location", "receiver_location")


def _whole_messages(window: Window, name: str) -> Mask:
    sender, receiver, *times = window.trace.arrays(
        name, "sender_location", "receiver_location", *_STAMPS
    )
    sent, send_left, posted, received = times
    return (
        window.begins(sender, sent)
        & window.ends(sender, send_left)
        & window.begins(receiver, posted)
        & window.ends(receiver, received)
    )


def _forget_late_completions(window: Window, table: pa.Table) -> pa.Table:
    sender, done_ns, done_call, done_seq = numpy_columns(
        table, "sender_location", "send_done_ns", "send_done_call", "send_done_seq"
    )
    late = (done_ns > window.borders.at(sender).end) & (done_ns != NO_VALUE)
    if not late.any():
        return table
    position = table.schema.get_field_index("send_done_from")
    field = table.schema.field(position)
    known = table[position].combine_chunks()
    words = known.dictionary.to_pylist()
    if "unknown" not in words:
        words.append("unknown")
    codes = np.where(late, words.index("unknown"), known.indices.to_numpy())
    indices = pa.array(codes, field.type.index_type)
    table = table.set_column(
        position, field, pa.DictionaryArray.from_arrays(indices, pa.array(words, pa.string()))
    )
    return replaced(
        table,
        send_done_ns=np.where(late, NO_VALUE, done_ns),
        send_done_call=np.where(late, UNKNOWN, done_call),
        send_done_seq=np.where(late, NO_VALUE, done_seq),
    )


def _links(window: Window) -> pa.Table:
    table = kept_rows(window.trace.links, _whole_messages(window, "links"))
    return window.locate(table, "sender_location", "receiver_location")


def _member_mask(window: Window) -> Mask:
    location, call, begin, end = window.trace.arrays(
        "collective_members", "location", "call", "begin_ns", "end_ns"
    )
    whole = window.begins(location, begin) & window.ends(location, end)
    return whole & (window.numbers("calls").new(location, call) >= 0)


def _member_counts(window: Window, mask: Mask) -> tuple[Integers, Integers]:
    """The members of each instance, in the trace and in the selection."""
    (instance,) = window.trace.arrays("collective_members", "collective")
    count = window.trace.collectives.num_rows
    return np.bincount(instance, minlength=count), np.bincount(instance[mask], minlength=count)


def _collectives(window: Window) -> pa.Table:
    before, after = _member_counts(window, _member_mask(window))
    stays = (after > 0) | (before == 0)
    table = kept_rows(window.trace.collectives, stays)
    complete = table["complete"].to_numpy() & (before == after)[stays]
    position = table.schema.get_field_index("complete")
    return table.set_column(position, table.schema.field(position), pa.array(complete))


def _collective_members(window: Window) -> pa.Table:
    mask = _member_mask(window)
    before, after = _member_counts(window, mask)
    new = np.cumsum((after > 0) | (before == 0)) - 1
    table = kept_rows(window.trace.collective_members, mask)
    (instance,) = numpy_columns(table, "collective")
    table = window.refer(table, "location", "calls", "call", "done_call")
    return window.locate(replaced(table, collective=new[instance]), "location")


def _locks(window: Window) -> pa.Table:
    location, acquired, released = window.trace.arrays(
        "locks", "location", "acquire_ns", "release_ns"
    )
    until = np.where(released == NO_VALUE, _LAST, released)
    table = kept_rows(window.trace.locks, window.overlaps(location, acquired, until))
    return window.locate(window.clip(table, "location", "acquire_ns", "release_ns"), "location")


def _readings(window: Window) -> pa.Table:
    location, time = window.trace.arrays("readings", "location", "time_ns")
    return window.locate(
        kept_rows(window.trace.readings, window.counts(location, time)), "location"
    )


def _other_events(window: Window) -> pa.Table:
    location, time = window.trace.arrays("other_events", "location", "time_ns")
    table = kept_rows(window.trace.other_events, window.begins(location, time))
    value, form = numpy_columns(table, "value", "type")
    named = np.flatnonzero(form == _LOCATION)
    if len(named):
        new = window.located(value[named])
        value = value.copy()
        value[named] = np.where(new >= 0, new, NO_VALUE)
        table = replaced(table, value=value)
    return window.locate(table, "location")


def _half_messages(window: Window) -> pa.Table:
    location, time = window.trace.arrays("half_messages", "location", "time_ns")
    table = kept_rows(window.trace.half_messages, window.begins(location, time))
    return window.locate(window.refer(table, "location", "calls", "call"), "location")


def _gaps(window: Window) -> pa.Table:
    location, start, end = window.trace.arrays("gaps", "location", "start_ns", "end_ns")
    table = kept_rows(window.trace.gaps, window.overlaps(location, start, end))
    return window.locate(window.clip(table, "location", "start_ns", "end_ns"), "location")


def _states(window: Window) -> pa.Table:
    location, begin, end = window.trace.arrays("states", "location", "begin_ns", "end_ns")
    never = end < begin
    mask = window.overlaps(location, begin, np.where(never, _LAST, end))
    last = window.borders.at(location).end
    endless = never & (last >= window.died[location])
    table = window.clip(kept_rows(window.trace.states, mask), "location", "begin_ns")
    end = np.where(never & ~endless, last, np.where(endless, end, np.minimum(end, last)))
    return window.locate(replaced(table, end_ns=end[mask]), "location")


def _events(window: Window) -> pa.Table:
    location, seq, time, kind = window.trace.arrays(
        "events", "location", "seq", "time_ns", "type"
    )
    counters = window.trace.table("counters")["source_type"].to_numpy()
    mask = np.where(
        np.isin(kind, counters), window.counts(location, time), window.begins(location, time)
    )
    edges, stays = _edges(window)
    event, edge = channels([location, seq], [*edges])
    for names, inside in ((edge[~stays], False), (edge[stays], True)):
        mask[np.isin(event, names)] = inside
    table = window.clip(kept_rows(window.trace.events, mask), "location", "time_ns")
    return window.locate(table, "location")


def _edges(window: Window) -> tuple[tuple[Integers, Integers], Mask]:
    """Location and ordinal of every enter and leave, and whether it stays."""
    locations, seqs, stays = [], [], []
    for name in ("regions", "calls"):
        columns = window.trace.arrays(name, "location", "enter_seq", "leave_seq")
        for seq in columns[1:]:
            locations.append(columns[0])
            seqs.append(seq)
            stays.append(window.numbers(name).mask)
    return (np.concatenate(locations), np.concatenate(seqs)), np.concatenate(stays)


_TABLES: Final[dict[str, Callable[[Window], pa.Table]]] = {
    "locations": _locations,
    "calls": _calls,
    "regions": _regions,
    "loop_entries": _loop_entries,
    "loop_iterations": _loop_iterations,
    "call_loops": _call_loops,
    "teams": _teams,
    "bursts": _bursts,
    "messages": _messages,
    "collectives": _collectives,
    "collective_members": _collective_members,
    "locks": _locks,
    "readings": _readings,
    "other_events": _other_events,
    "half_messages": _half_messages,
    "gaps": _gaps,
    "states": _states,
    "links": _links,
    "events": _events,
}
