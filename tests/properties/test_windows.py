"""What holds where every location has a window of its own."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from burstline import Trace
from burstline.formats import store
from burstline.model import schema
from burstline.selection import former_locations, losses, narrowed, select, shift
from burstline.structure import detect
from burstline.structure.program.windows import iterations_window
from burstline.testing import assert_same_trace
from effort import examples
from loop_programs import Do, loop, run
from properties.test_selection import cut_traces, with_raw
from random_traces import traces


@st.composite
def windowed_traces(draw):
    """Give a trace and a window for each location, some of them empty."""
    trace = with_raw(draw(traces()))
    moments = np.concatenate([*trace.arrays("calls", "enter_ns", "leave_ns"), [0, 40]])
    near = st.builds(lambda a, b: int(a) + b, st.sampled_from(moments), st.integers(-1, 1))
    borders = [draw(st.tuples(near, near)) for _ in range(trace.locations.num_rows)]
    start, end = np.array(borders, np.int64).T
    assume((start < end).any())
    return trace, start, end


def own_windows(start, end):
    """Windows of the locations that are left, as a selection numbers them."""
    kept = start < end
    return start[kept], end[kept]


@examples(0.5)
@given(cut=cut_traces())
def test_equal_windows_on_all_locations_are_one_window(cut):
    trace, start, end = cut
    everywhere = np.ones(trace.locations.num_rows, np.int64)

    part = select(trace, start_ns=start * everywhere, end_ns=end * everywhere)

    expected = select(trace, start_ns=start, end_ns=end)
    assert_same_trace(part, expected)
    assert losses(trace, part) == losses(trace, expected)


@examples(0.5)
@given(cut=windowed_traces())
def test_selecting_the_same_windows_twice_changes_nothing(cut):
    trace, start, end = cut
    once = select(trace, start_ns=start, end_ns=end)

    start, end = own_windows(start, end)

    assert_same_trace(select(once, start_ns=start, end_ns=end), once)


@examples(0.5)
@given(cut=windowed_traces())
def test_what_has_one_location_is_what_its_own_window_selects(cut):
    trace, start, end = cut
    part = select(trace, start_ns=start, end_ns=end)

    for new, old in enumerate(former_locations(trace, part).tolist()):
        alone = select(trace, start_ns=int(start[old]), end_ns=int(end[old]))
        for name in ("calls", "bursts", "regions", "readings", "gaps", "locks", "states"):
            # teams and processes count over all locations
            names = [n for n in part.table(name).column_names if n not in {"location", "team"}]
            assert rows(part, name, new, names) == rows(alone, name, old, names)


def rows(trace, name, location, names):
    table = trace.table(name)
    return (
        table.filter(np.equal(trace.arrays(name, "location")[0], location))
        .select(names)
        .to_pylist()
    )


@examples(0.5)
@given(cut=windowed_traces())
def test_a_message_stays_if_each_side_is_inside_its_own_window(cut):
    trace, start, end = cut
    sender, receiver, sent, left, posted, received = trace.arrays(
        "messages",
        *("sender_location", "receiver_location"),
        *("send_ns", "send_leave_ns", "post_ns", "receive_ns"),
    )
    (died,) = trace.arrays("locations", "died_ns")
    open_ = start < end

    part = select(trace, start_ns=start, end_ns=end)

    def begins(where, time):
        last = (time == end[where]) & (time == died[where])
        return (start[where] <= time) & ((time < end[where]) | last)

    inside = begins(sender, sent) & (left <= end[sender]) & begins(receiver, posted)
    inside &= (received <= end[receiver]) & open_[sender] & open_[receiver]
    assert part.messages["send_ns"].to_pylist() == sent[inside].tolist()
    assert part.messages["receive_ns"].to_pylist() == received[inside].tolist()
    assert losses(trace, part).messages <= int((~inside).sum())


@examples(0.5)
@given(cut=windowed_traces())
def test_every_selected_table_keeps_the_schema(cut):
    trace, start, end = cut

    part = select(trace, start_ns=start, end_ns=end)

    for name in schema.TABLES:
        schema.check(name, part.table(name))


@examples(0.5)
@given(cut=windowed_traces(), offset_ns=st.integers(0, 50))
def test_selecting_windows_and_shifting_commute(cut, offset_ns):
    trace, start, end = cut

    late = select(shift(trace, offset_ns), start_ns=start + offset_ns, end_ns=end + offset_ns)

    assert_same_trace(late, shift(select(trace, start_ns=start, end_ns=end), offset_ns))


@examples(1)
@given(cut=windowed_traces())
def test_windows_of_a_store_are_the_windows_of_memory(cut):
    trace, start, end = cut
    region = {"start_ns": start, "end_ns": end}
    with TemporaryDirectory() as folder:
        store.write(trace, Path(folder) / "run.store")
        stored = store.read(Path(folder) / "run.store")

        part, expected = select(stored, **region), select(trace, **region)

        assert_same_trace(part, expected)
        assert losses(stored, part) == losses(trace, expected)
        assert losses(narrowed(stored, **region), part) == losses(trace, expected)


@st.composite
def looping_traces(draw):
    """Give a trace of a loop with its structure: ranks run at their own speed."""
    trips = draw(st.integers(3, 8))
    ranks = draw(st.integers(1, 3))
    inner = loop(draw(st.integers(1, 3)), Do("Send", 9))
    body = [
        Do("Send", 5, ranks=(rank,), work_ns=draw(st.integers(1, 400))) for rank in range(ranks)
    ]
    trace = run(Do("Bcast", 3), loop(trips, *body, inner, Do("Send", 12)), ranks=ranks)
    return trace, detect(trace, min_share=0)


@examples(0.5)
@given(looping=looping_traces())
def test_all_iterations_together_keep_exactly_their_calls(looping):
    trace, structure = looping
    outer = structure.iterations(1)

    begin, end = iterations_window(trace, structure, 1)
    part = select(trace, start_ns=begin, end_ns=end)

    kept = np.zeros(trace.calls.num_rows, bool)
    for first, last in zip(outer.first.tolist(), outer.last.tolist(), strict=True):
        kept[first : last + 1] = True
    calls = trace.calls.filter(kept)
    for name in ("location", "operation", "enter_ns", "leave_ns", "call_path"):
        assert part.calls[name].to_pylist() == calls[name].to_pylist()


@examples(0.5)
@given(looping=looping_traces(), data=st.data())
def test_iterations_one_by_one_are_the_iterations_together(looping, data):
    trace, structure = looping
    most = structure.loop(1).total_iterations
    first = data.draw(st.integers(1, most))
    last = data.draw(st.integers(first, most))

    together = selected(trace, structure, first, last)

    alone = [selected(trace, structure, k, k) for k in range(first, last + 1)]
    assert together.calls.num_rows == sum(part.calls.num_rows for part in alone)
    from_the_end = selected(trace, structure, first - most - 1, last - most - 1)
    assert_same_trace(from_the_end, together)


def selected(trace, structure, first, last) -> Trace:
    begin, end = iterations_window(trace, structure, 1, first, last)
    return select(trace, start_ns=begin, end_ns=end)
