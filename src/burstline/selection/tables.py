"""What a window makes of each table of a trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from burstline.columns import Integers, Mask, codes, numpy_columns, with_column
from burstline.model import NO_VALUE, UNKNOWN, schema
from burstline.selection.window import INTERVALS, ORDINALS, Window, kept_rows, replaced

_LAST: Final = 2**63 - 1
_LOCATION: Final = schema.VALUE_TYPES.index("location")
_STAMPS: Final = ("send_ns", "send_leave_ns", "post_ns", "receive_ns")


_SPENT: Final = frozenset([
    "calls_ns", "reading_ns", "functions_ns", "thread_ns", "sampling_ns", "signals",
    "mpi_periods", "lost_periods",
])  # fmt: skip
"""What recording a thread took in all of its life."""
_BY_TIME: Final = frozenset([
    "calls", "regions", "loop_entries", "loop_iterations", "teams", "bursts", "half_messages",
    "locks", "gaps", "readings", "samples",
])  # fmt: skip
"""Tables whose rows stay where they are inside, whatever happens elsewhere."""


def selected(window: Window, name: str) -> pa.Table:
    """A table of the selection."""
    if name in _TABLES:
        return _TABLES[name](window)
    return _rows_inside(window, name) if name in _BY_TIME else window.trace.table(name)


def _rows_inside(window: Window, name: str) -> pa.Table:
    """The rows of a table that are inside, clipped, with new numbers."""
    where, *times = INTERVALS.get(name, ("location",))
    table = kept_rows(window.trace.table(name), _inside_mask(window, name))
    table = window.clip(table, where, *times)
    for column in schema.TABLES[name].columns:
        if column.refers in ORDINALS:
            table = window.refer(table, where, column.refers, column.name)
    return window.locate(table, where)


def _inside_mask(window: Window, name: str) -> Mask:
    if name in ORDINALS:
        return window.numbers(name).mask
    if name in INTERVALS:
        location, begin, end = window.trace.arrays(name, *INTERVALS[name])
        return window.overlaps(location, begin, np.where(end == NO_VALUE, _LAST, end))
    has = window.counts if name == "readings" else window.begins
    return has(*window.trace.arrays(name, "location", "time_ns"))


def _locations(window: Window) -> pa.Table:
    table = kept_rows(window.trace.locations, window.kept)
    _, processes = np.unique(table["process"].to_numpy(), return_inverse=True)
    table = window.clip(table, "location", "born_ns", "died_ns")
    return replaced(
        table, location=np.arange(table.num_rows), process=processes.astype(np.int64)
    )


def _of_locations(name: str) -> Callable[[Window], pa.Table]:
    """What a window makes of facts about locations, which hold for the whole of each."""

    def table(window: Window) -> pa.Table:
        (location,) = window.trace.arrays(name, "location")
        return window.locate(
            kept_rows(window.trace.table(name), window.kept[location]), "location"
        )

    return table


def _recordings(window: Window) -> pa.Table:
    """What recording took, in a part as if it was the same at all times of a thread."""
    table = _of_locations("recordings")(window)
    (where,) = window.trace.arrays("recordings", "location")
    (kept,) = numpy_columns(table, "location")
    born, died = window.trace.arrays("locations", "born_ns", "died_ns")
    lives = (died - born)[where[window.kept[where]]]
    part = np.subtract(*numpy_columns(_locations(window), "died_ns", "born_ns"))[kept]
    for name in table.column_names:
        if name in _SPENT:
            spent = table[name].to_pylist()
            rows = zip(spent, part.tolist(), lives.tolist(), strict=True)
            shares = [
                None if each is None else each * some // max(whole, 1)
                for each, some, whole in rows
            ]
            table = with_column(table, name, pa.array(shares, table[name].type))
    return table


def _call_loops(window: Window) -> pa.Table:
    table = window.refer(window.trace.call_loops, "location", "calls", "call")
    (call,) = numpy_columns(table, "call")
    return window.locate(kept_rows(table, call >= 0), "location")


def _teams(window: Window) -> pa.Table:
    (process,) = window.trace.arrays("locations", "process")
    numbers = np.unique(process[window.kept], return_inverse=True)[1]
    table = _rows_inside(window, "teams")
    return replaced(table, process=numbers[numpy_columns(table, "fork_location")[0]])


def _bursts(window: Window) -> pa.Table:
    mask = window.numbers("bursts").mask
    columns = window.trace.arrays("bursts", *INTERVALS["bursts"])
    location, start, end = (column[mask] for column in columns)
    first, last = window.borders.at(location)
    cut = (start < first) | (end > last)
    table = _rows_inside(window, "bursts")
    if not cut.any():
        return table
    times = numpy_columns(table, "start_ns", "end_ns")
    (gap_ns,) = numpy_columns(table, "gap_ns")
    changed = {"gap_ns": np.where(cut, 0, gap_ns) + _gap_within(window, location, times, cut)}
    for name in ("polling_ns", "polls"):
        changed[name] = np.where(cut, 0, numpy_columns(table, name)[0])
    changed["waiting_ns"] = np.where(cut, NO_VALUE, numpy_columns(table, "waiting_ns")[0])
    for counter in table.column_names[len(schema.TABLES["bursts"].columns) :]:
        changed[counter] = np.where(cut, NO_VALUE, numpy_columns(table, counter)[0])
    return replaced(table, **changed)


def _gap_within(
    window: Window, location: Integers, times: Sequence[Integers], cut: Mask
) -> Integers:
    """The unwatched time of cut bursts; there are at most two to a location."""
    start, end = times
    where, begin, stop = window.trace.arrays("gaps", "location", "start_ns", "end_ns")
    gap_ns = np.zeros(len(location), np.int64)
    rows = np.flatnonzero(cut)
    for side in ("left", "right"):
        place = np.searchsorted(location[rows], where, side=side) - (side == "right")
        burst = rows[np.clip(place, 0, len(rows) - 1)]
        overlap = np.minimum(end[burst], stop) - np.maximum(start[burst], begin)
        is_cut = (location[burst] == where) & (overlap > 0)
        if side == "right":
            is_cut &= np.searchsorted(location[rows], where) < place
        np.add.at(gap_ns, burst[is_cut], overlap[is_cut])
    return gap_ns


def _messages(window: Window) -> pa.Table:
    mask = _whole_messages(window, "messages")
    table = kept_rows(window.trace.messages, mask)
    table = window.refer(table, "sender_location", "calls", "send_call", "send_done_call")
    table = window.refer(table, "receiver_location", "calls", "post_call", "receive_call")
    table = _forget_late_completions(window, table)
    return window.locate(table, "sender_location", "receiver_location")


def _whole_messages(window: Window, name: str) -> Mask:
    sender, receiver, sent, send_left, posted, received = window.trace.arrays(
        name, "sender_location", "receiver_location", *_STAMPS
    )
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
    source = table["send_done_from"].combine_chunks()
    words = source.dictionary.to_pylist()
    if "unknown" not in words:
        words.append("unknown")
    numbers = np.where(late, words.index("unknown"), source.indices.to_numpy())
    indices = pa.array(numbers, source.type.index_type)
    sources = pa.DictionaryArray.from_arrays(indices, pa.array(words, pa.string()))
    return replaced(
        with_column(table, "send_done_from", sources),
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
    return with_column(table, "complete", pa.array(complete))


def _collective_members(window: Window) -> pa.Table:
    mask = _member_mask(window)
    before, after = _member_counts(window, mask)
    new = np.cumsum((after > 0) | (before == 0)) - 1
    table = kept_rows(window.trace.collective_members, mask)
    (instance,) = numpy_columns(table, "collective")
    table = window.refer(table, "location", "calls", "call", "done_call")
    return window.locate(replaced(table, collective=new[instance]), "location")


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
    edges, stays = _enters_and_leaves(window)
    event, edge = codes([location, seq], edges)
    for names, inside in ((edge[~stays], False), (edge[stays], True)):
        mask[np.isin(event, names)] = inside
    table = window.clip(kept_rows(window.trace.events, mask), "location", "time_ns")
    return window.locate(table, "location")


def _enters_and_leaves(window: Window) -> tuple[tuple[Integers, Integers], Mask]:
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
    "placements": _of_locations("placements"),
    "recordings": _recordings,
    "call_loops": _call_loops,
    "teams": _teams,
    "bursts": _bursts,
    "messages": _messages,
    "collectives": _collectives,
    "collective_members": _collective_members,
    "other_events": _other_events,
    "states": _states,
    "links": _links,
    "events": _events,
}
