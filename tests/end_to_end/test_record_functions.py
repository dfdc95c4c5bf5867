"""Functions compiled to report themselves, as ``burstline record`` shows them."""

from __future__ import annotations

import json
from collections import Counter

import pytest

import burstline
from recording import Site, environment

LIBRARY = """
#define HIDDEN __attribute__((noinline)) static
HIDDEN int helper(int k) { return k + 1; }
int in_library(int k) { return helper(k); }
"""
PROGRAM = r"""
#include <mpi.h>
#include <setjmp.h>
#include <unistd.h>
int in_library(int k);
static volatile int sink;
static jmp_buf place;
static int tiny(int k) { return k * 3 + 1; }
static int deep(int n) { return n == 0 ? 1 : deep(n - 1) + 1; }
static void thrown(int n) { if (n == 0) longjmp(place, 1); thrown(n - 1); }
static void caught(void) { if (!setjmp(place)) thrown(2); }
static int x;
static void tell(void) { MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD); usleep(2000); }
static void step(void) {
    for (int i = 0; i < 2000; ++i) sink += tiny(i);
    sink += deep(5) + in_library(1);
    caught();
    tell();
}
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 3; ++i) step();
    MPI_Finalize();
    return 0;
}
"""
FORTRAN = """
module solver
contains
  subroutine relax(x)
    real, intent(inout) :: x
    x = x * 0.5
  end subroutine
end module
subroutine outer(x)
  use solver
  real :: x
  call relax(x)
end subroutine
program fort
  include 'mpif.h'
  integer :: error, k
  real :: x
  x = 1
  call MPI_Init(error)
  do k = 1, 4
    call outer(x)
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end do
  call MPI_Finalize(error)
end program
"""
STEPS, RANKS = 3, 2
CALLS = {
    "main": 1, "step": STEPS, "tiny": 2000 * STEPS, "deep": 6 * STEPS, "in_library": STEPS,
    "helper": STEPS, "caught": STEPS, "thrown": 3 * STEPS, "tell": STEPS,
}  # fmt: skip


def lines(trace):
    """Name every region, below those around it."""
    defined = trace.region_defs.to_pylist()
    rows = trace.table("regions").to_pylist()
    first, paths = {}, []
    for number, row in enumerate(rows):
        start = first.setdefault(row["location"], number)
        above = () if row["parent"] is None else paths[start + row["parent"]]
        paths.append((*above, defined[row["region"]]["name"]))
    return Counter("/".join(path) for path in paths)


@pytest.fixture(scope="module")
def site(open_mpi, built_once, tmp_path_factory):
    """Folder with the program as ``app``, whose library has no names but for the linker."""
    site = Site(open_mpi, tmp_path_factory.mktemp("functions"), environment(built_once))
    (site.folder / "lib.c").write_text(LIBRARY)
    words = ["-finstrument-functions", "-O1", "-fPIC", "-shared", "lib.c"]
    site.compile("mpicc", *words, name="libown.so")
    site.build(PROGRAM, "-finstrument-functions", "-O1", "libown.so", "-Wl,-rpath,$ORIGIN")
    return site


@pytest.fixture(scope="module")
def recorded(site):
    """What was printed, and the folder with ``raw`` and ``app.prv``."""
    words = ["--keep-raw", "raw", "--format", "json", "--", *site.ranks(RANKS), "./app"]
    code, printed, said = site.record(*words)
    assert code == 0, said
    return site, json.loads(printed), said


def test_each_call_of_a_function_is_a_region_inside_those_that_call_it(recorded):
    site, document, _ = recorded

    trace = site.trace()

    below = lines(trace)
    names = Counter()
    for path, count in below.items():
        names[path.rpartition("/")[2]] += count
    assert names == {name: RANKS * count for name, count in CALLS.items()}
    assert below["main/step/in_library/helper"] == RANKS * STEPS
    assert below["main/step/deep/deep/deep/deep/deep/deep"] == RANKS * STEPS
    assert below["main/step/tell"] == RANKS * STEPS  # not below who was jumped out of
    # nine are jumped out of, and `main` is left when MPI_Finalize has ended the recording
    assert RANKS * (2 * sum(CALLS.values()) - 10) == document["function_events"]
    assert trace.defects.num_rows == 0


def test_functions_have_the_places_of_their_definitions(recorded):
    site, _, _ = recorded
    source = PROGRAM.splitlines()

    places = {row["name"]: row for row in site.trace().region_defs.to_pylist()}

    assert places["helper"]["file"] == "lib.c"
    for name in ("main", "deep", "tell"):
        assert places[name]["role"] == "function"
        assert places[name]["file"] == "app.c"
        assert f" {name}(" in source[places[name]["begin_line"] - 1]


