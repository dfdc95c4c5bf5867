"""What ``burstline waits`` prints of the parts of a run."""

from __future__ import annotations

import csv
import io
from collections import Counter
from importlib.resources import files

import pytest

from burstline import wait_states
from burstline.show import Lines, WaitsView
from burstline.testing import trace_of
from burstline.values import Table
from command import burstline, document_of
from verdicts import verdict

LULESH = files("burstline") / "data" / "lulesh_8r.prv.gz"


@pytest.mark.parametrize("by", ["iteration", "loop", "rank", "node", "20ms"])
def test_parts_add_up_to_the_metrics_of_the_document(by):
    document = document_of("waits", LULESH, "--by", by)
    sums = Counter()
    for part in document["by"]:
        assert part["parent"] is None
        sums.update(part["metrics"])

    undivided = set(document["coverage"].get("not_divided", ()))
    assert {name: sums[name] for name in document["metrics"] if name not in undivided} == {
        name: value for name, value in document["metrics"].items() if name not in undivided
    }
    assert {"mpi", "comp", "mpi_latesender", "delay_latesender"}.isdisjoint(undivided)


def test_the_loop_is_the_one_that_is_named_and_no_region_of_interest():
    largest, named = (
        document_of("waits", LULESH, "--by", "iteration", *more)
        for more in ((), ("--loop", "1"))
    )

    assert [part["key"] for part in largest["by"]] == [1, 2, 3, 4, 5, "outside"]
    assert named == largest
    assert named["metrics"] == document_of("waits", LULESH)["metrics"]


def test_the_table_has_a_row_for_each_part_and_csv_one_for_each_metric():
    table = burstline("waits", LULESH, "--by", "iteration").stdout
    rows = list(csv.reader(io.StringIO(burstline(
        "waits", LULESH, "--by", "iteration", "--format", "csv"
    ).stdout)))  # fmt: skip

    assert "Waits by iteration of loop 1" in table
    lines = table[table.index("ITERATION") :].splitlines()
    assert [line.split()[0] for line in lines[2:8]] == [*"12345", "outside"]
    assert rows[0] == ["part", "metric", "value"]
    assert {row[0] for row in rows[1:]} == {*"12345", "outside"}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--by", "function"], "iteration, loop, node, rank or window"),
        (["--by", "iteration", "--iterations", "2:3"], "leave --iterations out"),
        (["--by", "iteration", "--loop", "9"], "9"),
        (
            ["--metric", "mpi_latesendr"],
            "no metric is called mpi_latesendr: did you mean mpi_latesender or",
        ),
        (["--metric", "Sends"], "several metrics are called Sends: syncs_send, comms_send"),
        (["--metric", "zzz"], "no metric is called zzz: such as mpi_latesender, "),
    ],
)
def test_parts_and_metrics_that_are_not_there_are_refused_with_those_that_are(options, reason):
    done = burstline("waits", LULESH, *options)

    assert done.returncode == 2
    assert reason in done.stderr


def test_a_thread_that_is_not_there_yet_is_no_time_that_nobody_watched():
    text = (
        "ranks 2 | location 0 born 0 | 0 | 0..90 gap not_created | 90 enter MPI_Barrier "
        "| 91 leave | 91..96 gap flush | 96 enter MPI_Barrier | 100 leave "
        "| 1 | 0 enter MPI_Barrier | 100 leave"
    )

    coverage = wait_states(trace_of(text)).coverage

    assert coverage["unwatched_ns"] == 5
    assert coverage["time_share"] == 1 - 5 / 110


def test_only_times_have_a_share_of_the_time():
    text = "ranks 1 | 0 | 0 enter MPI_Barrier | 10 leave"

    document = wait_states(trace_of(text)).as_dict()

    assert "visits" in document["metrics"]
    assert "visits" not in document["share_time"]
    assert document["share_time"]["mpi_sync_collective"] == 1.0


def test_a_construct_is_named_by_its_place_once_and_not_by_the_program():
    text = (
        'ranks 1 threads 2 | region "!$omp parallel @a.c:9" paradigm openmp role parallel '
        "file a.c begin 9 | 0 | 0 enter MPI_Init | 5 leave | 10 fork 2 "
        '| 10 enter "!$omp parallel @a.c:9" | 20 leave | 20 join '
        "| 30 enter MPI_Finalize | 31 leave "
        '| 0.1 | 10 enter "!$omp parallel @a.c:9" | 12 leave'
    )

    waits = wait_states(trace_of(text))
    paths = [waits.path(row)[-1] for row in range(waits.profile.call_paths.num_rows)]

    assert "!$omp parallel @a.c:9" in paths
    assert not any(path.count("a.c:9") > 1 for path in paths)


