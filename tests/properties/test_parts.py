"""What is folded over parts of a trace, and joined, is what one fold over all of it gives."""

from __future__ import annotations

import copy
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstline.computing import bursts_summed, computing_of
from burstline.errors import BurstlineError
from burstline.histogram import bursts_binned, histogram_of
from burstline.matrix import matrix_of, messages_summed
from burstline.merge import PartSums, Shared, burst_parts
from burstline.model import TABLES, schema
from burstline.selection import of_locations
from burstline.signature import phases, phases_by_parts
from burstline.structure import detect, detect_by_parts
from burstline.summary import summary_of, summed
from burstline.testing import trace_of
from effort import examples
from loop_programs import Program
from random_traces import traces
from simulator import simulate

POLLS = {"poll_gap_ns": 5_000}
FOLDS = {
    **{
        f"summary of {span}": (
            lambda part, span=span: summed(part, span=span, **POLLS),
            lambda trace, parts: summary_of(trace, parts, full=False, **POLLS),
        )
        for span in ("init-finalize", "trace")
    },
    "matrix": (
        lambda part: messages_summed(part, application=None),
        lambda trace, parts: matrix_of(trace, parts, application=None),
    ),
    "histogram": (
        lambda part: bursts_binned(part, counter="rank", bins=2, **POLLS),
        lambda trace, parts: histogram_of(trace, parts, counter="rank", bins=2),
    ),
    "computing": (
        lambda part: bursts_summed(part, most=3, **POLLS),
        lambda trace, parts: computing_of(trace, parts, most=3),
    ),
}


STRUCTURE = {"eps": 0.2, "scale": "log", "min_share": 0.1, "rank_merge": "late"}


@st.composite
def divided(draw):
    """Give a trace, and ranges that hold all of its locations."""
    trace = draw(traces())
    count = trace.rows("locations")
    borders = draw(st.lists(st.integers(0, count), max_size=3))
    return trace, [range(*ends) for ends in pairwise(sorted({0, *borders, count}))]


def said(work):
    """Give what some work makes as text, or why it makes nothing."""
    try:
        made = work()
    except BurstlineError as error:
        return str(error)
    values = {name: getattr(made, name) for name in made.__slots__}
    return {name: v.tolist() if hasattr(v, "tolist") else repr(v) for name, v in values.items()}


@given(divided())
def test_parts_of_a_table_are_the_table(story):
    trace, ranges = story
    parts = [of_locations(trace, chosen) for chosen in ranges]
    for name in TABLES:
        if name == "locations" or schema.place_columns(name)[0] is None:
            continue
        tables = [part.table(name) for part in parts]
        if tables:  # without locations there is no part
            assert pa.concat_tables(tables).equals(trace.table(name))
        assert [part.rows(name) for part in parts] == [table.num_rows for table in tables]


@given(divided())
@pytest.mark.parametrize("name", FOLDS)
def test_folds_of_parts_are_joined_to_that_of_the_whole(name, story):
    trace, ranges = story
    fold, join = FOLDS[name]

    def in_parts():
        folded = []
        for chosen in ranges:
            part = of_locations(trace, chosen)
            # A part without bursts is no part: parts begin where bursts do.
            if part.rows("bursts") or name.startswith(("matrix", "summary")):
                folded.append(fold(part))
        return join(trace, folded or [fold(trace)])

    assert said(in_parts) == said(lambda: join(trace, [fold(trace)]))


def ranges_of(trace, borders):
    """Give ranges of the locations of a trace, borders of processes between them."""
    process = trace.arrays("locations", "process")[0]
    between = np.flatnonzero(np.diff(process, prepend=-1, append=-1))
    chosen = {int(between[border % len(between)]) for border in borders}
    return [range(*ends) for ends in pairwise(sorted({0, *chosen, len(process)}))]


def parts_of(trace, ranges):
    """Give what makes folds of parts of a trace, as a run does."""

    def parts(fold, each=None):
        for own, chosen in zip(each or [{}] * len(ranges), ranges, strict=True):
            part = of_locations(trace, chosen)
            yield fold(part, whole=trace, locations=chosen, **copy.deepcopy(own))

    return parts


def said_of(work):
    """Give the document of some work, or why there is none."""
    try:
        return work().as_dict()
    except BurstlineError as error:
        return str(error)


@given(st.integers(0, 5_000), st.lists(st.integers(0, 8), max_size=3), st.floats(0.01, 1))
@pytest.mark.parametrize("method", ["loops", "epas"])
def test_phases_of_parts_are_those_of_the_whole(method, seed, borders, within):
    trace = trace_of(simulate(seed).text)
    options = {
        "method": method, "similarity": None, "key": "operation", "min_share": 0.01,
        "within": within, "windows": 9,
    }  # fmt: skip

    parts = parts_of(trace, ranges_of(trace, borders))
    in_parts = said_of(lambda: phases_by_parts(trace, parts, application=None, **options))
    assert in_parts == said_of(lambda: phases(trace, **options))


@examples(0.5)
@given(
    trace=st.one_of(
        st.integers(0, 5_000).map(lambda seed: trace_of(simulate(seed).text)),
        traces(most_ranks=4, most_steps=20),
        st.builds(
            lambda seed, paths: Program(seed).trace(paths=paths),
            st.integers(0, 5_000),
            st.booleans(),
        ),
    ),
    borders=st.lists(st.integers(0, 8), max_size=3),
)
@pytest.mark.parametrize("method", ["auto", "seed", "exact"])
def test_the_structure_of_parts_is_that_of_the_whole(method, trace, borders):
    options = {**STRUCTURE, "method": method}
    parts = parts_of(trace, ranges_of(trace, borders))

    in_parts = said_of(lambda: detect_by_parts(trace, parts, **options))

    assert in_parts == said_of(lambda: detect(trace, **options))


@given(divided())
def test_bursts_of_parts_are_those_of_the_whole(story):
    trace, ranges = story
    shared = Shared(trace)

    parts = [
        part
        for chosen in ranges
        for part in burst_parts(
            of_locations(trace, chosen), shared=shared, locations=chosen, whole=trace
        )
        if part.num_rows
    ]

    expected = [row for part in burst_parts(trace) for row in part.to_pylist()]
    assert [row for part in parts for row in part.to_pylist()] == expected
    assert sum(PartSums.of(part, 2).bursts for part in parts) == trace.rows("bursts")
