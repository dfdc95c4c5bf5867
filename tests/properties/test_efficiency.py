"""What holds for the efficiency of every run."""

import math

from hypothesis import given
from hypothesis import strategies as st

from burstline import summarise
from burstline.model import waiting_in
from by_hand import calls_of, threads, trace_of
from oracles.efficiency import factors, factors_of_trace, waiting

END = 60
moments = st.integers(0, END)


@st.composite
def stories(draw):
    """Draw the disjoint calls of a rank: perhaps Init, some barriers, perhaps Finalize."""
    stamps = sorted(draw(st.lists(moments, max_size=8)))
    pairs = list(zip(stamps[::2], stamps[1::2], strict=False))
    names = ["Barrier"] * len(pairs)
    if pairs and draw(st.booleans()):
        names[0] = "Init"
    if len(pairs) > 1 and draw(st.booleans()):
        names[-1] = "Finalize"
    return [(name, *pair) for name, pair in zip(names, pairs, strict=True)]


intervals = st.tuples(moments, moments).map(sorted).map(tuple)
ranks = st.tuples(stories(), st.lists(intervals, max_size=3).map(sorted))
runs = st.lists(ranks, min_size=1, max_size=4)


def run_of(run, scale=1, shift=0):
    def place(*times):
        return [time * scale + shift for time in times]

    return trace_of(
        locations=threads(*[place(0, END)] * len(run)),
        calls=calls_of(*([(name, *place(*at)) for name, *at in story] for story, _ in run)),
        gaps=[
            dict(zip(("location", "start_ns", "end_ns"), (rank, *place(*gap)), strict=True))
            for rank, (_, gaps) in enumerate(run)
            for gap in gaps
        ],
    )


def efficiency(trace):
    return summarise(trace).efficiency


def values(result):
    return result.parallel, result.load_balance, result.communication


@given(runs)
def test_the_fold_agrees_with_its_twin(run):
    expected = factors(
        [(0, END)] * len(run), [story for story, _ in run], [gaps for _, gaps in run]
    )

    result = efficiency(run_of(run))

    assert values(result) == (
        (None, None, None) if expected is None else tuple(map(float, expected))
    )


amounts = st.integers(0, 2 * END)


@given(
    st.lists(st.tuples(intervals, amounts, amounts, amounts, st.none() | amounts), min_size=1),
    st.integers(0, END),
)
def test_waiting_in_polls_agrees_with_its_twin(bursts, bound):
    rows = [
        {
            "burst": number, "start_ns": start, "end_ns": end, "gap_ns": unwatched,
            "polls": polls, "polling_ns": polling, "waiting_ns": measured,
        }
        for number, ((start, end), unwatched, polls, polling, measured) in enumerate(bursts)
    ]  # fmt: skip
    table = trace_of(locations=threads((0, END)), bursts=rows).bursts

    expected = [waiting(end - start, *others, bound=bound) for (start, end), *others in bursts]

    assert waiting_in(table, bound).tolist() == expected


@given(st.lists(st.lists(intervals, max_size=3), min_size=1, max_size=4))
def test_the_span_of_the_trace_agrees_with_its_twin(running):
    lives = [(rank, END + rank) for rank in range(len(running))]
    states = [
        {"location": rank, "begin_ns": begin, "end_ns": end, "state": state}
        for rank, of_rank in enumerate(running)
        for begin, end in sorted(of_rank)
        for state in (1, 3)
    ]
    calls = calls_of(*[[("Barrier", 50, 55)]] * len(running))
    trace = trace_of(locations=threads(*lives), calls=calls, states=states)

    result = summarise(trace, span="trace").efficiency

    outside_mpi = [[(born, 50), (55, died)] for born, died in lives]
    of_ranks = running if any(running) else outside_mpi
    assert values(result) == tuple(map(float, factors_of_trace(lives, of_ranks)))


@given(runs)
def test_parallel_efficiency_is_the_product_of_its_factors_and_all_lie_in_0_to_1(run):
    result = efficiency(run_of(run))

    if result.parallel is not None:
        assert math.isclose(
            result.parallel, result.load_balance * result.communication, abs_tol=1e-15
        )
        assert all(0 <= value <= 1 for value in values(result))


@given(runs, st.integers(1, 10**9), st.integers(0, 10**15))
def test_scaling_time_leaves_the_efficiencies_and_shifting_it_all(run, scale, shift):
    assert values(efficiency(run_of(run, scale=scale))) == values(efficiency(run_of(run)))
    assert efficiency(run_of(run, shift=shift)) == efficiency(run_of(run))


@given(runs, st.randoms(use_true_random=False))
def test_renaming_ranks_permutes_useful_time_and_does_nothing_else(run, random):
    order = list(range(len(run)))
    random.shuffle(order)

    before = efficiency(run_of(run))
    after = efficiency(run_of([run[rank] for rank in order]))

    assert values(after) == values(before)
    if before.parallel is not None:
        assert after.useful_ns == tuple(before.useful_ns[rank] for rank in order)
