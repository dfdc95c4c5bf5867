"""A loop table says what each iteration cost, and names those that stand out."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles.loop_table as oracle
from burstline import ParameterError, Trace
from burstline.model import NO_VALUE, schema
from burstline.show.structure import LoopTableView, sparkline
from burstline.structure import detect, segments
from burstline.structure.tables.costs import loop_table, loops_table
from burstline.structure.tables.spread import medians, scores, trend
from burstline.testing import trace_of
from loop_programs import CALL_NS, Do, loop, run
from table_cells import cells

NUMBERS = st.lists(st.integers(0, 20), min_size=1, max_size=30)
NESTED = (Do("Bcast", 3), loop(6, loop(4, Do("Send", 9)), Do("Barrier", 12)))


def found(*program, **settings):
    trace = run(*program, **settings)
    return trace, detect(trace, min_share=0)


def with_bursts(trace, bursts):
    """Give the trace with other rows of bursts."""
    tables = {name: trace.table(name) for name in schema.TABLES if name in trace}
    tables["bursts"] = pa.Table.from_pylist(bursts, schema=trace.bursts.schema)
    return Trace(tables)


def slowed(trace, rows, extra_ns):
    """Make a trace whose calls in `rows`, and all after them on their location, are later."""
    tables = {name: trace.table(name) for name in schema.TABLES if name in trace}
    calls = trace.calls.to_pylist()
    for row in rows:
        for call in calls[row:]:
            if call["location"] == calls[row]["location"]:
                call["leave_ns"] += extra_ns
                call["enter_ns"] += extra_ns * (call is not calls[row])
    bursts = trace.bursts.to_pylist()
    at = {(call["location"], call["call"]): call for call in calls}
    for burst in bursts:
        burst["start_ns"] = at[burst["location"], burst["call_before"]]["leave_ns"]
        burst["end_ns"] = at[burst["location"], burst["call_after"]]["enter_ns"]
    locations = trace.locations.to_pylist()
    for place in locations:
        own = [call["leave_ns"] for call in calls if call["location"] == place["location"]]
        place["died_ns"] = max(own)
    new = {"calls": calls, "bursts": bursts, "locations": locations}
    tables |= {
        name: pa.Table.from_pylist(rows, schema=trace.table(name).schema)
        for name, rows in new.items()
    }
    return Trace(tables, check=True)


@given(
    trips=st.lists(st.integers(1, 4), min_size=3, max_size=5),
    work=st.integers(1, 300),
    ranks=st.integers(1, 3),
    unread=st.sets(st.integers(0, 20)),
    polls=st.dictionaries(
        st.integers(0, 20),
        st.tuples(st.integers(0, 3), st.integers(0, 300), st.none() | st.integers(0, 300)),
    ),
)
def test_any_loop_costs_what_the_slow_twin_says(trips, work, ranks, unread, polls):
    body = loop(len(trips), loop(trips, Do("Send", 9, work_ns=work)), Do("Barrier", 12))
    trace, structure = found(body, ranks=ranks, counters=True)
    bursts = trace.bursts.to_pylist()
    for row in unread & set(range(len(bursts))):
        bursts[row] |= {"ins": None, "gap_ns": 1}
    for row in polls.keys() & set(range(len(bursts))):
        names = ("polls", "polling_ns", "waiting_ns")
        bursts[row] |= dict(zip(names, polls[row], strict=True))
    trace = with_bursts(trace, bursts)

    for each in structure.loops:
        table = loop_table(trace, structure, each.id)
        expected = oracle.table(trace, structure.iterations(each.id))
        assert table.to_frame().select(list(expected[0])).to_dicts() == expected
        spent = table.mpi_ns + table.useful_ns + table.unwatched_ns + table.waiting_ns
        assert spent.tolist() == table.duration_ns.tolist()


def test_iterations_are_the_same_by_either_method():
    trace, exact = found(*NESTED)
    seed = detect(trace, method="seed", min_share=0)

    for number in (1, 2):
        tables = [loop_table(trace, each, number).to_frame() for each in (exact, seed)]
        assert tables[0].equals(tables[1])


def test_a_counter_that_was_not_read_throughout_is_unknown():
    trace, structure = found(loop(5, Do("Send", 9)), ranks=1, counters=True)
    bursts = trace.bursts.to_pylist()
    bursts[2]["ins"] = None

    table = loop_table(with_bursts(trace, bursts), structure, 1)

    assert table.counters["ins"].tolist() == [100, NO_VALUE, 100, 100, 0]
    assert table.to_frame()["ins"].to_list() == [100, None, 100, 100, 0]
    assert table.rows()[1][-1] is None
    assert table.as_dict()["by_iteration"][1]["ins"] is None


@pytest.fixture
def late():
    """Two ranks, twenty iterations; in the seventh, rank 1 stays 5000 ns longer in MPI."""
    trace, structure = found(loop(20, Do("Send", 9, when=None)), ranks=2)
    row = int(structure.iterations(1).first[20 + 6])
    trace = slowed(trace, [row], 5000)
    return trace, detect(trace, min_share=0)


def test_how_much_slower_an_iteration_is_holds_for_the_shortest_ones():
    trace, structure = found(loop(20, Do("Send", 9)), ranks=1)
    table = loop_table(trace, structure, 1)
    table.duration_ns[:] = 1
    table.duration_ns[4] = 5000

    assert table.slowest()[0].ratio == 5000


def test_an_iteration_that_is_slow_on_several_ranks_is_named_once_where_it_lasts_longest():
    trace, structure = found(loop(20, Do("Send", 9)), ranks=3)
    first = structure.iterations(1).first.reshape(3, 20)
    trace = slowed(trace, [first[0, 4]], 900)
    trace = slowed(trace, [first[2, 4]], 5000)

    (slow,) = loop_table(trace, detect(trace, min_share=0), 1).slowest()

    assert (slow.iteration, slow.rank, slow.lanes) == (5, 2, 2)


def test_calls_the_structure_does_not_explain_count_in_the_iteration_they_follow():
    once = Do("Bcast", 12, when=lambda k: k == 3)
    trace = run(loop(20, Do("Send", 9), once), ranks=1)
    structure = detect(trace, method="seed", min_share=0)

    table = loop_table(trace, structure, 1)

    assert table.calls.tolist() == [1] * 3 + [2] + [1] * 16
    assert table.mpi_ns.tolist() == [CALL_NS] * 3 + [2 * CALL_NS] + [CALL_NS] * 16


def test_the_document_is_json_and_the_frame_has_a_row_per_rank_and_iteration(late):
    table = loop_table(*late, 1)

    document = json.loads(json.dumps(table.as_dict(), allow_nan=False))

    assert document["summary"]["iterations"] == 20
    assert len(document["by_iteration"]) == 20
    assert len(document["by_rank"]) == 2
    with pytest.raises(ParameterError, match="no loop 7"):
        loop_table(*late, 7)
    assert table.to_frame().height == len(table) == len(table.rows()) == 40
    assert repr(table) == "<LoopTable: loop 1, 40 iterations on 2 lanes>"


def test_the_table_of_all_loops_has_a_row_per_loop_and_rank():
    trace, structure = found(*NESTED, counters=True)

    rows = loops_table(trace, structure)

    assert cells(rows, "loop parent rank iterations entries") == (
        "1 - 0 6 1 | 1 - 1 6 1 | 2 1 0 24 6 | 2 1 1 24 6"
    )
    empty = loops_table(*found(Do("Send", 3), counters=True))
    assert empty.num_rows == 0
    assert empty.schema == rows.schema


@given(values=NUMBERS, groups=st.lists(st.integers(0, 3), min_size=30, max_size=30))
def test_medians_and_scores_are_those_of_each_group_alone(values, groups):
    values, group = np.array(values), np.array(groups[: len(values)])

    middle, score = medians(values, group, 5), scores(values, group, 5)

    for number in range(5):
        own = values[group == number].tolist()
        if own:
            assert middle[number] == np.median(own)
            assert score[group == number].tolist() == pytest.approx(oracle.scores(own))
        else:
            assert np.isnan(middle[number])


@given(values=st.lists(st.integers(0, 20), min_size=4, max_size=25))
def test_a_trend_is_the_median_slope_of_all_pairs(values):
    found = trend(np.array(values, np.float64))

    slope, p_value = oracle.slope(values)
    assert found.slope == pytest.approx(slope)
    assert found.p_value == pytest.approx(p_value)
    assert found.low <= found.slope <= found.high


def test_one_outlier_moves_the_trend_of_a_long_series_little():
    assert trend(np.array([1.0, 2.0, 3.0])) is None  # of three values there is none
    series = 3.0 * np.arange(5000)
    series[2500] = 1e9

    found = trend(series)

    assert found.slope == pytest.approx(3.0, rel=1e-3)
    assert found.p_value < 1e-9


def test_a_line_explains_a_slope_and_two_levels_a_step_or_neither_does():
    noise = np.tile([0.0, 1.0, 0.0, -1.0], 5)
    rare = np.tile([0.0, 0.0, 0.0, 0.0, 400.0], 20)

    line = trend(100 - 5 * np.arange(20.0) + noise)
    step = trend(np.where(np.arange(20) < 8, 270.0, 126.0) + noise)
    hardly = trend(np.arange(100.0) + rare)

    kinds = [(each.is_line, each.is_step) for each in (line, step, hardly)]
    assert kinds == [(True, False), (False, True), (False, False)]
    assert (step.step.at, round(step.step.before), round(step.step.after)) == (8, 270, 126)
    assert hardly.p_value < 0.05
    assert hardly.explained < 0.5


@given(values=st.lists(st.integers(0, 20), min_size=4, max_size=25))
def test_shares_that_lines_and_steps_explain_are_those_of_the_variance(values):
    series = np.array(values, np.float64)
    found = trend(series)

    total = ((series - series.mean()) ** 2).sum()
    best = 0.0
    for at in range(2, len(series) - 1):
        rest = sum(((part - part.mean()) ** 2).sum() for part in (series[:at], series[at:]))
        best = max(best, 1 - rest / total) if total else 0.0
    line = np.corrcoef(np.arange(len(series)), series)[0, 1] ** 2 if total else 0.0
    assert found.step.explained == pytest.approx(best)
    assert found.explained == pytest.approx(line)


@pytest.mark.parametrize(
    ("lengths", "said"),
    [
        ([270] * 8 + [126] * 9, "1 step, from 270 ns to 126 ns, at iteration 9"),
        ([300 - 10 * k for k in range(20)], "% over the loop"),
        ([100 + 5 * k + 900 * (k % 5 == 3) for k in range(40)], "but a line explains"),
    ],
)
def test_only_a_trend_that_a_line_explains_is_a_percentage(lengths, said):
    now, told = 0, ["ranks 1", "path 0 main file a.c line 3", "0"]
    for length in [*lengths, 50]:
        told += [f"{now} enter MPI_Barrier path 0", f"{now + 10} leave"]
        now += length
    trace = trace_of(" | ".join(told))
    structure = detect(trace)
    table = loop_table(trace, structure, 1)
    steps = segments(trace, structure, table)

    facts = next(iter(LoopTableView(table, segments=steps).blocks()))

    trend_line = dict(facts.pairs)["trend"]
    assert said in trend_line
    assert ("over the loop" in trend_line) == (said == "% over the loop")


def test_a_shape_is_as_long_as_the_screen_allows_and_keeps_its_peak():
    values = np.ones(1000)
    values[500] = 8

    shape = sparkline(values)

    assert len(shape) == 60
    assert shape.count("█") == 1
    assert sparkline(np.zeros(3)) == "▁▁▁"
