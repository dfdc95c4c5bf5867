"""Programs with MPI and OpenMP as ``burstline record`` shows them."""

from __future__ import annotations

import subprocess
from collections import Counter, defaultdict
from pathlib import Path

import pytest

import burstline
from burstline.identity import call_tree
from command import printed_by
from recording import Site, environment, line_of

PROGRAM = Path(__file__).parents[1] / "record" / "hybrid.c"
TEAMS = PROGRAM.parents[1] / "record" / "teams.f90"
RANKS, THREADS, TURNS = 2, 3, 2
ONCE, EACH = RANKS * TURNS, RANKS * TURNS * THREADS
"""How often there is what each process, and what each of its threads, does in a turn."""
LOOPS = (101, 37, 50, 60, 2, 6)
# The runtime was asked to clean up after dynamic schedules since clang 19.
MISSING = "__attribute__((weak)) void __kmpc_dispatch_deinit(void *at, int thread) {}\n"


def folder_of(options):
    """Where the libraries are that the options for OpenMP name."""
    (folder,) = [word[2:] for word in options if word.startswith("-L")]
    return folder


def older_runtime(clang, options):
    version = clang.partition("-")[2]
    return int(version) >= 19 and f"llvm-{version}" not in folder_of(options)


def built(site, clang, options, *, counted=False):
    """Build the program with a compiler of LLVM; maybe with work counters."""
    source = site.folder / "app.c"
    source.write_text(PROGRAM.read_text() + (MISSING if older_runtime(clang, options) else ""))
    words = [clang, "-g", "-O1", *site.mpi_words("compile"), source, *options]
    words += ["-o", "app", *site.mpi_words("link")]
    if counted:
        site.printed_by("cc", "--", *words)
    else:
        subprocess.run(list(map(str, words)), check=True, cwd=site.folder)
    return "./app"


def recorded(site, program, *options):
    """Record, and give the trace as its raw files and as its Paraver file tell it."""
    words = ["--keep-raw", "raw", *options, "--", *site.ranks(RANKS), program]
    trace = site.recorded("app.prv", *words)
    return burstline.read(site.folder / "raw"), trace


def regions(trace):
    """Give every region with what it is."""
    defined = trace.region_defs.to_pylist()
    return [defined[row["region"]] | row for row in trace.table("regions").to_pylist()]


def described(trace):
    names = ("location", "role", "enter_ns", "leave_ns", "parent", "team", "barrier_ordinal")
    return [tuple(row[name] for name in names) for row in regions(trace)]


def without_ordinals(trace, table):
    rows = trace.table(table).to_pylist()
    return [{name: row[name] for name in row if not name.endswith("_seq")} for row in rows]


@pytest.fixture(scope="module")
def hybrid(open_mpi, clang, openmp, built_once, tmp_path_factory):
    """Folder with the program as ``app``, and what it did in ``raw`` and ``app.prv``."""
    site = Site(open_mpi, tmp_path_factory.mktemp("hybrid"), environment(built_once))
    recorded(site, built(site, clang, openmp(clang)))
    return site


def test_every_construct_of_each_thread_is_a_region(hybrid):
    trace = burstline.read(hybrid.folder / "raw")

    times = Counter(row["role"] for row in regions(trace))
    assert {role: times[role] for role in ("parallel", "team", "loop", "critical", "lock")} == {
        "parallel": ONCE,
        "team": EACH,
        "loop": EACH * len(LOOPS),
        "critical": EACH,
        "lock": 2 * EACH,
    }
    assert times["barrier"] == times["single"] == EACH
    assert times["task"] == 4 * ONCE
    assert times["master"] == ONCE
    assert times["ordered"] == 6 * ONCE
    assert times["taskwait"] >= ONCE
    assert trace.table("teams")["threads"].to_pylist() == [THREADS] * ONCE
    assert trace.table("locks").num_rows == 3 * EACH + 6 * ONCE
    assert not [kind for kind in trace.defects["kind"].to_pylist() if "openmp" in kind]


def test_regions_know_their_place_in_the_program(hybrid):
    trace = hybrid.recorded("one.store", "--", "./app")

    paths = trace.call_paths.to_pylist()
    critical = {
        (place["function"], place["line"])
        for row in regions(trace)
        if row["role"] == "critical"
        for place in [paths[row["call_path"]]]
    }
    assert critical == {("exclude", line_of("#pragma omp critical", PROGRAM.read_text()))}


def test_the_paraver_file_tells_the_same(hybrid):
    trace, back = burstline.read(hybrid.folder / "raw"), hybrid.trace()

    assert described(back) == described(trace)
    for table in ("teams", "locks"):
        assert without_ordinals(back, table) == without_ordinals(trace, table)


def tree_of(trace):
    """Give the path of each region by name, with how often it is there."""
    tree = call_tree(trace)
    nodes, names = tree.nodes.to_pylist(), []
    for node in nodes:
        above = () if node["parent"] in (None, 0) else names[node["parent"]]
        names.append((*above, (node["function"], node["file"], node["begin_line"])))
    return Counter(names[node] for node in tree.region_node.tolist())


