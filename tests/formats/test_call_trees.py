"""A place is one path of the call tree, from whatever source it was read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import burstline
import by_hand
from burstline.identity import call_tree
from burstline.testing import trace_of
from simulator import simulate
from stories import FORMATS, STORIES

RECORDINGS = Path(__file__).parents[1] / "recordings"
NOT_CARRIED = {
    ("openmp", "prv"): "teams, and whose construct a region is",
    ("openmp", "prv.gz"): "the same",
    ("openmp", "raw"): "the same, as the files of Python tell it",
    ("loop", "otf2"): "stacks",
    ("loop", "raw"): "stacks, as the files of Python tell it",
    ("samples", "otf2"): "stacks of calls",
    ("samples", "raw"): "stacks, as the files of Python tell it",
}


def paths(tree):
    """Give the path of each node below the program: names and lines."""
    found = []
    for row in tree.nodes.to_pylist():
        step = (row["function"], row["begin_line"], row["role"])
        found.append(() if row["parent"] is None else (*found[row["parent"]], step))
    return found


def names(tree):
    return ["/".join(step[0] for step in path) for path in paths(tree)]


def tree_of(text):
    return call_tree(trace_of(text))


def of_calls(tree):
    return [names(tree)[node] for node in tree.call_node]


def calls_and_regions(trace):
    tree = call_tree(trace)
    where = paths(tree)
    return (
        [where[node] for node in tree.call_node.tolist()],
        [where[node] for node in tree.region_node.tolist()],
        where,
    )


@pytest.mark.parametrize(
    ("story", "form"),
    [
        pytest.param(story, form, id=f"{story.name}-{form}")
        for story in STORIES
        for form in FORMATS
        if (story.name, form) not in NOT_CARRIED
    ],
)
def test_a_story_has_one_tree_in_every_format(story, form, tmp_path):
    trace = story.read(tmp_path, form)

    assert calls_and_regions(trace) == calls_and_regions(story.trace)


@pytest.mark.parametrize("form", ["prv", "store"])  # others carry no stacks
def test_a_simulated_program_has_one_tree_in_every_format(form, tmp_path):
    for seed in (3, 4):
        story = simulate(seed).story
        operations = calls_and_regions(story.read(tmp_path, form))[0]
        assert Counter(operations) == Counter(calls_and_regions(story.trace)[0])


def test_without_functions_and_stacks_the_program_is_above_each_operation():
    tree = call_tree(STORIES[0].trace)

    assert names(tree) == ["", "MPI_Init", "MPI_Send", "MPI_Recv", "MPI_Finalize"]
    assert tree.nodes["function"][0].as_py() == "program"
    assert tree.nodes["role"].to_pylist() == [
        "artificial", "function", "point2point", "point2point", "function"
    ]  # fmt: skip


WORKER = """
ranks 1 threads 2
path 0 _start
path 1 __libc_start_main_impl under 0 file libc-start.c line 360
path 2 main under 1 file a.c line 20
path 3 GOMP_parallel under 2
path 4 main._omp_fn.0 under 3 file a.c line 22
path 5 clone3
path 6 start_thread under 5
path 7 gomp_thread_start under 6
path 8 main._omp_fn.0 under 7 file a.c line 22
path 9 main._omp_fn.0 under 7 file a.c line 24
path 10 main._omp_fn.1 under 7 file a.c line 31
0 | 0 enter MPI_Barrier path 2 | 1 leave | 2 enter MPI_Send path 4 | 3 leave
0.1 | 2 enter MPI_Send path 8 | 3 leave | 4 enter MPI_Recv path 9 | 5 leave
    | 6 enter MPI_Recv path 10 | 7 leave
"""


def test_stacks_of_workers_are_below_the_only_fork_of_their_construct():
    tree = tree_of(WORKER)

    inside = "main/!$omp parallel @a.c:20"
    assert of_calls(tree) == [
        "main/MPI_Barrier",
        f"{inside}/MPI_Send",
        f"{inside}/MPI_Send",
        f"{inside}/MPI_Recv",
        "!$omp parallel @a.c/MPI_Recv",  # nobody recorded from where
    ]
    assert tree.ambiguous == 0


def test_functions_in_the_body_of_a_construct_that_stand_for_it_are_one():
    tree = tree_of("""
ranks 1
path 0 main file a.c line 20
path 1 __kmpc_fork_call under 0
path 2 .omp_outlined. under 1 file a.c line 20
path 3 .omp_outlined._debug__ under 2 file a.c line 22
path 4 work under 3 file a.c line 5
path 5 __kmp_fork_call under 4
path 6 .omp_outlined..1 under 5 file a.c line 7
0 | 0 enter MPI_Send path 3 | 1 leave | 2 enter MPI_Send path 4 | 3 leave
  | 4 enter MPI_Send path 6 | 5 leave
