"""Bursts by duration and counter: each is in one cell, and what ranks compute sums up."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import burstline
from burstline import show
from burstline.computing import computing
from burstline.errors import NotEnoughDataError, ParameterError
from burstline.histogram import RANK, histogram
from burstline.testing import trace_of
from command import burstline as command

BURSTS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.one_of(st.integers(1, 40), st.integers(1, 10**7)),
        st.integers(0, 10**6) | st.none(),
    ),
    min_size=1,
    max_size=12,
)
PLACES = """ranks 2 | counter cpu unit ns
path 0 main file a.c line 3 | path 1 solve file b.c line 7 under 0
0 | 0 enter MPI_Init cpu=0 | 5 leave cpu=0 | 45 enter MPI_Barrier path 1 cpu=30
  | 50 leave cpu=0 | 60 enter MPI_Barrier path 0 cpu=10 | 70 leave
1 | 0 enter MPI_Init cpu=0 | 5 leave cpu=0 | 205 enter MPI_Barrier path 1 cpu=20 | 210 leave
"""
IPC = """ranks 1 | counter PAPI_TOT_INS | counter PAPI_TOT_CYC
0 | 0 enter MPI_Init PAPI_TOT_INS=0 PAPI_TOT_CYC=0 | 5 leave PAPI_TOT_INS=0 PAPI_TOT_CYC=0
  | 45 enter MPI_Barrier PAPI_TOT_INS=30 PAPI_TOT_CYC=20
  | 50 leave PAPI_TOT_INS=0 PAPI_TOT_CYC=0
  | 90 enter MPI_Barrier PAPI_TOT_INS=30 PAPI_TOT_CYC=0 | 95 leave
"""


def computed(bursts, ranks=3):
    """A trace of bursts (rank, ns, what a counter counts)."""
    lines = {rank: ["0 enter MPI_Init work=0", "0 leave work=0"] for rank in range(ranks)}
    now = dict.fromkeys(lines, 0)
    for rank, length, counted in bursts:
        now[rank] += length
        read = "" if counted is None else f" work={counted}"
        at = now[rank]
        lines[rank] += [f"{at} enter MPI_Barrier{read}", f"{at} leave work=0"]
    rows = (f"{rank} | {' | '.join(events)}" for rank, events in lines.items())
    return trace_of(" | ".join([f"ranks {ranks} | counter work", *rows]))


def cell_of(edges, value):
    return next(k for k in range(len(edges) - 1) if edges[k] <= value < edges[k + 1])


@given(BURSTS, st.sampled_from([1, 2, 7]))
def test_every_burst_is_in_the_cell_of_its_duration_and_counter(bursts, bins):
    known = [each for each in bursts if each[2] is not None]
    if not known:
        with pytest.raises(NotEnoughDataError, match="of no burst"):
            histogram(computed(bursts), counter="work", bins=bins)
        return

    made = histogram(computed(bursts), counter="work", bins=bins)

    count, time = np.zeros_like(made.bursts), np.zeros_like(made.time_ns)
    for _, length, counted in known:
        place = cell_of(made.values, counted), cell_of(made.duration_ns, length)
        count[place] += 1
        time[place] += length
    assert made.bursts.tolist() == count.tolist()
    assert made.time_ns.tolist() == time.tolist()
    assert made.unread == len(bursts) - len(known)
    assert made.unread_ns == sum(length for _, length, counted in bursts if counted is None)
    for edge in (made.bursts[0], made.bursts[-1], made.bursts[:, 0], made.bursts[:, -1]):
        assert edge.any()


@given(BURSTS)
def test_totals_of_ranks_are_those_of_their_bursts(bursts):
    made = computing(computed(bursts))

    for rank in made.ranks:
        own = [each for each in bursts if each[0] == rank.rank]
        assert rank.bursts == len(own)
        assert rank.computing_ns == sum(length for _, length, _ in own)
        counted = [each for each in own if each[2] is not None]
        assert rank.counters.get("work", 0) == sum(count for *_, count in counted)
        assert rank.counted_ns.get("work", 0) == sum(length for _, length, _ in counted)
    lengths = sorted((length for _, length, _ in bursts), reverse=True)
    assert [burst.computing_ns for burst in made.largest] == lengths


def test_powers_of_ten_begin_a_bin_however_many_there_are():
    powers = [10**k for k in range(1, 8)]
    for bins in (1, 3, 100):
        made = histogram(computed([(0, k, k) for k in powers]), counter="work", bins=bins)
        assert {*powers} <= set(made.duration_ns.tolist()), bins


def test_the_longest_bursts_have_places_and_counters():
    made = computing(trace_of(PLACES), most=2)

    assert made.processor == "cpu"
    first, second = made.largest
    assert (first.rank, first.computing_ns, first.counters) == (1, 200, {"cpu": 20})
    assert [str(first.before), str(first.after)] == ["MPI_Init", "MPI_Barrier at b.c:7"]
    assert (second.computing_ns, second.start_ns) == (40, 5)
    assert made.per_ns("cpu") == 60 / 250
    assert made.per_ns("cpu", without=[first]) == 40 / 50
    run = burstline.open(trace_of(PLACES))
    assert run.part(ranks=[1]).ask("histogram").bursts.sum() == 1
    assert run.ask("computing") is run.ask("computing")
    assert "80.0 %" in show.view(run.ask("histogram"))._repr_html_()


def test_by_default_time_on_a_processor_then_ipc_then_ranks_are_shown():
    assert histogram(trace_of(PLACES)).counter == "cpu"
    by_ipc = histogram(trace_of(IPC))
    assert by_ipc.counter == "IPC"
    assert (by_ipc.values.tolist(), by_ipc.unread) == ([1.5, 1.75], 1)
    assert histogram(computed([(0, 5, 5)])).counter == RANK


def test_of_many_ranks_neighbours_share_a_row():
    made = histogram(computed([(599, 5, None), (0, 5, None)], ranks=600), counter=RANK)

    assert made.ranks[0] == "0-2"
    assert made.ranks[-1] == "597-599"
    assert len(made.ranks) == 200


def test_what_is_not_there_is_refused_and_without_bursts_there_is_none():
    for options, said in (({"counter": "x"}, "say work, rank"), ({"bins": 0}, "1 to 1000")):
        with pytest.raises(ParameterError, match=said):
            histogram(computed([(0, 5, 5)]), **options)
    empty = trace_of("ranks 1 | 0 | 1 enter MPI_Init | 2 leave")
    for analysis in (histogram, computing):
        with pytest.raises(NotEnoughDataError, match="no burst"):
            analysis(empty)


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_the_command_tells_it_in_each_form(tmp_path, form):
    path = tmp_path / "t.store"
    burstline.write(trace_of(PLACES), path)

    done = command("histogram", path, "--bins", "1", "--format", form)

    if form == "json":
        document = json.loads(done.stdout)
        assert document["counter"] == "cpu"
        assert document["duration_ns"] == [10, 100, 1000]
        assert document["time_ns"] == [[50, 200]]
    elif form == "csv":
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        told = [
            " ".join(row[name] for name in ("from_ns", "bursts", "time_ns")) for row in rows
        ]
        assert told == ["10 2 50", "100 1 200"]
    else:
        assert "80.0 %" in done.stdout
