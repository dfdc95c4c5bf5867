"""The same place is one path: whatever thread comes there, and however it was recorded."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from burstline import Trace
from burstline.identity import call_tree, clean_paths
from burstline.identity.call_paths import Paths
from burstline.model import CALL_PATHS
from burstline.summary import summarise
from burstline.testing import trace_of as told
from by_hand import calls_of, threads, trace_of
from golden.test_waits_oracle import FILES
from oracles.call_tree import frames_above, paths_of, whole, without_depth
from random_traces import traces


def paths(tree, *, lines=False):
    """Give the path of each node below the program: its names, with lines if wanted."""
    found = []
    for row in tree.nodes.to_pylist():
        step = (row["function"], row["begin_line"]) if lines else row["function"]
        found.append(() if row["parent"] is None else (*found[row["parent"]], step))
    return found


def without_stacks(trace):
    """Give a trace whose calls and regions have no stacks."""
    tables = {name: trace.table(name) for name in ("locations", "teams", "region_defs")}
    for name in ("calls", "regions"):
        table = trace.table(name)
        column = table.schema.get_field_index("call_path")
        nothing = pa.nulls(table.num_rows, pa.int32())
        tables[name] = table.set_column(column, "call_path", nothing)
    return Trace(tables)


@given(traces())
def test_parents_come_before_children_and_each_node_stands_once(trace):
    tree = call_tree(trace)

    assert tree.nodes.schema == CALL_PATHS
    rows = tree.nodes.to_pylist()
    assert [row["call_path"] for row in rows] == list(range(len(rows)))
    assert rows[0]["parent"] is None
    chain = [0]
    for row in rows[1:]:  # preorder: the parent is the node before, or above that
        assert row["parent"] in chain
        chain = [*chain[: chain.index(row["parent"]) + 1], row["call_path"]]
    assert len({tuple(row.values())[1:] for row in rows}) == len(rows)


@given(traces())
def test_the_last_node_is_the_operation_and_a_call_is_below_the_regions_around_it(trace):
    tree = call_tree(trace)

    names, operations = paths(tree), trace.calls["operation"].to_pylist()
    for node, operation in zip(tree.call_node.tolist(), operations, strict=True):
        assert names[node][-1] == operation
    twin, _ = paths_of(without_stacks(trace))
    for node, (*above, _) in zip(tree.call_node.tolist(), twin, strict=True):
        assert set(above) <= set(names[node])


def assert_as_the_twin(trace):
    tree = call_tree(trace)
    names = paths(tree)
    calls, regions = paths_of(trace)
    assert [names[node] for node in tree.call_node.tolist()] == calls
    assert [names[node] for node in tree.region_node.tolist()] == regions


@given(traces(most_steps=25))
def test_regions_nest_as_their_twin_finds_by_looking_through_all(trace):
    assert_as_the_twin(without_stacks(trace))


def test_hybrid_programs_of_the_oracle_nest_as_their_twin_finds():
    for file in FILES:
        if file.stem.startswith(("hyb", "omp")) or "omp" in file.stem:
            assert_as_the_twin(told(file.read_text()))


@st.composite
def whole_stacks(draw):
    """Draw stacks of a program: main calls functions, at some lines, and these call others."""
    deepest = draw(st.integers(1, 6))
    stacks = st.lists(
        st.tuples(st.sampled_from("abcdefgh"), st.integers(1, 2)), max_size=deepest
    )
    return [
        (("main", draw(st.integers(1, 2))), *without_recursion(stack))
        for stack in draw(st.lists(stacks, min_size=1, max_size=8))
    ]


def without_recursion(stack):
    return [
        frame
        for place, frame in enumerate(stack)
        if place + 1 == len(stack) or stack[place + 1][0] != frame[0]
    ]


def traced(stacks):
    """Make a trace of one call from each stack."""
    rows, calls = [], calls_of([("Barrier", 0, 1)] * len(stacks))
    for number, (call, stack) in enumerate(zip(calls, stacks, strict=True)):
        for depth, (function, line) in enumerate(stack):
            parent = len(rows) - 1 if depth else None
            row = {"call_path": len(rows), "parent": parent, "function": function}
            rows.append(row | {"file": "a.c", "line": line})
        call |= {"call_path": len(rows) - 1, "enter_seq": number, "leave_seq": number}
    return trace_of(locations=threads((0, 9)), calls=calls, call_paths=rows)


@given(whole_stacks(), st.integers(1, 4))
def test_a_cut_stack_is_where_the_only_path_that_ends_like_it_is(stacks, most):
    stacks = [stack for stack in stacks if len(stack) <= most] + [
        stack[-most:] for stack in stacks if len(stack) > most
    ]

    tree = call_tree(traced(stacks))

    known = {stack for stack in stacks if stack[0][0] == "main"}
    left = {stack: stack for stack in stacks if stack not in known}
    while True:
        found = {stack: whole(stack, known) for stack in left}
        if not any(path for path, _ in found.values()):
            break
        left = {stack: stack for stack in left if not found[stack][0]}
        known_as = {stack: path for stack, (path, _) in found.items() if path}
        stacks = [known_as.get(stack, stack) for stack in stacks]
        known |= set(known_as.values())
    names = paths(tree, lines=True)
    assert [names[node][:-1] for node in tree.call_node.tolist()] == stacks
    assert tree.ambiguous == sum(stack in left and found[stack][1] for stack in stacks)


@st.composite
def stacks(draw):
    """Traces with rows of `call_paths` alone: of few functions, so that they recur."""
    places = st.tuples(
        st.sampled_from(["f", "g", "h"]), st.sampled_from("ab"), st.integers(1, 2)
    )
    rows = []
    for number in range(draw(st.integers(0, 12))):
        function, file, line = draw(places)
        parent = draw(st.one_of(st.none(), st.integers(0, number - 1))) if number else None
        row = {"call_path": number, "parent": parent, "function": function}
        rows.append(row | {"file": file, "line": line})
    return trace_of(call_paths=rows)


@given(stacks())
def test_paths_and_their_depth_are_those_of_a_walk_through_all_callers(trace):
    frames = frames_above(trace.call_paths)

    number, paths = clean_paths(trace)
    summary = summarise(trace)

    assert [[*map(_facts, paths[k])] for k in number[:-1]] == [
        without_depth(each) for each in frames
    ]
    assert len({*paths}) == len(paths)
    assert summary.call_paths == len(frames)
    assert summary.call_path_depth == max(map(len, frames), default=0)


@given(stacks(), stacks())
def test_paths_of_two_traces_have_one_number_where_they_are_equal(one, other):
    merged = Paths()

    for trace in (one, other):
        _, paths = clean_paths(trace)
        assert [merged[number] for number in merged.merged(paths)] == [*paths]
    assert len({*merged}) == len(merged)


def _facts(frame):
    return frame.function, frame.file, frame.line
