"""Waits of traces that lack something or contradict themselves: an answer that keeps the laws.

Each says in its coverage what it could not use; or it is refused, with the reason.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import burstline
from burstline import Trace
from burstline.columns import NO_VALUE, with_column
from burstline.errors import NotEnoughDataError
from burstline.model import schema
from burstline.testing import trace_of
from effort import examples
from simulator import simulate
from verdicts import verdict
from waits_laws import broken_laws

RECORDINGS = Path(__file__).parents[1] / "recordings"
INIT, FINALIZE = "1 enter MPI_Init | 2 leave", "100 enter MPI_Finalize | 101 leave"
SEND = "10 enter MPI_Send | 10 send to 1 bytes 8 | 11 leave"
RECV = "6 enter MPI_Recv | 12 receive from 0 bytes 8 | 12 leave"


def ranks(*bodies, first="ranks {}"):
    return "\n".join(
        [first.format(len(bodies)), *(f"{rank} | {body}" for rank, body in enumerate(bodies))]
    )


def barrier(enter, leave):
    return f"{enter} enter MPI_Barrier | {enter} begin | {leave} end | {leave} leave"


def examined(trace):
    """The waits of a trace that keep the laws."""
    waits = burstline.wait_states(trace)
    assert broken_laws(trace, waits) == []
    assert verdict(waits)
    return waits


@pytest.mark.parametrize(
    "missing", ["Init", "Finalize", "both", "Init of one", "Finalize of one"]
)
def test_without_init_or_finalize_all_start_together(missing):
    has_init = [missing in {"Finalize", "Finalize of one"}] * 2
    has_end = [missing in {"Init", "Init of one"}] * 2
    has_init[1] |= missing == "Init of one"
    has_end[1] |= missing == "Finalize of one"
    bodies = [
        " | ".join([INIT] * has_init[rank] + [body] + [FINALIZE] * has_end[rank])
        for rank, body in enumerate((SEND, RECV))
    ]

    waits = examined(trace_of(ranks(*bodies)))

    assert waits.profile.total("mpi_latesender") == 4
    assert waits.coverage["virtual_start"] is not all(has_init)


def test_half_messages_and_collectives_that_lack_a_rank_are_left_out_and_counted():
    waits = examined(trace_of(ranks(f"{SEND} | {barrier(20, 31)}", barrier(30, 31))))
    assert waits.coverage["half_messages"] == 1
    assert waits.coverage["messages_share"] == 0
    assert waits.profile.total("mpi_barrier_wait") == 10

    waits = examined(trace_of(ranks(barrier(1, 9), barrier(8, 9), INIT)))
    assert waits.coverage["left_out"] == {"collectives without all of their members": 1}
    assert waits.coverage["collectives_share"] == 0
    assert "mpi_barrier_wait" not in waits.profile.stored


def test_one_rank_waits_for_nobody_and_nothing_that_synchronises_is_refused():
    waits = examined(trace_of(ranks(f"{INIT} | {barrier(5, 6)} | {FINALIZE}")))

    assert verdict(waits)[0].startswith("Nothing waits")
    with pytest.raises(NotEnoughDataError, match="nothing synchronises"):
        burstline.wait_states(trace_of("ranks 2"))


def test_equal_stamps_are_no_wait_and_the_lowest_rank_is_blamed():
    waits = examined(trace_of(ranks(*[barrier(5, 9)] * 2, barrier(3, 9))))

    assert waits.profile.total("mpi_barrier_wait") == 2
    assert waits.delays.to_pylist() == [{"from": 0, "to": 2, "wait_ns": 2}]


def test_a_critical_path_that_runs_back_in_time_takes_no_share_of_the_run(tmp_path):
    shutil.copytree(RECORDINGS / "hybrid", tmp_path / "raw")
    damaged = tmp_path / "raw" / "p-node1-464.t-1.raw"
    content = bytearray(damaged.read_bytes())
    content[11397] ^= 0b10000010  # of the thread's last barrier: entered 38 hours later
    damaged.write_bytes(content)

    trace = burstline.read(tmp_path / "raw")
    waits = burstline.wait_states(trace)

    assert trace.defects["kind"].to_pylist() == ["time_runs_backwards"]
    assert waits.profile.total("critical_path") < 0
    assert waits.coverage["critical_path_share"] == 0


def test_clocks_that_contradict_each_other_end_and_are_told():
    told = "100 enter MPI_Recv | 100 receive from 1 bytes 8 | 900 leave | 901 enter MPI_Send"
    first = f"{INIT} | {told} | 901 send to 1 bytes 8 | 902 leave"
    told = "10 enter MPI_Recv | 10 receive from 0 bytes 8 | 800 leave | 801 enter MPI_Send"
    second = f"{INIT} | {told} | 801 send to 0 bytes 8 | 802 leave"

    waits = examined(trace_of(ranks(first, second)))

    assert waits.coverage["critical_path_is_circular"]
    assert waits.coverage["waits_out_of_order"] == 1


def test_threads_that_call_mpi_wait_and_are_waited_for():
    lines = [
        *("ranks 2 threads 2", f"0.0 | {INIT} | {FINALIZE}", f"0.1 | {SEND}"),
        *(f"1.0 | {INIT} | {FINALIZE}", f"1.1 | {RECV}"),
    ]
    waits = examined(trace_of("\n".join(lines)))

    assert waits.profile.total("mpi_latesender") == 4
    assert waits.delays.to_pylist() == [{"from": 0, "to": 1, "wait_ns": 4}]
    assert not waits.coverage["virtual_start"]


def test_applications_start_and_end_on_their_own():
    lines = ["ranks 2", "application 1 ranks 2"]
    for application, shift in ((0, 0), (1, 1000)):
        for rank, end in ((0, 40), (1, 45)):
            lines += [
                f"{application}/{rank}",
                f"{shift + 1} enter MPI_Init | {shift + 2} leave",
                f"{shift + end} enter MPI_Finalize | {shift + 50} leave",
            ]

    waits = examined(trace_of("\n".join(lines)))

    assert waits.profile.total("mpi_finalize_wait") == 10
    assert not waits.coverage["virtual_start"]


REGIONS = """
region parallel paradigm openmp role parallel
region implicit_barrier paradigm openmp role implicit_barrier
region task paradigm openmp role task
region team paradigm openmp role team
"""


def in_team(begin, enter, end, inside=""):
    """What a thread does in a team: something, and the barrier at its end."""
    return (
        f"{begin} team begin 3 | {inside} | {enter} enter implicit_barrier | {end} leave "
        f"| {end} team end 3"
    )


NESTED = f"12 fork 1 | 12 enter parallel | {in_team(13, 15, 16)} | 17 leave | 17 join"


@pytest.mark.parametrize(
    ("first", "other"),
    [("", "12 enter task | 14 leave"), (NESTED, "")],
    ids=["a task changes nothing", "nested teams wait each for their own"],
)
def test_openmp_alone_has_waits_of_threads(first, other):
    text = (
        f"ranks 1 threads 2{REGIONS}0.0 | 10 fork 2 | 10 enter parallel "
        f"| {in_team(10, 20, 21, first)} | 22 leave | 22 join "
        f"| 0.1 | {in_team(11, 15, 21, other)}"
    )

    assert examined(trace_of(text)).profile.total("omp_ibarrier_wait") == 5


def test_streams_of_accelerators_have_no_time():
    trace = trace_of(ranks(SEND, RECV, ""))
    kinds = schema.arrow_schema("locations").field("kind").type
    kind = pa.array(["cpu", "cpu", "gpu_stream"]).cast(kinds)
    trace = replaced(trace, "locations", kind=kind)

    waits = examined(trace)

    assert waits.profile.total("mpi_latesender") == 4
    assert waits.profile.exclusive("time")[:, 2].sum() == 0


def replaced(trace, table, **columns):
    """A trace with other values in some columns of a table."""
    changed = trace.table(table)
    for name, values in columns.items():
        changed = with_column(changed, name, values)
    tables = {name: trace.table(name) for name in schema.TABLES if name in trace}
    return Trace(tables | {table: changed})


OWNERS = {"send": "sender_location", "rece": "receiver_location", "post": "receiver_location"}


def skewed(trace, shift_ns):
    """A trace in which the clock of each location is ahead by some time, ns."""
    for table in ("calls", "regions", "messages", "collective_members", "teams", "locks"):
        if not trace.rows(table):
            continue
        columns = {}
        for name in trace.table(table).column_names:
            if not name.endswith("_ns"):
                continue
            owner = OWNERS.get(name[:4], "location") if table == "messages" else "location"
            owner = "fork_location" if table == "teams" else owner
            values, location = trace.arrays(table, name, owner)
            later = values + np.asarray(shift_ns)[location]
            columns[name] = pa.array(later, pa.int64(), mask=values == NO_VALUE)
        trace = replaced(trace, table, **columns)
    return trace


@given(st.integers(0, 2000), st.sampled_from([0, 50, 1_000_000_000]), st.randoms())
@examples(0.3)
def test_programs_at_random_keep_the_laws_whatever_their_clocks_say(seed, most, dice):
    trace = trace_of(simulate(seed).text)
    (process,) = trace.arrays("locations", "process")
    ahead = [dice.randint(0, most) for _ in range(int(process.max()) + 1)]
    trace = skewed(trace, np.array(ahead)[process])
    if not trace.rows("calls") and not trace.rows("teams"):
        return

    examined(trace)


@given(st.integers(0, 2000), st.randoms())
@examples(0.3)
def test_a_part_of_a_program_keeps_the_laws(seed, dice):
    trace = trace_of(simulate(seed).text)
    end = max(trace.locations["died_ns"].to_pylist())
    first, last = sorted((dice.randint(0, end), dice.randint(0, end)))
    part = burstline.select(trace, start_ns=first, end_ns=last + 1)
    if not part.rows("calls") and not part.rows("teams"):
        return

    examined(part)


def test_threads_idle_where_a_cut_left_a_fork_without_its_threads():
    part = burstline.select(trace_of(simulate(3).text), start_ns=91, end_ns=93)

    assert part.rows("teams")
    assert examined(part).profile.total("omp_idle_threads") > 0


def test_locks_whose_regions_are_lost_stand_in_no_part_of_a_team(tmp_path):
    folder = tmp_path / "run.csv"
    burstline.write(burstline.read(RECORDINGS / "hybrid"), folder)
    regions = folder / "regions.csv"
    regions.write_text("".join(regions.read_text().splitlines(keepends=True)[:61]))

    left = examined(burstline.read(folder)).as_dict()["metrics"]

    whole = burstline.wait_states(burstline.read(RECORDINGS / "hybrid")).as_dict()["metrics"]
    assert 0 < left["omp_lock_api"] < whole["omp_lock_api"]
    assert 0 < left["omp_critical"] < whole["omp_critical"]


def test_a_program_that_begins_after_its_calls_has_no_imbalance_on_the_critical_path():
    trace = trace_of(
        "ranks 2 | 0.0 | 0 enter MPI_Recv | 1 receive from 1 tag 0 bytes 0 | 1 leave "
        '| 1 tell program_begin name a.out text "-n 4" '
        "| 1.0 | 1 enter MPI_Send | 1 send to 0 tag 0 bytes 0 | 1 leave"
    )
    assert "critical_path_imbalance" not in burstline.wait_states(trace).profile.stored
