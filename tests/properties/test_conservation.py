"""Identities hold on every trace there is, and each of them can fail."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import burstline
from conservation import IDENTITIES, charged_to_nobody, facts_of, is_broken, violated

RECORDINGS = (
    "corners", "counted", "four", "hybrid", "ring", "ring_killed", "some_calls", "threads",
    "two_nodes",
)  # fmt: skip
MESSAGES = """
    ranks 3
    0 | 0 enter MPI_Init | 5 leave | 50 enter MPI_Send | 50 send to 1 bytes 8 | 55 leave
    90 enter MPI_Send | 99 send to 1 bytes 8 | 99 leave
    120 enter MPI_Allreduce | 120 begin | 170 end sent 8 received 8 | 170 leave
    200 enter MPI_Finalize | 260 leave
    1 | 1 enter MPI_Init | 5 leave | 20 enter MPI_Recv | 56 receive from 0 bytes 8 | 56 leave
    98 enter MPI_Recv | 99 receive from 0 bytes 8 | 99 leave
    100 enter MPI_Send | 100 send to 2 bytes 8 | 101 leave
    160 enter MPI_Allreduce | 160 begin | 170 end sent 8 received 8 | 170 leave
    230 enter MPI_Finalize | 260 leave
    2 | 2 enter MPI_Init | 5 leave | 30 enter MPI_Recv | 102 receive from 1 bytes 8 | 102 leave
    150 enter MPI_Allreduce | 150 begin | 170 end sent 8 received 8 | 170 leave
    250 enter MPI_Finalize | 260 leave
"""


def programs(trace):
    """A trace of each program that calls MPI."""
    places = np.unique(trace.calls["location"].to_numpy())
    of_place = trace.locations["application"].to_numpy()
    numbers = np.unique(of_place[places]).tolist()
    if len(numbers) < 2:
        return [trace]
    return [burstline.select(trace, application=number) for number in numbers]


def test_identities_hold_on_every_real_trace(real_traces):
    files = sorted(
        path
        for ending in ("prv", "prv.gz", "otf2")
        for path in real_traces.rglob(f"*.{ending}")
    )
    broken, rests = {}, []
    for path in files:
        for trace in programs(burstline.read(path)):
            if names := violated(facts := facts_of(trace)):
                broken[str(path.relative_to(real_traces))] = names
            rests.append(charged_to_nobody(facts))

    assert len(files) > 30
    assert broken == {}
    # What is charged to nobody counts as explained in the identities of delays.
    nobody, waited = np.sum(rests, axis=0)
    assert 0 < nobody < waited / 1000


@pytest.mark.parametrize("recording", RECORDINGS)
def test_identities_hold_on_recordings(recording):
    facts = facts_of(burstline.read(Path("tests/recordings") / recording))

    assert violated(facts) == []
    nobody, waited = charged_to_nobody(facts)
    assert nobody <= waited / 1000


class Read(dict):
    """Facts that remember which of them were read."""

    def __init__(self, facts):
        super().__init__(facts)
        self.names = []

    def __getitem__(self, name):
        self.names.append(name)
        return super().__getitem__(name)


def changed(value):
    """A fact with more, or less, in one place."""
    for step in (1 << 40, -(1 << 40), 0.01, -0.01):
        if np.ndim(value) == 0:
            yield value + step
        elif np.size(value):
            other = np.array(value, float if isinstance(step, float) else None)
            other.flat[np.argmax(other)] += step
            yield other


@pytest.fixture(scope="module")
def facts():
    return {
        "hybrid": facts_of(burstline.read("tests/recordings/hybrid")),
        "messages": facts_of(burstline.testing.trace_of(MESSAGES)),
    }


@pytest.mark.parametrize("name", IDENTITIES)
def test_an_identity_is_broken_by_each_fact_that_is_not_true(name, facts):
    """Facts that say how far sides may lie apart, or when, are none that can be untrue."""
    asked, seen = set(), set()
    for each in facts.values():
        assert not is_broken(name, each)
        read = Read(each)
        IDENTITIES[name](read)
        asked |= set(read.names)
        seen |= {
            fact
            for fact in read.names
            if any(is_broken(name, {**each, fact: other}) for other in changed(each[fact]))
        }
    assert seen
    assert asked - seen <= {"is circular", "threads", "run in barriers"}
