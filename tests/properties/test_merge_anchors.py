"""Collectives are the same ones on all threads, whatever each thread did between them."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from burstline.identity import tokens_of
from burstline.merge.align.anchors import renamed
from burstline.merge.matching import match
from burstline.merge.model import Alignment
from burstline.testing import trace_of
from effort import examples

RANKS = 3
steps = st.lists(
    st.sampled_from(["Allreduce", "Allreduce", "Barrier"]), min_size=1, max_size=12
)
tags = st.lists(st.integers(0, 4), min_size=1, max_size=4)


def trace(collectives, worked):
    """Make a run: before each collective a thread receives what comes first, or sends."""
    text = [f"ranks {RANKS}"]
    for rank in range(RANKS):
        text.append(str(rank))
        calls = []
        for collective, work in zip(collectives, worked[rank], strict=True):
            calls += work
            calls.append(collective)
        for k, call in enumerate(["Init", *calls, "Finalize"]):
            text += [f"{10 * k} enter MPI_{call}", f"{10 * k + 4} leave"]
    return trace_of(" | ".join(text))


@st.composite
def runs(draw, collectives):
    worked = [
        [[f"Recv peer 0 tag {tag}" for tag in draw(tags)] for _ in collectives]
        for _ in range(RANKS)
    ]
    return trace(collectives, worked)


def collectives_of(one):
    """Give which burst of each rank is behind which of its collectives."""
    (location,) = one.arrays("calls", "location")
    names = one.calls["operation"].to_pylist()
    found = [[] for _ in range(RANKS)]
    for row, name in enumerate(names):
        if name in {"MPI_Allreduce", "MPI_Barrier"}:
            lane = int(location[row])
            found[lane].append(row - int(one.offsets("calls")[lane]))
    return found


def said(one, other):
    """Give for each rank which collective is which."""
    table = match([one, other]).pairs.select(["rank", "burst_0", "burst_1"]).drop_null()
    ours, theirs = collectives_of(one), collectives_of(other)
    found = [set() for _ in range(RANKS)]
    for row in table.to_pylist():
        rank = row["rank"]
        if row["burst_0"] in ours[rank] and row["burst_1"] in theirs[rank]:
            pair = ours[rank].index(row["burst_0"]), theirs[rank].index(row["burst_1"])
            found[rank].add(pair)
    return found


@examples(0.6)
@given(data=st.data(), ours=steps, theirs=steps)
def test_threads_agree_which_collective_is_which(data, ours, theirs):
    one, other = data.draw(runs(ours)), data.draw(runs(theirs))

    found = said(one, other)

    whole, shared = set.union(*found), set.intersection(*found)
    assert len({a for a, _ in whole - shared}) <= 0.1 * len(ours)


@examples(0.6)
@given(data=st.data(), before=st.integers(0, 2))
def test_a_step_done_twice_shifts_only_its_own_group(data, before):
    """Barriers after every third step say which step is which, and nothing else does."""
    ours = ["Allreduce", "Allreduce", "Allreduce", "Barrier"] * 3
    theirs = [*ours[: 4 + before], "Allreduce", *ours[4 + before :]]
    one, other = data.draw(runs(ours)), data.draw(runs(theirs))

    found = said(one, other)

    outside = {(k, k) for k in range(4)} | {(k, k + 1) for k in range(7, 12)}
    away = [outside - own for own in found]
    assert min(map(len, away)) <= 1
    assert sum(map(len, away)) <= 4


@given(numbers=st.permutations(range(8)), at=st.integers(1, 6), data=st.data())
def test_what_all_threads_received_names_their_collectives(numbers, at, data):
    """Each thread by itself sees two kinds of steps, all together see eight; one was other."""
    step = data.draw(st.sampled_from(numbers[:7]))
    assume((step, at) != (numbers[6], 6))  # nothing tells the copy from the step that is other
    longer = [*numbers[:at], step, *numbers[at:7], numbers[7] + 8]
    runs = []
    for steps in (numbers, longer):
        work = [
            [[f"Recv peer 0 tag {10 * rank + (k >> rank & 1) + 2 * (k // 8)}"] for k in steps]
            for rank in range(RANKS)
        ]
        runs.append(trace(["Allreduce"] * len(steps), work))
    offsets = [run.offsets("bursts") for run in runs]
    lanes = [np.stack([own[:-1], own[1:]], axis=1) for own in offsets]

    named = renamed(tokens_of(runs, [None] * len(runs)).tokens, lanes, [0, 1], Alignment())

    for rank in range(RANKS):
        found = [
            own.label[first + np.array(collectives_of(run)[rank])].tolist()
            for run, own, first in zip(runs, named, (o[rank] for o in offsets), strict=True)
        ]
        shared = [name for name in found[1] if name in found[0]]
        assert shared == found[0]
        (extra,) = (k for k, name in enumerate(found[1]) if name not in found[0])
        assert longer[extra] == step


def test_collectives_beside_completions_are_the_same_on_all_threads_too():
    test, receive = "Test", "Recv peer 0 tag 3"
    ours = ["Allreduce", "Barrier", "Allreduce", "Barrier", "Barrier", "Allreduce"]
    theirs = ["Barrier", "Allreduce", "Allreduce", "Barrier", "Barrier"]
    one = trace(
        ours,
        [
            [[test, receive], [], [], [], [], []],
            [[test], [], [], [], [], []],
            [[], [], [], ["Recv peer 0 tag 0"], [], []],
        ],
    )
    other = trace(
        theirs,
        [
            [[], [], [test], [receive], []],
            [[receive], [], [], [], []],
            [[test], [], [], [], []],
        ],
    )

    found = said(one, other)

    assert found[0] == found[1] == found[2]


@examples(0.2)
@given(at=st.integers(0, 8))
def test_what_all_threads_did_in_order_says_which_collective_is_missing(at):
    plain = [[f"Send peer 0 tag 1 sent {8 << k}"] for k in range(8)]
    own = [f"Send peer 0 tag {90 + k} sent 8" for k in range(3)]
    one = trace(["Allreduce"] * 8, [plain] * RANKS)
    other = trace(["Allreduce"] * 9, [[*plain[:at], own, *plain[at:]]] * RANKS)

    found = said(one, other)

    known = {(k, k + (k >= at)) for k in range(8) if k != at - 1}
    assert found[0] == found[1] == found[2]
    assert known <= found[0]