def test_calls_of_mpi_are_below_the_functions_around_them(recorded):
    waits = burstline.wait_states(recorded[0].trace())

    table = waits.profile.call_paths
    (node,) = (
        row for row, name in enumerate(table["function"].to_pylist()) if name == "MPI_Bcast"
    )
    names = [step.partition("@")[0] for step in waits.path(node)]
    assert names == ["main", "step", "tell", "MPI_Bcast"]


def test_functions_whose_recording_took_long_are_named(recorded):
    _, document, said = recorded

    costly = {each["name"] for each in document["costly_functions"]}
    assert "tiny" in costly
    assert not costly & {"main", "step", "tell", "in_library"}
    assert "tiny (12,000 calls" in said
    assert 0 < document["function_event_ns"] < 5000


@pytest.mark.parametrize(
    ("patterns", "left"),
    [
        ("# small ones\n-ti*\n-deep", set(CALLS) - {"tiny", "deep"}),
        ("main\nste?\n", {"main", "step"}),
        ("-*\nmain # the last line that fits decides\n", {"main"}),
    ],
)
def test_a_file_says_which_functions_are_recorded(site, patterns, left):
    (site.folder / "filter").write_text(patterns)
    words = ["--force", "--functions", "filter"]

    trace = site.recorded("some.prv", *words, "--", *site.ranks(RANKS), "./app")

    assert set(trace.region_defs["name"].to_pylist()) == left


def test_a_file_without_a_sensible_pattern_is_refused(site):
    (site.folder / "wrong").write_text("-\n")

    for name in ("wrong", "missing"):
        code, _, said = site.record("--functions", name, "--", *site.ranks(RANKS), "./app")
        assert code == 2
        assert name in said


def test_names_of_cpp_are_those_that_are_shown(site):
    (site.folder / "names.cpp").write_text(
        """
        #include <mpi.h>
        namespace space {
        template <class T> struct Type { Type() {} T twice(T x) { return 2 * x; } };
        }
        namespace { int quiet(int k) { return k; } }
        int main(int argc, char **argv) {
            MPI_Init(&argc, &argv);
            const int seven = space::Type<int>().twice(3) + quiet(1);
            MPI_Finalize();
            return seven != 7;
        }
        """
    )
    site.compile("mpicxx", "-finstrument-functions", "names.cpp", name="names")
    (site.folder / "filter").write_text(
        "main\nspace::Type::twice\n(anonymous namespace)::quiet\n"
    )
    words = ["--force", "--functions", "filter", "--", *site.ranks(1), "./names"]

    trace = site.recorded("names.prv", *words)

    shown = set(trace.region_defs["name"].to_pylist())
    assert shown == {"main", "space::Type::twice", "(anonymous namespace)::quiet"}


@pytest.mark.usefixtures("gfortran")
def test_functions_of_fortran_are_recorded_by_their_modules(site):
    (site.folder / "fort.f90").write_text(FORTRAN)
    site.compile("mpifort", "-finstrument-functions", "fort.f90", name="fort")
    words = ["--force", "--functions", "filter", "--", *site.ranks(RANKS), "./fort"]

    for patterns, relaxed in (("-none", 4 * RANKS), ("-solver::*", 0)):
        (site.folder / "filter").write_text(patterns)
        below = Counter()
        for path, count in lines(site.recorded("fort.prv", *words)).items():
            below[path.split("/", 1)[-1]] += count
        assert below["MAIN__/outer_"] == 4 * RANKS
        assert below["MAIN__/outer_/solver::relax"] == relaxed


def test_regions_and_functions_read_the_work_counters(site, clang):
    source = PROGRAM.replace("sink += tiny(i)", "sink += i").replace("in_library(1)", "1")
    (site.folder / "counted.c").write_text(source)
    words = [clang, "-g", "-O1", "-finstrument-functions", "counted.c", "-o", "counted"]
    words += [*site.mpi_words("compile"), *site.mpi_words("link")]
    site.printed_by("cc", "--", *words)
    words = ["--force", "--counters", "cpu,IR_TOT_INS", "--", *site.ranks(1), "./counted"]
    trace = site.recorded("counted.store", *words)

    rows = {row["seq"]: row for row in trace.table("readings").to_pylist()}
    for region in trace.table("regions").to_pylist():
        reading = rows[region["enter_seq"]]
        assert reading["IR_TOT_INS"] is not None
        assert reading["cpu"] is None  # which takes longer than all else
    total = sum(row["IR_TOT_INS"] for row in rows.values())
    assert total > 2000 * STEPS
    bursts = trace.table("bursts")["IR_TOT_INS"].drop_null().to_pylist()
    assert sum(bursts) <= total
