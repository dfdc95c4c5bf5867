"""What a logical clock counts is asked in the same words of all commands that have one."""

from __future__ import annotations

from pathlib import Path

import pytest

import burstline
from burstline.cli.commands import compare, retime, waits
from burstline.clocks import Effort
from burstline.testing import trace_of
from command import burstline as command
from command import document_of

COUNTED = Path(__file__).parents[1] / "recordings" / "counted"
EFFORT = "--counter LIST", "--effort-model FILE", "--call-cost N", "--without-mpi"


def options(module):
    """The options of a command, without the titles of their groups."""
    found = {}
    for name, text in module.OPTIONS.items():
        found |= {name: text} if isinstance(text, str) else text
    return found


@pytest.fixture(scope="module")
def hybrid(tmp_path_factory):
    """A rank of two threads with counted work, as a store."""
    text = "ranks 1 threads 2 | region parallel role parallel paradigm openmp\n"
    text += "region main role function | communicator 1 members 0 1 kind group\n"
    text += "counter IR_TOT_INS | counter IR_BB\n"
    text += "0.0 | 1 enter main | 2 fork 2 | 3 team begin 1 | 4 enter parallel\n"
    text += "20 leave IR_TOT_INS=90 IR_BB=9 | 21 team end 1 | 22 join | 25 enter MPI_Barrier\n"
    text += "26 leave IR_TOT_INS=7 IR_BB=2 | 27 leave\n"
    text += "0.1 | 3 team begin 1 | 4 enter parallel | 9 leave IR_TOT_INS=5 IR_BB=1\n"
    text += "10 team end 1"
    path = tmp_path_factory.mktemp("clock") / "hybrid.store"
    burstline.write(trace_of(text), path)
    return path


@pytest.mark.parametrize("name", [*EFFORT, "--collectives {causal,full}"])
def test_all_commands_with_a_clock_take_the_same_options(name):
    texts = {options(module)[name] for module in (retime, waits, compare)}

    assert len(texts) == 1


@pytest.mark.parametrize("cost", [0, 7, 4300])
def test_waits_and_compare_take_the_cost_of_a_call_as_retime_does(hybrid, tmp_path, cost):
    words = "--call-cost", cost
    ticks = [
        document_of("waits", hybrid, "--clock", "lt_stmt", *words)["modelled_ticks"],
        document_of("retime", hybrid, "-o", tmp_path / "t.store", *words)["modelled_ticks"],
    ]
    compared = document_of("compare", hybrid, hybrid, "--clocks", "lt_stmt,lt_bb", *words)
    ticks += [profile["modelled_ticks"] for profile in compared["profiles"]]

    assert ticks == [5 * cost] * 4


def test_counters_and_work_inside_of_mpi_are_taken_alike(hybrid, tmp_path):
    words = "--counter", "IR_BB=3", "--without-mpi", "--collectives", "full"
    retimed = document_of(
        "retime", hybrid, "-o", tmp_path / "t.store", "--clock", "lt_hwctr", *words
    )
    stamps = document_of("waits", hybrid, "--clock", "lt_hwctr", *words)["coverage"]["stamps"]

    assert retimed.pop("defects") == []
    assert stamps == retimed
    effort = Effort("lt_hwctr", {"IR_BB": 3}, mpi_work=False)
    waits = burstline.wait_states(burstline.read(hybrid), clock=effort, collectives="full")
    assert waits.coverage["stamps"] == retimed


def test_a_clock_of_time_says_nothing_of_ticks(hybrid):
    compared = document_of("compare", hybrid, hybrid, "--clocks", "physical,lt_stmt")

    assert "modelled_ticks" not in compared["profiles"][0]
    assert compared["profiles"][1]["modelled_ticks"] == 5 * 4300


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["waits", COUNTED, "--call-cost", "0"], "is of logical ones"),
        (["waits", COUNTED, "--collectives", "full"], "is of logical clocks"),
        (["waits", COUNTED, "--clock", "lt_bb", "--counter", "IR_BB"], "lt_hwctr"),
        (["waits", COUNTED, "--clock", "lt_bb", "--call-cost", "-1"], "not be negative"),
        (["compare", COUNTED, COUNTED, "--without-mpi"], "is of logical ones"),
        (["compare", COUNTED, COUNTED, "--counter", "IR_BB"], "is of logical ones"),
    ],
)
def test_what_means_nothing_for_a_clock_is_refused(words, reason):
    done = command(*words)

    assert done.returncode == 2
    assert reason in done.stderr


def test_a_word_for_a_clock_in_python_is_one_that_there_is():
    with pytest.raises(burstline.ParameterError, match="causal or full"):
        burstline.wait_states(burstline.read(COUNTED), clock="lt_1", collectives="all")
    with pytest.raises(burstline.ParameterError, match="logical clocks"):
        burstline.wait_states(burstline.read(COUNTED), collectives="full")
