"""Where threads ran and what recording them took: raw files, a .prv, a window."""

from __future__ import annotations

import pytest

import burstline
from burstline import cli
from burstline.clocks import corrected
from burstline.synchronisation import graph_of, rows_of
from burstline.testing import trace_of
from raw_files import Run, named, record

TEXT = """
ranks 3
meta launcher Hydra | meta binding "OMP_PLACES=cores HYDRA_USER_PROVIDED_BINDING=1"
row placements location 0 allowed 0-3 used 2 sockets 0 numa 0-1 bound_to socket
row placements location 2 used 5
row recordings location 2 calls_ns 12 reading_ns 0 asked_hz 250 signals 7 lost_periods 1
0 | 0 enter MPI_Init | 5 leave | 9 enter MPI_Finalize | 10 leave
1 | 0 enter MPI_Init | 5 leave | 9 enter MPI_Finalize | 10 leave
2 | 0 enter MPI_Init | 5 leave | 9 enter MPI_Finalize | 10 leave
"""


def processors(what, bits, *, first=0, number=0, time=0):
    """A record of processors; `what` as ``raw.h`` counts."""
    return record(76, op=what, time=time, a=first, b=bits, c=number)


def machine(core):
    """Two sockets of two NUMA nodes with two cores each, which have two processors."""
    numa = [0x0303, 0x0C0C, 0x3030, 0xC0C0]
    parts = [processors(6, bits, number=k) for k, bits in enumerate(numa)]
    sockets = processors(5, 0x0F0F), processors(5, 0xF0F0, number=1)
    return b"".join([processors(3, 0xFFFF), *sockets, *parts, processors(4, core)])


def placed(folder, *parts):
    run = Run(1)
    run[0].add(*parts).call("MPI_Barrier", 10, 20)
    return run.end(99).read(folder)


@pytest.mark.parametrize(
    ("allowed", "used", "told"),
    [
        (0x0101, 0x0100, ("0,8", "8", "0", "0", "core")),
        (0x0001, 0x0001, ("0", "0", "0", "0", "processor")),
        (0x0303, 0x0203, ("0-1,8-9", "0-1,9", "0", "0", "numa")),
        (0x0F01, 0x0C00, ("0,8-11", "10-11", "0", "1", "socket")),
        (0xFFFF, 0x1001, ("0-15", "0,12", "0-1", "0,2", "node")),
    ],
)
def test_a_thread_is_bound_to_the_smallest_part_that_has_what_it_may_use(
    tmp_path, allowed, used, told
):
    here = processors(1, allowed, time=5), processors(2, used, time=7)

    [row] = placed(tmp_path, machine(0x0101), *here).table("placements").to_pylist()

    names = ("allowed", "used", "sockets", "numa", "bound_to")
    assert row == {"location": 0, **dict(zip(names, told, strict=True))}


def test_the_last_that_it_may_use_counts_and_what_no_machine_has_is_left_out(tmp_path):
    first, last = processors(1, 0xFFFF, time=5), processors(1, 0x0002, time=8)
    more = processors(1, 1, first=64, time=8)

    [row] = placed(tmp_path, first, last, more).placements.to_pylist()

    assert (row["allowed"], row["used"], row["bound_to"]) == ("1,64", None, None)
    assert placed(tmp_path, processors(1, 1, first=1 << 20)).rows("placements") == 0


def test_the_launcher_and_what_placed_the_processes_are_facts_of_the_run(tmp_path):
    told = [
        named(38, k, text, op=6)
        for k, text in enumerate(["MPI_LOCALNRANKS=4", "OMP_PLACES=cores"])
    ]

    facts = placed(tmp_path, *told).metadata

    assert (facts["launcher"], facts["binding"]) == ("Hydra", "OMP_PLACES=cores")


def test_what_recording_took_is_told_of_each_thread(tmp_path):
    costs = [
        record(73, op=0, time=50, a=60, b=100, c=7),
        record(73, op=1, time=50, b=30, c=5),
        record(73, op=2, time=50, b=900, c=1),
        record(75, op=250, time=50, a=3, b=40 << 32 | 11, c=80_000),
    ]

    trace = placed(tmp_path, *costs)

    assert trace.table("recordings").to_pylist() == [
        {
            "location": 0, "calls_ns": 700, "reading_ns": 420, "functions_ns": 150,
            "thread_ns": 900, "sampling_ns": 80_000, "asked_hz": 250, "signals": 40,
            "mpi_periods": 11, "lost_periods": 3,
        }
    ]  # fmt: skip
    assert trace.metadata["overhead_ns"] == str(700 + 150 + 900 + 80_000)


