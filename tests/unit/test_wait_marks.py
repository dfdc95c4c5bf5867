"""Waits as events of a trace."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest

import burstline
from burstline.annotation import annotated, marks_of, with_waits
from burstline.extrae import WAIT_CAUSE, WAIT_LENGTH, WAIT_STATE
from burstline.structure import detect
from burstline.testing import assert_same_trace, trace_of
from command import burstline as command

LULESH = files("burstline") / "data" / "lulesh_8r.prv.gz"


@pytest.fixture(scope="module")
def lulesh():
    return burstline.read(LULESH)


@pytest.fixture(scope="module")
def waits(lulesh):
    return burstline.wait_states(lulesh)


@pytest.fixture(scope="module")
def marked(lulesh, waits):
    return annotated(lulesh, with_waits(marks_of(detect(lulesh)), waits))


def events_of(trace, kind):
    location, time_ns, types, value = trace.arrays(
        "events", "location", "time_ns", "type", "value"
    )
    rows = types == kind
    return location[rows], time_ns[rows], value[rows]


def test_each_wait_is_told_with_its_length_and_who_causes_it(marked, waits):
    location, time_ns, lasts = events_of(marked, WAIT_LENGTH)
    *_, cause = events_of(marked, WAIT_CAUSE)
    begins = lasts > 0
    single = waits.instances
    rows = set(zip(location[begins].tolist(), time_ns[begins].tolist(), lasts[begins].tolist(),
                   (cause[begins] - 1).tolist(), strict=True))  # fmt: skip
    names = "location", "start_ns", "wait_ns", "cause_location"

    assert len(rows) == begins.sum() > 0
    assert rows == set(zip(*(single[name].to_pylist() for name in names), strict=True))
    assert (np.bincount(location[begins]) >= np.bincount(location[~begins])).all()


def test_annotating_twice_is_annotating_once(lulesh, marked):
    again = with_waits(marks_of(detect(marked)), burstline.wait_states(marked))
    loops_only = marks_of(detect(marked))

    assert_same_trace(annotated(marked, again), marked)
    assert_same_trace(annotated(marked, loops_only), annotated(lulesh, loops_only))


def test_a_store_of_marked_waits_is_the_same_trace(marked, tmp_path):
    burstline.write(marked, tmp_path / "marked.store")

    assert_same_trace(burstline.read(tmp_path / "marked.store", raw=True), marked)


def test_waits_that_follow_each_other_end_once():
    trace = trace_of(
        "ranks 2 | 0 | 10 enter MPI_Send | 10 send to 1 bytes 8 | 11 leave "
        "| 15 enter MPI_Send | 15 send to 1 bytes 8 | 16 leave "
        "| 1 | 6 enter MPI_Recv | 10 receive from 0 bytes 8 | 10 leave "
        "| 10 enter MPI_Recv | 17 receive from 0 bytes 8 | 17 leave"
    )
    marks = with_waits(marks_of(detect(trace)), burstline.wait_states(trace))
    lengths = marks.type == WAIT_LENGTH

    assert marks.time_ns[lengths].tolist() == [6, 10, 15]
    assert marks.value[lengths].tolist() == [4, 5, 0]
    state = marks.value[marks.type == WAIT_STATE][0]
    assert marks.waits[state - 1] == "Late Sender"


def test_the_command_marks_waits_where_that_is_asked_for(tmp_path, waits):
    plain, told = (
        command("annotate", LULESH, "-o", tmp_path / f"{name}.prv", *more)
        for name, more in (("plain", ()), ("told", ("--waits",)))
    )

    assert told.returncode == 0, told.stderr
    assert f"{waits.instances.num_rows:,} waits" in told.stderr
    assert " waits " not in plain.stderr
    read = burstline.read(tmp_path / "told.prv")
    assert (events_of(read, WAIT_LENGTH)[2] > 0).sum() == waits.instances.num_rows
    assert burstline.wait_states(read).profile.total("mpi_latesender") == waits.profile.total(
        "mpi_latesender"
    )
