"""What the OpenMP tool of the recorder records of a program with every construct."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from burstline.formats.raw.events.openmp import ROLES, decode
from burstline.model import NO_VALUE
from raw_records import files, records
from runtime_building import NATIVE, build

OMP, STACK = 57, 33
THREADS, TEAMS_OF_ALL = 4, 2
LOOPS = (101, 50, 37, 60)


@pytest.fixture(scope="module")
def library(built_once, tmp_path_factory):
    built = tmp_path_factory.mktemp("tool") / "libtool.so"
    hidden = ("-fvisibility=hidden", "-fno-omit-frame-pointer", "-ftls-model=initial-exec")
    build(built_once, built, NATIVE / "omp.c", *hidden, "-shared", "-fPIC")
    return built


@pytest.fixture(scope="module")
def program(llvm_openmp, tmp_path_factory):
    built = tmp_path_factory.mktemp("program") / "constructs"
    source = Path(__file__).with_name("constructs.c")
    subprocess.run([llvm_openmp, "-fopenmp", "-g", "-O1", source, "-o", built], check=True)
    return built


@pytest.fixture
def record(program, library, tmp_path):
    """Run the program under the tool and give its raw files."""

    def run(**settings):
        folder = tmp_path / "raw"
        folder.mkdir()
        environment = {"BURSTLINE_DIR": str(folder), "BURSTLINE_COUNTERS": "none"}
        environment |= {"BURSTLINE_SAMPLE": "0", **settings}
        done = subprocess.run(
            [program],
            env={**os.environ, "LD_PRELOAD": str(library), **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return files(folder)

    return run


def openmp_records(paths):
    every = [records(path) for path in paths]
    return [found[found["kind"] == OMP] for found in every]


@pytest.fixture
def recorded(record):
    return decode(openmp_records(record()))


def of_role(found, role):
    rows = found.regions["role"] == ROLES.index(role)
    return {name: column[rows] for name, column in found.regions.items()}


def test_teams_are_forked_and_joined_with_all_their_threads(recorded):
    teams = recorded.teams

    assert teams["threads"].tolist() == [THREADS, THREADS, 1]
    assert (teams["fork_ns"] < teams["join_ns"]).all()
    assert teams["parent"].tolist() == [-1, -1, -1]
    assert len(of_role(recorded, "parallel")["thread"]) == 3


def test_each_thread_is_in_its_team_between_fork_and_join(recorded):
    inside, teams = of_role(recorded, "team"), recorded.teams

    assert sorted(zip(inside["team"].tolist(), inside["thread"].tolist(), strict=True)) == [
        *((team, thread) for team in (0, 1) for thread in range(THREADS)),
        (2, 0),
    ]
    assert (inside["enter_ns"] >= teams["fork_ns"][inside["team"]]).all()
    assert (inside["leave_ns"] <= teams["join_ns"][inside["team"]]).all()


def test_iterations_of_the_threads_add_up_to_those_of_the_loop(recorded):
    loops = of_role(recorded, "loop")
    if (loops["iterations"] == NO_VALUE).all():  # a runtime that does not tell of chunks
        assert len(loops["thread"]) == TEAMS_OF_ALL * THREADS * len(LOOPS)
        return
    for team in range(TEAMS_OF_ALL):
        done = [
            loops["iterations"][(loops["team"] == team) & (loops["thread"] == thread)]
            for thread in range(THREADS)
        ]
        assert np.sum(done, axis=0).tolist() == list(LOOPS)
    static = sorted(one[0] for one in done)
    in_turns = sorted(one[2] for one in done)
    assert static == [25, 25, 25, 26]
    assert in_turns == [8, 9, 10, 10]


def test_barriers_count_alike_on_each_thread_of_a_team(recorded):
    explicit, implicit = of_role(recorded, "barrier"), of_role(recorded, "implicit_barrier")

    assert explicit["barrier_ordinal"].tolist() == [len(LOOPS)] * TEAMS_OF_ALL * THREADS
    for team in range(TEAMS_OF_ALL):
        for thread in range(THREADS):
            mine = (implicit["team"] == team) & (implicit["thread"] == thread)
            assert implicit["barrier_ordinal"][mine].tolist() == [0, 1, 2, 3, 5, 6]


def test_no_thread_leaves_a_barrier_before_all_have_entered_it(recorded):
    barriers = of_role(recorded, "barrier")
    for team in range(TEAMS_OF_ALL):
        mine = barriers["team"] == team
        assert barriers["leave_ns"][mine].min() >= barriers["enter_ns"][mine].max()


def test_locks_are_held_by_one_thread_at_a_time(recorded):
    locks = recorded.locks

    assert len(np.unique(locks["lock"])) == 2
    assert len(locks["lock"]) == 2 * TEAMS_OF_ALL * THREADS
    for lock in np.unique(locks["lock"]):
        mine = np.flatnonzero(locks["lock"] == lock)
        mine = mine[np.argsort(locks["acquire_ns"][mine])]
        assert (locks["release_ns"][mine] >= locks["acquire_ns"][mine]).all()
    for role in ("critical", "lock"):
        assert len(of_role(recorded, role)["thread"]) == TEAMS_OF_ALL * THREADS


def test_one_thread_executes_a_single_construct(recorded):
    single = of_role(recorded, "single")
    for team in range(TEAMS_OF_ALL):
        assert sorted(single["iterations"][single["team"] == team].tolist()) == [0, 0, 0, 1]


def innermost_frame(path, stack):
    """Return the module and offset where a stack begins."""
    found = records(path)
    (row,) = np.flatnonzero((found["kind"] == STACK) & (found["a"] == stack))
    return int(found["b"][row + 1])


def test_constructs_have_the_place_in_the_program_where_they_are(record):
    paths = record()
    explicit = of_role(decode(openmp_records(paths)), "barrier")
    places = {
        innermost_frame(paths[thread], stack)
        for thread, stack in zip(
            explicit["thread"].tolist(), explicit["stack"].tolist(), strict=True
        )
    }

    assert len(places) == 1
    assert places != {0}


def test_without_stacks_constructs_have_none(record):
    found = decode(openmp_records(record(BURSTLINE_STACK_DEPTH="0")))

    assert not found.regions["stack"].any()


@pytest.mark.parametrize("mode", ["off", "profile"])
def test_where_no_records_are_wanted_there_are_none(record, mode):
    assert not any(map(len, openmp_records(record(BURSTLINE_MODE=mode))))


NUMBERS = {
    "callback_": "parallel_begin parallel_end task_create task_schedule implicit_task work "
    "mutex_acquire mutex_acquired mutex_released sync_region dispatch",
    "scope_": "begin end",
    "": "task_initial task_explicit task_untied task_complete task_cancel task_detach "
    "task_early_fulfill task_late_fulfill mutex_critical mutex_atomic mutex_ordered",
    "work_": "loop sections single_executor single_other taskloop",
    "dispatch_": "iteration section",
    "sync_region_": "barrier_explicit taskwait taskgroup reduction",
}
"""What the interface calls numbers of ours: OMPT_BEGIN is its ompt_scope_begin."""


def test_numbers_written_down_are_those_of_the_interface(llvm_openmp, tmp_path):
    names = {
        f"OMPT_{name.upper()}": f"ompt_{kind}{name}"
        for kind, of_kind in NUMBERS.items()
        for name in of_kind.split()
    }
    text = (NATIVE / "ompt.h").read_text().replace("#ifndef", "#include <stdint.h>\n#ifndef", 1)
    text = text.replace("ompt_set_callback", "own_set_callback").replace(
        "enum ompt_", "enum own_"
    )
    lines = [f'_Static_assert((int){ours} == (int){theirs}, "{ours}");'
             for ours, theirs in names.items()]  # fmt: skip
    source = tmp_path / "numbers.c"
    source.write_text("\n".join(["#include <omp-tools.h>", text, *lines]) + "\n")

    done = subprocess.run(
        [llvm_openmp, "-fopenmp", "-fsyntax-only", source], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