@pytest.mark.parametrize("name", ["b.prv", "b.prv.gz", "b.store", "b.parquet"])
def test_facts_about_threads_are_kept_by_every_format_that_has_a_place_for_them(tmp_path, name):
    trace = trace_of(TEXT)

    burstline.write(trace, tmp_path / name)

    read = burstline.read(tmp_path / name)
    for table in ("placements", "recordings"):
        assert read.table(table).equals(trace.table(table)), table
    assert read.metadata["launcher"] == "Hydra"
    assert read.metadata["binding"] == "OMP_PLACES=cores HYDRA_USER_PROVIDED_BINDING=1"


def test_facts_stay_with_their_thread_in_a_part_of_the_trace(tmp_path):
    burstline.write(trace_of(TEXT), tmp_path / "a.prv")
    part = burstline.select(burstline.read(tmp_path / "a.prv"), ranks=[1, 2])

    burstline.write(part, tmp_path / "b.prv")

    read = burstline.read(tmp_path / "b.prv")
    assert [(r["location"], r["used"]) for r in read.placements.to_pylist()] == [(1, "5")]
    assert [(r["location"], r["signals"]) for r in read.recordings.to_pylist()] == [(1, 7)]


@pytest.mark.parametrize(
    "line",
    [
        "# placements of 9.1.1: used 5",
        "# placements of 1.1: used 5",
        "# placements of 1.1.1: used five-and-six",
        "# placements of 1.1.1: bound_to table",
        "# placements of 1.1.1: used 5 used",
        "# recordings of 1.1.1: calls_ns 99999999999999999999",
        "# recordings of 1.1.1: signals -1",
    ],
)
def test_a_comment_that_says_nothing_sound_is_no_fact(tmp_path, line):
    burstline.write(trace_of("ranks 1 | 0 | 0 enter MPI_Init | 5 leave"), tmp_path / "a.prv")
    head, rest = (tmp_path / "a.prv").read_text().split("\n", 1)
    (tmp_path / "a.prv").write_text(f"{head}\n{line}\n{rest}")

    trace = burstline.read(tmp_path / "a.prv")

    for name in ("placements", "recordings"):
        assert all(
            value is None
            for row in trace.table(name).to_pylist()
            for key, value in row.items()
            if key != "location"
        )


@pytest.mark.parametrize("name", ["cut.store", "cut.prv"])
def test_what_recording_took_is_no_moment_and_stays_where_a_part_is_moved(tmp_path, name):
    source = tmp_path / "run.txt"
    source.write_text(TEXT)

    cli.main(["cut", str(source), str(tmp_path / name), "--from", "4ns"])

    part = burstline.read(tmp_path / name)
    [taken] = part.table("recordings")["calls_ns"].to_pylist()
    assert taken == 7  # of 12 in 10 ns, in the 6 ns that are left
    assert part.calls["enter_ns"].to_pylist()[-1] == 5


@pytest.mark.parametrize("name", ["r.store", "r.prv"])
def test_what_recording_took_is_no_time_of_a_logical_clock(tmp_path, name):
    source = tmp_path / "run.txt"
    source.write_text(TEXT)

    cli.main(["retime", str(source), str(tmp_path / name), "--clock", "lt_1"])

    retimed = burstline.read(tmp_path / name)
    assert retimed.table("recordings")["calls_ns"].to_pylist() == [None]
    assert burstline.summarise(retimed).recording is None
    assert burstline.summarise(burstline.read(source)).recording.estimated_ns >= 12


def test_what_recording_took_stays_where_clocks_are_corrected():
    trace = trace_of(
        "ranks 2 | row recordings location 1 calls_ns 12 "
        "| 0 | 50 enter MPI_Send | 51 send to 1 bytes 8 | 52 leave "
        "| 1 | 0 enter MPI_Recv | 8 receive from 0 bytes 8 | 9 leave"
    )

    moved, furthest_ns = corrected(trace, rows_of(graph_of(trace).sync, "corrected"))

    assert furthest_ns > 0
    assert moved.table("recordings")["calls_ns"].to_pylist() == [12]
