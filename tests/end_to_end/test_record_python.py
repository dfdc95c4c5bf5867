"""A program in Python is recorded with its own functions, files and lines."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from experiments.python.stacks import same_stacks, stacks_of

from recording import for_mpi4py

PROGRAMS = Path(__file__).parents[1] / "record" / "python"


LATER = """
#include <mpi.h>
#include <string.h>
/* What the recorder looks for in an interpreter, as a later one has it. */
#define TEXT(number) #number
#define VERSION(minor) "3." TEXT(minor) ".0 (main, Oct  7 2025)"
const unsigned long Py_Version = 0x030000f0 | MINOR << 16;
unsigned long _PyRuntime[100];
const char *Py_GetVersion(void) { return VERSION(MINOR); }
void *PyGILState_GetThisThreadState(void) { return _PyRuntime; }
int main(int argc, char **argv) {
    memcpy(_PyRuntime, "xdebugpy", 8);
    _PyRuntime[1] = Py_Version;
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
"""


@pytest.fixture
def site(site):
    """A folder in which mpi4py loads the MPI of the launcher."""
    app = site.build("#include <mpi.h>\nint main(void) { MPI_Init(0, 0); }", name="none")
    site.settings |= for_mpi4py(app, site.folder)
    return site


def test_frames_are_those_that_python_gives_at_every_call(site):
    words = [sys.executable, "-W", "ignore", PROGRAMS / "frames.py", "stacks", "2"]
    options = ["--sample=1000", "--stack-depth=24", "-o", "app.store", "--quiet"]
    code, _, said = site.record(*options, "--", *site.ranks(2), *map(str, words))
    assert code == 0, said
    trace = site.trace("app.store")

    for rank in range(2):
        assert same_stacks(trace, rank, site.folder / f"stacks.{rank}")
    assert "no source lines" not in said


def test_functions_of_c_stand_where_python_called_them(site):
    site.compile("mpicc", PROGRAMS / "native.c", "-O0", "-shared", "-fPIC", name="native.so")
    words = [*site.ranks(1), sys.executable, str(PROGRAMS / "native.py")]

    (barriers,) = stacks_of(site.recorded("app.store", "--", *words), 0)

    names = [[function for function, *_ in path] for path in barriers]
    called_back = ["inner", "call_back", "outer", "<module>"]
    assert names == [called_back, called_back, ["meet", "outer", "<module>"]]
    assert [path[1] for path in barriers[:2]] == [
        ("call_back", "native.c", 7),
        ("call_back", "native.c", 8),
    ]


@pytest.mark.parametrize(
    ("site", "where"),
    [("mpich", "python"), ("open_mpi", "numpy"), ("mpich", "thread")],
    indirect=["site"],
)
def test_the_function_that_makes_others_wait_is_named(site, where):
    source = (PROGRAMS / "imbalance.py").read_text().splitlines()
    lines = [str(k) for k, text in enumerate(source, 1) if f"# {where}" in text]
    place = rf"relax_in_{where} at imbalance.py:({'|'.join(lines)}) takes longer there"
    words = [sys.executable, str(PROGRAMS / "imbalance.py"), where]

    def verdict():
        site.recorded("app.prv", "--force", "--", *site.ranks(2), *words)
        printed = site.printed_by("waits", "app.prv")
        return " ".join(printed.partition("What the time goes to")[0].split())

    # a rank that others keep from its processor is told of as such
    assert any(re.search(f"Rank 1 causes .*{place}", verdict()) for _ in range(4))


@pytest.mark.parametrize("minor", [14, 255])
def test_an_interpreter_that_cannot_be_read_is_told_once(site, minor):
    site.build(LATER, "-rdynamic", f"-DMINOR={minor}")

    code, _, said = site.record("-o", "app.store", "--", *site.ranks(2), "./app")

    assert code == 0, said
    assert said.count(f"Python is CPython 3.{minor}.0, whose frames cannot be read") == 1
    calls = site.trace("app.store").calls["operation"].to_pylist()
    assert calls.count("MPI_Barrier") == 2