def test_constructs_are_below_the_call_path_of_their_fork_on_every_thread(hybrid):
    for form in ("store", "prv"):
        words = ("--force", "-o", f"places.{form}", "--", *hybrid.ranks(RANKS), "./app")
        code, _, said = hybrid.record(*words)
        assert code == 0, said
        assert "no source lines" not in said

    found = tree_of(hybrid.trace("places.prv"))

    # how often an implicit barrier is told is the runtime's choice, and tasks are anybody's
    assert found.keys() == tree_of(hybrid.trace("places.store")).keys()
    lines = PROGRAM.read_text().splitlines()
    forks = {path[0][0] for path in found}
    assert forks == {"main"}
    for path in found:
        for name, file, line in path[1:]:
            assert file == "app.c" or name == "omp_set_lock", path
            directive = name.partition(" @")[0].removeprefix("!$omp ").split()[0]
            if directive in ("critical", "barrier", "single", "master", "taskwait"):
                assert lines[line - 1].strip().startswith(f"#pragma omp {directive}")
    assert any("!$omp critical" in path[-1][0] and path[-2][0] == "exclude" for path in found)


def test_the_trace_can_be_looked_at(hybrid):
    printed = printed_by("info", hybrid.folder / "app.prv")
    assert f"{RANKS} ranks, {RANKS * THREADS} threads" in printed
    assert "regions" in printed
    assert "MPI_Barrier" in printed_by("structure", hybrid.folder / "app.prv")


def test_a_program_for_another_runtime_is_seen_where_that_can_stand_in(
    on_open_mpi, clang, openmp
):
    program = on_open_mpi.build(PROGRAM.read_text(), "-O1", "-fopenmp")
    on_open_mpi.settings |= {"LD_LIBRARY_PATH": folder_of(openmp(clang))}

    trace, _ = recorded(on_open_mpi, program, "--openmp")

    times = Counter(row["role"] for row in regions(trace))
    assert times["parallel"] == ONCE
    assert times["team"] == times["critical"] == EACH
    assert times["barrier"] + times["implicit_barrier"] > EACH  # they are not told apart
    assert times["lock"] == 2 * EACH
    assert 0 < times["loop"] < EACH * len(LOOPS)  # static schedules are inlined


def test_it_is_said_where_a_runtime_tells_nothing_of_its_threads(on_open_mpi, clang, openmp):
    program = on_open_mpi.build(PROGRAM.read_text(), "-O1", "-fopenmp")

    code, _, said = on_open_mpi.record("--", *on_open_mpi.ranks(RANKS), program)

    assert code == 0, said
    assert "libgomp.so.1, which tells nothing of its threads" in said
    code, printed, _ = on_open_mpi.burstline("info", "app.prv")
    assert "openmp_not_recorded" in printed
    for command_name in ("structure", "flame", "table"):
        more = ["-o", "bursts.csv"] if command_name == "table" else []
        code, _, said = on_open_mpi.burstline(command_name, "app.prv", *more)
        assert code == 0, said
        assert "OpenMP is that of libgomp.so.1" in said
    on_open_mpi.settings |= {"LD_LIBRARY_PATH": folder_of(openmp(clang))}
    words = ["--openmp", "--force", "--", *on_open_mpi.ranks(RANKS), program]
    code, _, said = on_open_mpi.record(*words)
    assert code == 0, said
    assert "nothing of its threads" not in said
    assert "loops with a static schedule" in said


def test_constructs_of_gfortran_are_recorded_as_often_as_they_ran(on_open_mpi, clang, openmp):
    program = on_open_mpi.compile("mpif90", TEAMS, "-O1", "-fopenmp")
    on_open_mpi.settings |= {"LD_LIBRARY_PATH": folder_of(openmp(clang))}

    trace, _ = recorded(on_open_mpi, program, "--openmp")

    times = Counter(row["role"] for row in regions(trace))
    steps, threads = 15, 2
    assert times["parallel"] == 2 * steps * RANKS
    assert times["team"] == 2 * steps * RANKS * threads
    assert times["loop"] == times["critical"] == times["single"] == steps * RANKS * threads


def counted_iterations(trace):
    """Give, per loop of each team, what its threads counted and what the runtime told."""
    readings = defaultdict(list)
    for row in trace.table("readings").to_pylist():
        readings[row["location"]].append((row["seq"], row["IR_LOOP_ITER"]))
    passed, loops = Counter(), defaultdict(list)
    for row in regions(trace):
        if row["role"] != "loop":
            continue
        thread = row["location"], row["team"]
        counted = sum(
            value
            for seq, value in readings[row["location"]]
            if row["enter_seq"] < seq <= row["leave_seq"]
        )
        loops[row["team"], passed[thread]].append((counted, row["iterations"]))
        passed[thread] += 1
    return loops


def test_iterations_that_the_program_counts_are_those_that_the_runtime_tells(
    on_open_mpi, clang, openmp
):
    program = built(on_open_mpi, clang, openmp(clang), counted=True)

    trace, _ = recorded(on_open_mpi, program, "--counters", "work")

    loops = counted_iterations(trace)
    assert len(loops) == RANKS * TURNS * len(LOOPS)
    for (_, number), threads in loops.items():
        assert sum(counted for counted, _ in threads) == LOOPS[number]
        # runtimes before 16 tell of no chunks
        assert all(told in (counted, None) for counted, told in threads)
    told = [told for threads in loops.values() for _, told in threads]
    assert None in told or sum(told) == RANKS * TURNS * sum(LOOPS)
