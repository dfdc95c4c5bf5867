"""Whom the verdict on waits blames: nothing that may be innocent, each place once."""

from __future__ import annotations

import pytest

from burstline import read, wait_states
from burstline.show import output
from burstline.show.waits import WaitsView
from burstline.testing import trace_of
from halo import HALO, halo
from verdicts import verdict


def cause_of(trace):
    return verdict(wait_states(trace))[-1]


def test_computing_is_given_to_no_function_that_may_have_been_left():
    cause = cause_of(halo((100, 300)))

    assert cause.startswith(
        "Rank 1 causes most of the largest wait, 100.0 %: above all (100.0 %), computing "
    )
    assert (
        "from MPI_Recv, halo.c:11, or MPI_Barrier, main.c:9, to MPI_Isend, halo.c:7, "
        "in main, main.c:16, or what it calls, takes longer there" in cause
    )
    assert "exchange_halo" not in cause
    assert "-finstrument-functions" in cause


def test_computing_is_one_place_however_it_is_entered():
    waits = wait_states(halo((100, 300)))
    paths = [tuple(waits.path(row)) for row in range(waits.profile.call_paths.num_rows)]

    assert [path for path in paths if "computing" in path[-1]] == [
        ("program", "main@main.c:16", "computing up to MPI_Isend@halo.c:7"),
        ("program", "main@main.c:16", "computing up to MPI_Recv@halo.c:11"),
    ]
    assert not any("-" in name for path in paths for name in path)


def test_a_function_on_both_stacks_but_main_may_have_been_left_too():
    deeper = HALO.replace(
        "path 2 exchange_halo under 1 file halo.c line 7\n",
        "path 2 step under 1 file s.c line 3\n",
    ).replace("path 3 exchange_halo under 1", "path 3 step under 1")

    cause = cause_of(halo((100, 300), text=deeper))

    assert "step" not in cause
    assert "to MPI_Isend, s.c:3, in main, main.c:16, or what it calls," in cause


@pytest.mark.parametrize(
    ("functions", "said"),
    [
        # a stack that was cut may begin in a function that was left
        (("solve", "solve", "exchange_halo"), "to MPI_Isend, halo.c:7, takes longer"),
        (("main", "solve", "exchange_halo"), "to MPI_Isend, halo.c:7, takes longer"),
        # what Cython makes of Python is where no program of Python spends its time
        ((*["__pyx_pw_6mpi4py_3MPI_4Comm_73Sendrecv"] * 3,), "to MPI_Isend takes longer there"),
    ],
)
def test_without_main_on_both_stacks_the_calls_alone_are_named(functions, said):
    outer, inner, called = functions
    text = HALO.replace("0 main", f"0 {outer}").replace("1 main", f"1 {inner}")

    cause = cause_of(halo((100, 300), text=text.replace("exchange_halo", called)))

    assert said in cause
    assert not any(name in cause for name in (" in main", "solve", "pyx"))


def test_a_wrapper_of_cython_is_no_place_that_a_call_is_made_from():
    text = HALO.replace("exchange_halo", "__pyx_pw_6mpi4py_3MPI_4Comm_73Sendrecv")

    cause = cause_of(halo((100, 300), text=text))

    assert "to MPI_Isend, main.c:16" in cause
    assert "pyx" not in cause


def meeting(operation, enter, leave, options=""):
    """A rank's part in a collective."""
    return f"{enter} enter {operation} {options} | {enter} begin | {leave} end | {leave} leave"


def test_the_line_of_a_call_is_the_calls_and_not_that_of_its_function():
    text = """
        ranks 2
        path 0 main file a.c line 3
        path 1 halo under 0 file halo.c line 11
        region halo paradigm user role function file halo.c begin 3
        region work paradigm user role function file w.c begin 5
    """
    for rank, late in enumerate((50, 80)):
        barrier = meeting("MPI_Barrier", late, 90, "path 1")
        text += f"{rank} | 0 enter halo | 0 enter work | {late} leave | {barrier} | 90 leave\n"

    *_, where, cause = verdict(wait_states(trace_of(text)))

    assert where == "100.0 % of it is in MPI_Barrier called by halo at halo.c:11."
    assert "work (w.c:5) called by halo takes longer there" in cause