EARLY = """
    ranks 2
    0 | 1000 enter MPI_Barrier | 1000 begin | 2000 end | 2000 leave
    1 | {0}800 enter MPI_Barrier | {0}800 begin | {1}000 end | {1}000 leave
"""


@pytest.mark.parametrize(
    ("enter", "leave", "correct", "said"),
    [
        (1, 2, True, None),
        (1, 2, False, None),
        (1, 7, True, "Collectives tell that clocks differ: stamps were moved by up to 5.00"),
        (1, 7, False, None),
        (6, 7, True, "1 event stamped before the cause, by up to 4.80 µs: stamps were moved"),
        (6, 7, False, "1 event stamped before the cause, by up to 4.80 µs: clocks disagree."),
    ],
)
def test_people_are_told_where_clocks_disagree_and_how_far_stamps_were_moved(
    enter, leave, correct, said
):
    waits = wait_states(trace_of(EARLY.format(enter, leave)), correct=correct)

    blocks = WaitsView(waits).blocks()
    lines = [line for block in blocks if isinstance(block, Lines) for line in block.lines]
    shown = [line for line in lines if "stamp" in line]

    assert len(shown) == (said is not None)
    assert said is None or shown[0].startswith(said)


def titles_of(*options):
    done = burstline("waits", LULESH, *options)
    assert done.returncode == 0, done.stderr
    return [line for line in done.stdout.splitlines() if line.startswith("Where")]


@pytest.mark.parametrize("name", ["comp", "Computation", "COMP"])
def test_a_metric_is_chosen_by_its_name_or_title(name):
    [title] = titles_of("--metric", name)

    assert title.startswith("Where: Computation (%M of ")


def test_counts_and_bytes_have_places_too():
    assert titles_of("--metric", "visits")[0].startswith("Where: Visits (%M of 4.75 k)")
    assert titles_of("--metric", "mpi_rma_communication") == [
        "Where: of mpi_rma_communication the run has nothing"
    ]


def test_shares_of_places_have_the_base_of_the_verdict():
    text = """
        ranks 2
        path 0 main file a.c line 3
        path 1 main file a.c line 5
        path 2 main file a.c line 7
    """
    for rank, late in enumerate((400, 700)):
        text += f"""
            {rank} | 0 enter MPI_Init path 0 | 10 leave | {late} enter MPI_Barrier path 1
              | {late} begin | 800 end | 800 leave
              | {late + 200} enter MPI_Finalize path 2 | 1000 leave
        """.replace(f"| {late + 200} enter", f"| {850 + rank * 100} enter")
    waits = wait_states(trace_of(text))
    where = verdict(waits)[1]
    tables = {
        block.title: block for block in WaitsView(waits).blocks() if isinstance(block, Table)
    }

    assert where == "100.0 % of it is in MPI_Barrier called by main at a.c:5."
    [title] = [title for title in tables if title.startswith("Where: Wait at Barrier")]
    assert title == "Where: Wait at Barrier (%M of 300 ns)"
    assert [row[1] for row in tables[title].rows] == [1.0]
    [ranks] = [title for title in tables if title.startswith("Who waits")]
    assert ranks.endswith("(without Init and Finalize)")
    assert [row[:2] for row in tables[ranks].rows] == [["0", 300], ["1", 0]]


def test_threads_that_idle_in_mpi_init_are_in_no_share_of_places():
    text = (
        'ranks 1 threads 2 | path 0 main file a.c line 3 | region "!$omp parallel @a.c:9" '
        "paradigm openmp role parallel file a.c begin 9 "
        "| 0 | 0 enter MPI_Init path 0 | 500 leave | 600 fork 2 "
        '| 600 enter "!$omp parallel @a.c:9" | 690 leave | 690 join '
        "| 700 enter MPI_Finalize path 0 | 701 leave "
        '| 0.1 | 600 enter "!$omp parallel @a.c:9" | 690 leave'
    )
    waits = wait_states(trace_of(text))
    tables = {
        block.title: block for block in WaitsView(waits).blocks() if isinstance(block, Table)
    }

    [title] = [title for title in tables if title.startswith("Where: Idle threads")]
    assert title.endswith(", without Init and Finalize)")
    assert not any("MPI_Init" in row[2].split(" > ")[-1][:9] for row in tables[title].rows)
    shares = [row[1] for row in tables[title].rows]
    assert sum(shares) == pytest.approx(1)
    assert f"{100 * shares[0]:.1f} % of it is" in verdict(waits)[1]
