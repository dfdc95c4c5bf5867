"""The published matching is what its description says, burst by burst."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from burstline.identity import Tokens
from burstline.merge.model import STAGES, Published
from burstline.merge.published import match_published
from oracles import merging

burst = st.tuples(
    st.integers(0, 2),
    st.booleans(),
    st.integers(0, 8).map(lambda number: number / 8),
    st.sampled_from([0, 8, 64]),
    st.sampled_from([0, 8]),
    st.integers(-1, 1),
    st.integers(-1, 1),
)
thread = st.lists(burst, max_size=10)
several = st.integers(2, 3).flatmap(
    lambda runs: st.integers(1, 3).flatmap(
        lambda threads: st.lists(
            st.lists(thread, min_size=threads, max_size=threads), min_size=runs, max_size=runs
        )
    )
)


def with_spans(run):
    """Replace each flag by the number of collectives up to it."""
    return [
        [
            (pattern, sum(own[1] for own in bursts[: k + 1]), *rest)
            for k, (pattern, _, *rest) in enumerate(bursts)
        ]
        for bursts in run
    ]


def tokens(run):
    rows = [own for bursts in run for own in bursts]
    pattern, span, place, before, after, source, target = (
        zip(*rows, strict=True) if rows else [()] * 7
    )
    offsets = np.cumsum([0, *map(len, run)])
    nothing = np.zeros(len(rows), np.int32)
    made = Tokens(
        offsets=offsets,
        label=nothing,
        kind=nothing,
        matter=nothing,
        sends=nothing.astype(bool),
        pattern=np.array(pattern, np.int32),
        span=np.array(span, np.int64),
        place=np.array(place, float),
        sizes=(np.array(before, float), np.array(after, float)),
        partners=(np.array(source, np.int32), np.array(target, np.int32)),
        divides=np.zeros(len(rows), bool),
        unordered=np.full(len(rows), -1),
    )
    return made, np.stack([offsets[:-1], offsets[1:]], axis=1)


@given(several)
def test_runs_are_matched_as_the_oracle_matches_them(given_runs):
    runs = [with_spans(run) for run in given_runs]
    made, lanes = zip(*map(tokens, runs), strict=True)

    members, stage = match_published(made, lanes, Published())

    found = set()
    for row, how in zip(members.tolist(), stage.tolist(), strict=True):
        names = []
        for number, place in enumerate(row):
            if place >= 0:
                own = int(np.searchsorted(lanes[number][:, 1], place, side="right"))
                names.append((number, own, place - int(lanes[number][own, 0])))
        if len(names) > 1:
            found.add((tuple(names), STAGES[how]))
    assert found == set(merging.match_published(runs))
    for number, run in enumerate(runs):
        rows = members[members[:, number] >= 0, number]
        assert sorted(rows.tolist()) == list(range(sum(map(len, run))))