def said(*lanes):
    """The verdict on ranks, of each the events behind a barrier without waits."""
    text = f"ranks {len(lanes)} | path 0 main file a.c line 3 | path 1 main file a.c line 5"
    for rank, events in enumerate(lanes):
        text += f" | {rank} | {meeting('MPI_Barrier', 0, 10, 'path 0')} | {events}"
    return verdict(wait_states(trace_of(text)))


def test_where_next_to_nothing_waits_it_is_said_alone():
    lanes = (meeting("MPI_Barrier", late, 10_001, "path 1") for late in (10_000, 10_001))

    assert said(*lanes) == [
        "Nothing waits: all waits are less than 0.05 % of the time of the run."
    ]


def test_a_circle_leads_to_the_transfer_behind_it():
    # Rank 1 is longer in a call that waits for nobody, and then late.
    lanes = []
    for late in (200, 500):
        inside = f"10 enter MPI_Comm_dup path 0 | {late} leave"
        lanes.append(f"{inside} | {meeting('MPI_Barrier', late + 1, 600, 'path 1')}")

    lost, where, cause = said(*lanes)

    assert lost.startswith("MPI takes 9")
    assert lost.endswith("tells of: transfer dominates.")
    assert where == "75.7 % of the transfer is in MPI_Comm_dup called by main at a.c:3."
    assert cause.startswith("No rank is to blame: look whether ranks share processors")
    assert (
        "Wait at Barrier (until the last rank enters the barrier). Most of that, 100.0 %"
        in cause
    )
    assert "Rank" not in cause


def test_a_wait_that_is_caused_in_mpi_blames_no_rank_even_where_waits_dominate():
    lanes = []
    for late in (20, 100):
        inside = f"10 enter MPI_Comm_dup path 0 | {late} leave"
        lanes.append(f"{inside} | {meeting('MPI_Barrier', late, 101, 'path 1')}")

    cause = said(*lanes, *lanes[:1] * 6)[-1]

    assert cause.startswith("Most of it, 100.0 %, is caused in MPI itself")
    assert "above all (100.0 %), MPI_Comm_dup called by main at a.c:3." in cause
    assert "Rank" not in cause


def test_of_ranks_that_take_turns_none_stands_out():
    text, stamp = "ranks 2 | path 0 main file a.c line 3", {0: "", 1: ""}
    for step in range(10):
        for rank in stamp:
            enter = step * 100 + (90 if step % 2 == rank else 10)
            stamp[rank] += f" | {meeting('MPI_Barrier', enter, step * 100 + 91, 'path 0')}"
    text += "".join(f" | {rank}{events}" for rank, events in stamp.items())

    cause = cause_of(trace_of(text))

    assert cause.startswith("No rank stands out (rank ")
    assert "takes longer now on one rank, now on another" in cause
    assert "Look there first" not in cause


def test_a_send_that_waits_for_its_receiver_inside_of_an_exchange_is_no_transfer():
    text = "ranks 3"
    for rank, enter in enumerate((10, 40, 10)):
        text += f"\n{rank}"
        for step in range(0, 500, 50):
            begin, end = step + enter, step + 41
            text += (
                f" | {begin} enter MPI_Sendrecv | {begin} send to {(rank + 1) % 3} bytes 8 "
                f"| {end} receive from {(rank + 2) % 3} bytes 8 | {end} leave"
            )

    told = verdict(wait_states(trace_of(text)))

    assert not any("transfer" in sentence for sentence in told)
    assert told[-1].startswith("Rank 1 causes most of the largest wait, 100.0 %")


def test_who_is_slower_throughout_is_blamed_beside_another_who_is_so_elsewhere():
    text, stamp = (
        "ranks 2 | path 0 main file a.c line 3 | path 1 main file a.c line 5",
        ["", ""],
    )
    for step in range(0, 1000, 100):
        for rank in (0, 1):
            # rank 1 is late by 20 (from the second step on), then 0 by 40
            first, last = ((10, 90), (30, 50))[rank]
            stamp[rank] += f" | {meeting('MPI_Barrier', step + first, step + 31, 'path 0')}"
            stamp[rank] += f" | {meeting('MPI_Barrier', step + last, step + 91, 'path 1')}"
    text += "".join(f" | {rank}{events}" for rank, events in enumerate(stamp))

    cause = cause_of(trace_of(text))  # 9 * 20 by rank 1, as no call is before the first step

    assert cause.startswith(
        "Rank 0 causes most of the largest wait, 69.0 %: above all (69.0 %), computing "
    )
    assert "to MPI_Barrier, a.c:5, in main or what it calls, takes longer there" in cause