""")

    inside = "main/!$omp parallel @a.c:20"
    assert of_calls(tree) == [
        f"{inside}/MPI_Send",
        f"{inside}/work/MPI_Send",
        f"{inside}/work/!$omp parallel @a.c:5/MPI_Send",
    ]


CUT = """
ranks 1
path 0 main file a.c line 3
path 1 f under 0 file a.c line 9
path 2 g under 1 file a.c line 12
path 3 f file a.c line 9
path 4 g under 3 file a.c line 12
path 5 h under 4 file a.c line 15
path 6 g file a.c line 13
path 7 main file a.c line 4
path 8 k under 7 file a.c line 30
path 9 main file a.c line 5
path 10 k under 9 file a.c line 30
path 11 k file a.c line 30
path 12 main file a.c line 8
path 13 f under 12 file a.c line 10
0 | 0 enter MPI_Barrier path 2 | 1 leave | 2 enter MPI_Barrier path 5 | 3 leave
  | 4 enter MPI_Barrier path 6 | 5 leave | 6 enter MPI_Barrier path 8 | 7 leave
  | 8 enter MPI_Barrier path 10 | 9 leave | 10 enter MPI_Barrier path 11 | 11 leave
  | 12 enter MPI_Barrier path 13 | 13 leave
"""


def test_cut_stacks_join_the_path_that_ends_like_them_or_are_counted():
    tree = call_tree(trace_of(CUT))

    assert [
        [step[:2] for step in paths(tree)[node][:-1]] for node in tree.call_node.tolist()
    ] == [
        [("main", 3), ("f", 9), ("g", 12)],
        [("main", 3), ("f", 9), ("g", 12), ("h", 15)],
        [("main", 3), ("f", 9), ("g", 13)],
        [("main", 4), ("k", 30)],
        [("main", 5), ("k", 30)],
        [("k", 30)],  # below either
        [("main", 8), ("f", 10)],
    ]
    assert tree.ambiguous == 1


def test_frames_that_regions_do_not_tell_are_below_them():
    tree = tree_of("""
ranks 1
path 0 main file a.c line 3
path 1 solve under 0 file a.c line 7
path 2 dot under 1 file b.c line 2
0 | 0 enter main | 1 enter solve | 2 enter MPI_Allreduce path 2 | 3 leave | 4 leave
  | 5 enter MPI_Barrier path 0 | 6 leave | 7 leave
""")

    assert of_calls(tree) == ["main/solve/dot/MPI_Allreduce", "main/MPI_Barrier"]


def test_a_region_in_a_call_is_below_it():
    tree = tree_of(
        "ranks 1 | 0 | 0 enter main | 1 enter MPI_Init | 2 enter setup | 3 enter read "
        "| 4 leave | 5 leave | 6 leave | 7 leave"
    )

    assert names(tree)[1:] == [
        "main", "main/MPI_Init", "main/MPI_Init/setup", "main/MPI_Init/setup/read"
    ]  # fmt: skip


def test_threads_of_a_recorded_team_share_their_paths():
    trace = burstline.read(RECORDINGS / "hybrid")

    tree = call_tree(trace)

    roles = np.array(trace.region_defs["role"].to_pylist())[
        trace.arrays("regions", "region")[0]
    ]
    (location,) = trace.arrays("regions", "location")
    loops = [
        set(tree.region_node[(roles == "loop") & (location == thread)].tolist())
        for thread in range(4)
    ]
    assert loops[0]
    assert loops == [loops[0]] * 4
    for path in names(tree):
        assert not any(
            word in path for word in ("libomp", "libc.so", "clone", "team", "+0x2231")
        )
    rows = tree.nodes.to_pylist()
    (parallel,) = (row for row in rows if row["role"] == "parallel")
    visits = np.bincount(tree.region_node[tree.region_enters])
    assert visits[parallel["call_path"]] == 4  # two threads of two ranks, one region each


@pytest.mark.parametrize(
    ("archive", "report"),
    [
        ("scorep_toy4", "profile.cubex"),
        ("scorep_toy4", "scout.cubex"),
        ("scorep_hybrid_2x3", "profile.cubex"),
    ],
)
def test_paths_and_visits_of_an_archive_are_those_of_its_profile(real_traces, archive, report):
    pytest.importorskip("pycubexr")
    trace = burstline.read(real_traces / "otf2" / archive)
    profile = burstline.read_profile(
        real_traces / "otf2" / archive / report, metrics=["visits"]
    )

    tree = call_tree(trace)

    user = {"compiler": "user"}
    assert [
        row | {"paradigm": user.get(row["paradigm"], row["paradigm"])}
        for row in profile.call_paths.to_pylist()
    ] == tree.nodes.to_pylist()
    visits = np.zeros(profile.exclusive("visits").shape, np.int64)
    np.add.at(visits, (tree.call_node, trace.arrays("calls", "location")[0]), 1)
    entered, (location,) = tree.region_enters, trace.arrays("regions", "location")
    np.add.at(visits, (tree.region_node[entered], location[entered]), 1)
    assert (visits[1:] == profile.exclusive("visits")[1:]).all()  # the program is no region


def test_workers_of_a_trace_of_extrae_share_the_constructs_of_their_master(real_traces):
    trace = burstline.read(real_traces / "lulesh_omp_8r2t_s4_i5.prv.gz")

    tree = call_tree(trace)

    constructs = [row for row in tree.nodes.to_pylist() if row["role"] == "parallel"]
    assert len(constructs) == 30  # outlined functions
    assert all(row["function"].startswith("!$omp parallel @lulesh.cc:") for row in constructs)
    (location,) = trace.arrays("regions", "location")
    used = [set(tree.region_node[location == thread].tolist()) for thread in range(16)]
    assert used == [used[0]] * 16


def test_stacks_of_a_deep_program_have_one_root(real_traces):
    trace = burstline.read(real_traces / "tealeaf_cg64_4r.prv.gz")

    tree = call_tree(trace)

    below = {row["function"] for row in tree.nodes.to_pylist() if row["parent"] == 0}
    assert below == {"main", "MPI_Init"}
    assert tree.ambiguous == 0


def test_a_region_around_the_fork_is_the_construct_of_a_team_that_has_none():
    tree = tree_of("""
