"""Collectives by communicator: how often, how long, and who comes last."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import burstline
from burstline.collectives import collectives
from burstline.errors import NotEnoughDataError
from burstline.testing import trace_of

BEGINS = st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=1, max_size=6)
SPLIT = """ranks 4
communicator 0 members 0 1 2 3 kind world
communicator 1 members 0 1 kind group | communicator 2 members 2 3 kind group
0 | 1 enter MPI_Bcast | 1 begin | 5 end comm 1 sent 8 | 5 leave
1 | 3 enter MPI_Bcast | 3 begin | 6 end comm 1 received 8 | 6 leave
2 | 2 enter MPI_Bcast | 2 begin | 7 end comm 2 sent 8 | 7 leave
3 | 2 enter MPI_Bcast | 2 begin | 7 end comm 2 received 8 | 7 leave
"""


def met(begins):
    """A trace in which three ranks meet in reductions, beginning at these moments of each."""
    lines = [[], [], []]
    for step, moments in enumerate(begins):
        for rank, moment in enumerate(moments):
            at = 100 * step + 10 + moment
            lines[rank] += [
                f"{at} enter MPI_Allreduce | {at} begin",
                f"{100 * step + 20} end sent 4 received {rank} | {100 * step + 20} leave",
            ]
    rows = (f"{rank} | {' | '.join(events)}" for rank, events in enumerate(lines))
    return trace_of(" | ".join(["ranks 3", *rows]))


@given(BEGINS)
def test_time_is_divided_where_the_last_member_comes_and_who_that_is_counted(begins):
    [found] = collectives(met(begins)).operations

    assert (found.operation, found.communicator) == ("MPI_Allreduce", "world")
    assert (found.count, found.ranks, found.incomplete) == (len(begins), 3, 0)
    assert found.inside_ns == sum(10 - begin for step in begins for begin in step)
    assert found.early_ns == sum(max(step) - begin for step in begins for begin in step)
    assert found.rank_bytes == 4
    late = [step for step in begins if min(step) < max(step)]
    assert sum(count for _, count in found.last) == len(late)
    for rank, count in found.last:
        assert count <= sum(step[rank] == max(step) for step in late)
    counts = [count for _, count in found.last]
    assert counts == sorted(counts, reverse=True)


def test_communicators_of_one_split_are_told_together():
    [found] = collectives(trace_of(SPLIT)).operations

    assert found.communicator == "2 groups of 2 ranks"
    assert (found.count, found.ranks, found.rank_bytes) == (2, 2, 8)
    assert found.last == ((1, 1),)
    assert found.last_text == "rank 1 in 1 of 2"
    run = burstline.open(trace_of(SPLIT))
    assert run.ask("collectives") is run.ask("collectives")
    assert run.part(ranks=[0, 1]).ask("collectives").operations[0].count == 1
    with pytest.raises(NotEnoughDataError, match="no collective was recorded"):
        collectives(trace_of("ranks 1 | 0 | 1 enter MPI_Send | 2 leave"))
