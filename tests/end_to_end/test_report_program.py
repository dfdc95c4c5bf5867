"""One command from a program to its page: it is run, recorded, and told of."""

from __future__ import annotations

import json
import signal

import pytest

from command import burstline as run
from recording import wait_until

PROGRAM = """
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int rank, size, left, turns = argc > 1 ? atoi(argv[1]) : 5;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int turn = 0; turn < turns; turn++, usleep(1000))
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 7, &left, 1, MPI_INT,
                     (rank + size - 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 2) exit(atoi(argv[2]));
    MPI_Finalize();
    return 0;
}
"""
FOREVER = "60000"
SILENT = "int main(void) { return 4; }\n"


@pytest.fixture
def site(on_open_mpi):
    on_open_mpi.build(PROGRAM)
    return on_open_mpi


def test_a_program_becomes_a_page_with_its_trace_beside(site):
    (site.folder / "out").mkdir()
    words = [*site.ranks(2), "./app"]

    code, printed, said = site.burstline("report", "-o", "out/page.html", "--", *words)

    assert code == 0, said
    assert "out/app.prv: 2 ranks, " in said
    assert "out/page.html: open it in a browser" in said
    assert printed.split()[0] == "Verdict"
    page = (site.folder / "out" / "page.html").read_text()
    assert "MPI_Sendrecv" in page
    assert "burstline report -o out/page.html -- " in page
    operations = site.trace("out/app.prv").calls["operation"].to_pylist()
    assert operations.count("MPI_Sendrecv") == 2 * 5


def test_a_page_is_named_after_the_program(site):
    site.printed_by("report", "--", *site.ranks(1), "./app")

    assert {path.name for path in site.folder.glob("app.*")} == {
        *("app.c", "app.html", "app.pcf", "app.prv", "app.row")
    }


def test_options_of_recording_hold_and_data_are_all_that_is_printed(site):
    options = ["--calls", "MPI_Barrier", "--counters", "none", "--format", "json"]

    printed = site.printed_by("report", *options, "--", *site.ranks(2), "./app")

    sections = json.loads(printed)["sections"]
    assert sections["messages"]["calls"]["MPI_Barrier"]["count"] == 2
    assert "MPI_Sendrecv" not in sections["messages"]["calls"]
    assert not (site.folder / "app.html").exists()
    assert (site.folder / "app.prv").exists()


def test_a_program_that_fails_has_its_code_and_a_page_of_what_it_did(site):
    code, _, said = site.burstline("report", "--", *site.ranks(2), "./app", "5", "3")

    assert code == 3
    assert "the program ended with code 3; the trace ends there" in said
    page = (site.folder / "app.html").read_text()
    assert "The program ended with code 3; the trace ends there." in page
    assert "MPI_Sendrecv" in page


def test_a_program_of_which_nothing_is_recorded_has_its_code_and_no_page(site):
    program = site.build(SILENT, "-Wl,--no-as-needed", name="silent")

    code, printed, said = site.burstline("report", "--", program)

    assert code == 4
    assert "the program ended with code 4" in said
    assert printed == ""
    assert not [path for path in site.folder.iterdir() if path.name.startswith("silent.h")]


def test_a_page_that_exists_is_refused_before_the_program_runs(site):
    (site.folder / "app.html").write_text("mine")

    code, _, said = site.burstline("report", "--", *site.ranks(1), "./app")

    assert code == 2
    assert "--force" in said
    assert (site.folder / "app.html").read_text() == "mine"
    assert not (site.folder / "app.prv").exists()
    site.printed_by("report", "--force", "--", *site.ranks(1), "./app")


def test_an_interrupted_program_has_a_page_of_what_it_did(site):
    words = ["--", *site.ranks(2), "./app", FOREVER]
    process = site.start(*words, command="report")
    wait_until(lambda: len([*site.folder.glob(".*.raw/*.raw")]) == 2)

    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)

    assert process.returncode == 130
    assert "interrupted: the trace ends there" in said
    assert "Interrupted: the trace ends there." in (site.folder / "app.html").read_text()
    assert not [path for path in site.folder.iterdir() if path.suffix == ".raw"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "give a TRACE, or a program to record"),
        (["run.prv", "--", "./app"], "give a TRACE, or a program to record"),
        (["run.prv", "--counters", "cpu"], "--counters is about a program to record"),
        (["--from", "soon", "--", "./app"], "soon"),
        (["-o", "nowhere/page.html", "--", "./app"], "there is no folder nowhere"),
    ],
)
def test_wrong_words_are_refused_before_anything_runs(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    done = run("report", *words)

    assert done.returncode == 2
    assert said in done.stderr
    assert not [*tmp_path.iterdir()]