ranks 1 threads 2
region "!$omp parallel @a.c:4" paradigm openmp role parallel
0 | 0 enter main | 1 enter "!$omp parallel @a.c:4" | 2 fork 2 | 3 team begin 1 | 4 enter work
  | 5 leave | 6 team end 1 | 7 join | 8 leave | 9 leave
0.1 | 3 team begin 1 | 4 enter work | 5 leave | 6 team end 1
""")

    inside = "main/!$omp parallel @a.c:4"
    assert names(tree)[1:] == ["main", inside, f"{inside}/work"]
    assert [names(tree)[node] for node in tree.region_node] == [
        "main", inside, inside, f"{inside}/work", inside, f"{inside}/work"
    ]  # fmt: skip
    assert tree.region_enters.tolist() == [True, True, False, True, True, True]


NESTED = """
ranks 1 threads 3
0 | 0 fork 2 | 1 team begin 1 | 9 team end 1 | 10 join
0.1 | 1 team begin 1 | 2 enter work | 3 fork 2 | 4 team begin 2 | 5 enter MPI_Send | 6 leave
    | 7 team end 2 | 8 join | 8 leave | 9 team end 1
0.2 | 4 team begin 2 | 5 enter more | 6 leave | 7 team end 2
"""


def test_a_team_of_a_worker_is_below_the_worker():
    tree = call_tree(trace_of(NESTED))

    inner = "!$omp parallel/work/!$omp parallel"
    assert names(tree)[1:] == [
        "!$omp parallel", "!$omp parallel/work", inner, f"{inner}/MPI_Send", f"{inner}/more"
    ]  # fmt: skip


def test_a_team_that_is_forked_inside_itself_is_below_the_program():
    trace = trace_of(NESTED)
    teams = trace.teams.to_pylist()
    teams[0] |= {"fork_location": 2, "fork_seq": 2}  # in a region of team 1, forked in team 0
    tables = {name: trace.table(name) for name in ("locations", "calls", "regions")}
    tables |= {"region_defs": trace.region_defs}
    tables["teams"] = pa.Table.from_pylist(teams, schema=trace.teams.schema)

    tree = call_tree(burstline.Trace(tables))

    assert {row["parent"] for row in tree.nodes.to_pylist()} == {None, 0}


LOOP = """
ranks 1
region "loop a.c:8" role loop
{path}
0 | 0 enter main | 1 enter "loop a.c:8" | 2 enter MPI_Barrier{on} | 3 leave | 4 leave | 5 leave
"""


def test_loops_of_the_user_are_nodes_where_no_stack_tells_lines():
    alone = call_tree(trace_of(LOOP.format(path="", on="")))
    stacked = call_tree(trace_of(LOOP.format(path="path 0 main file a.c line 9", on=" path 0")))

    assert names(alone)[1:] == ["main", "main/loop a.c:8", "main/loop a.c:8/MPI_Barrier"]
    assert names(stacked)[1:] == ["main", "main/MPI_Barrier"]
    assert stacked.region_enters.tolist() == [True, False]


def test_frames_of_interpreters_and_of_the_depth_of_recursion_are_no_places():
    tree = tree_of("""