def test_what_was_not_understood_is_said_first_and_no_transfer():
    text = "ranks 3"
    for rank in range(2):  # the third never comes
        parts = (meeting("MPI_Allreduce", 10 * k, 10 * k + 9) for k in range(20))
        text += f" | {rank} | {' | '.join(parts)}"

    waits = wait_states(trace_of(text))
    first, second = verdict(waits)

    assert waits.coverage["collectives_share"] == 0
    assert first.startswith("Not understood: 100.0 % of the calls of collectives")
    assert second.startswith("In what was understood, nothing waits")


def test_threads_idle_for_the_first_one_until_the_region_that_it_forks_is_entered(tmp_path):
    """The last event of the region is the join, too, and what it took is no serial stretch."""
    lines = """
        2:1:1:1:1:0:50000003:31 2:1:1:1:1:10:50000003:0 2:1:1:1:1:100:60000001:1
        2:1:1:1:1:110:60000018:5 2:2:1:1:2:110:60000018:5 2:2:1:1:2:190:60000018:0
        2:1:1:1:1:200:60000018:0 2:1:1:1:1:700:60000001:0
        2:1:1:1:1:800:50000003:32 2:1:1:1:1:900:50000003:0
    """  # until 700 the first thread waits for the other to end
    path, head = tmp_path / "t.prv", "#Paraver (01/02/2026 at 03:04):1000_ns:1(2):1:1(2:1)"
    path.write_text("\n".join([head, *lines.split()]) + "\n")
    waits = wait_states(read(path))
    profile = waits.profile
    regions = profile.call_paths["paradigm"].to_numpy(zero_copy_only=False) == "openmp"

    assert profile.total("delay_ompidle") == 100 + 200  # 0 to 100, and 700 to 900
    assert not profile.exclusive("delay_ompidle")[regions].any()
    # The other thread has a part in the region, of which the trace tells the body alone.
    assert profile.total("omp_idle_threads") == 300
    assert "omp_limited_parallelism" not in profile.stored
    assert waits.coverage["unexplained_ns"] == {}
    assert profile.total("critical_path") == 800


def collectives(tmp_path, *, left):
    """Ranks of which each misses every fourth collective; the last ones perhaps not left."""
    ranks, count, step, events = 4, 40, 3000, []
    for rank in range(ranks):
        place = f"{rank + 1}:1:{rank + 1}:1"
        for k in range(count):
            begin, end = k * step + 500 * rank, k * step + 2500 + rank
            sizes = "50000002:10:50100001:8:50100002:8:50100004:1"
            if k % ranks != rank:
                events.append((begin, f"2:{place}:{begin}:{sizes}"))
                if k >= count - ranks and not left and rank:
                    break
                events.append((end, f"2:{place}:{end}:50000002:0"))
    header = f"#Paraver (01/02/2026 at 03:04):{count * step}_ns:1(4):1:4(1:1,1:1,1:1,1:1),1"
    told = [line for _, line in sorted(events, key=lambda each: each[0])]
    path = tmp_path / "t.prv"
    path.write_text("\n".join((header, "c:1:1:4:1:2:3:4", *told)) + "\n")
    return read(path)


@pytest.mark.parametrize("left", [True, False])
def test_collectives_that_members_left_before_others_came_are_not_understood(
    tmp_path, capsys, left
):
    waits = wait_states(collectives(tmp_path, left=left))
    told = verdict(waits)

    lacking = sum(waits.coverage["left_out"].values())
    assert (lacking > 0) is not left
    assert waits.coverage["collectives_apart"] + lacking == waits.coverage["collectives"] == 30
    assert waits.coverage["collectives_share"] == 0
    assert "(members left before others came" in told[0]
    assert ("or their other members are unknown" in told[0]) is not left
    assert not any(sentence.startswith("Nothing waits") for sentence in told)
    assert waits.coverage["critical_path_share"] > 1
    output(WaitsView(waits), "table")
    shown = capsys.readouterr().out
    assert f"{waits.coverage['collectives_apart']} collectives that members left" in shown
    assert "% of the run" in shown.partition("critical path")[2]