ranks 1
path 0 _start
path 1 Py_BytesMain under 0
path 2 _PyEval_EvalFrameDefault under 1
path 3 solve under 2 file a.py line 3
path 4 solve under 3 file a.py line 3
path 5 PyObject_Vectorcall under 4
path 6 dot under 5 file b.c line 2
0 | 0 enter MPI_Allreduce path 6 | 1 leave
""")

    assert names(tree)[1:] == ["solve", "solve/dot", "solve/dot/MPI_Allreduce"]


def test_a_program_has_the_name_that_it_said():
    text = 'ranks 1 | 0 | 0 tell program_begin name "/a/b/run.x" | 1 enter MPI_Init | 2 leave'

    assert call_tree(trace_of(text)).nodes["function"][0].as_py() == "run.x"


@pytest.mark.parametrize(
    ("body", "name"), [("team", "!$omp parallel"), ("outlined", "!$omp parallel @a.c:5")]
)
def test_a_construct_that_is_entered_as_it_is_forked_is_below_what_is_around(body, name):
    roles = ("function", "parallel", body, "loop")
    spans = [(0, 0, 9, 0, None), (0, 1, 8, 1, 0), (0, 2, 7, 2, 1), (0, 3, 4, 3, 2)]
    spans += [(1, 2, 7, 2, None), (1, 3, 4, 3, 0)]
    trace = by_hand.trace_of(
        locations=[{"location": thread, "thread": thread} for thread in range(2)],
        regions=[
            {"location": location, "row": enter - 2 * location, "region": region}
            | {"enter_seq": enter, "leave_seq": leave, "parent": parent}
            | {"team": 0 if region else None}
            for location, enter, leave, region, parent in spans
        ],
        region_defs=[
            {"region": row, "name": role, "role": role, "paradigm": "openmp" if row else "user"}
            | ({"file": "a.c", "begin_line": 5} if role == "outlined" else {})
            for row, role in enumerate(roles)
        ],
        teams=[{"fork_seq": 1, "join_seq": 8, "threads": 2}],
    )

    tree = call_tree(trace)

    inside = f"function/{name}"
    assert names(tree)[1:] == ["function", inside, f"{inside}/!$omp for"]
    assert tree.region_node.tolist() == [1, 2, 2, 3, 2, 3]
    assert tree.region_enters.tolist() == [True, True, False, True, True, True]


def test_a_barrier_at_the_end_of_a_construct_is_where_that_is_if_nothing_else_tells():
    tree = tree_of("""
ranks 1
region parallel paradigm openmp role parallel
region implicit_barrier paradigm openmp role implicit_barrier
path 0 main file a.c line 7
0 | 0 fork 1 | 1 team begin 1 | 2 enter parallel path 0 | 3 enter implicit_barrier path 0
  | 4 leave
  | 5 enter implicit_barrier | 6 leave | 7 leave | 8 team end 1 | 9 join
""")

    inside = "main/!$omp parallel @a.c:7"
    assert names(tree)[1:] == ["main", inside, f"{inside}/!$omp implicit barrier @a.c:7"]


def test_constructs_among_the_frames_of_a_stack_are_not_told_twice():
    tree = call_tree(
        trace_of("""
ranks 1
region parallel paradigm openmp role parallel
region loop paradigm openmp role loop
path 0 main
path 1 parallel under 0
path 2 loop under 1
0 | 0 enter main path 0 | 1 fork 1 | 2 team begin 1 path 0 | 3 enter parallel path 1
  | 4 enter loop path 2 | 5 enter MPI_Send path 2 | 6 leave | 7 leave | 8 leave | 9 team end 1
  | 10 join | 11 leave
""")
    )

    inside = "main/!$omp parallel"
    assert names(tree)[1:] == [
        "main", inside, f"{inside}/!$omp for", f"{inside}/!$omp for/MPI_Send"
    ]  # fmt: skip


def test_a_cut_stack_that_is_deeper_than_what_is_compared_is_joined_whole():
    deep = [f"path {row} f{row} under {row - 1} file a.c line 1" for row in range(3, 40)]
    head = ["path 0 main file a.c line 1", "path 1 f2 under 0 file a.c line 1"]
    lines = [*head, "path 2 f2 file a.c line 1", *deep]
    events = "0 | 0 enter MPI_Send path 1 | 1 leave | 2 enter MPI_Send path 39 | 3 leave"

    tree = call_tree(trace_of("\n".join(["ranks 1", *lines, events])))

    functions = ["main", *(f"f{row}" for row in range(2, 40)), "MPI_Send"]
    assert names(tree)[tree.call_node[1]] == "/".join(functions)
