"""What holds for the scalability of every run, whatever was counted in it."""

from fractions import Fraction
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstline import scalability
from burstline.testing import trace_of

amounts = st.none() | st.integers(1, 100)
bursts = st.tuples(st.integers(1, 50), amounts, amounts)
runs = st.lists(st.lists(bursts, min_size=1, max_size=4), min_size=1, max_size=4)
scalings = st.sampled_from(["strong", "weak"])
FACTORS = ("instruction_scalability", "ipc_scalability", "frequency_scalability")


def run_of(ranks, scale=1):
    lines = [f"ranks {len(ranks)} | counter PAPI_TOT_INS | counter PAPI_TOT_CYC"]
    for rank, story in enumerate(ranks):
        now, events = 7, ["0 enter MPI_Init", "7 leave PAPI_TOT_INS=0 PAPI_TOT_CYC=0"]
        for number, (length, ins, cyc) in enumerate(story, 1):
            now += length * scale
            name = "MPI_Finalize" if number == len(story) else "MPI_Barrier"
            read = [f" PAPI_TOT_INS={ins}"] * (ins is not None)
            read += [f" PAPI_TOT_CYC={cyc}"] * (cyc is not None)
            events += [f"{now} enter {name}{''.join(read)}"]
            events += [f"{now} leave PAPI_TOT_INS=0 PAPI_TOT_CYC=0"]
        lines.append(f"{rank} | {' | '.join(events)}")
    return trace_of("\n".join(lines))


def ratios(run, *names):
    return tuple(run.factors[f"{name}_scalability"] for name in names)


def has_both(ranks):
    return any(None not in burst for story in ranks for burst in story)


def literal(ranks):
    """Useful time, instructions by all of it, IPC and frequency of a run with both counters."""
    every = [burst for story in ranks for burst in story]
    useful = sum(length for length, _, _ in every)
    time, ins, cyc = (sum(burst[k] for burst in every if None not in burst) for k in range(3))
    return useful, Fraction(ins * useful, time), Fraction(ins, cyc), Fraction(cyc, time)


@given(runs.filter(has_both), runs.filter(has_both), scalings)
def test_factors_are_those_of_the_literal_definition(first, other, scaling):
    ranks = Fraction(len(other), len(first)) if scaling == "weak" else 1
    base, ours = literal(first), literal(other)
    expected = base[0] / Fraction(ours[0]) * ranks, base[1] / ours[1] * ranks
    expected += ours[2] / base[2], ours[3] / base[3]
    wanted = pytest.approx(tuple(map(float, expected)))

    _, run = scalability([run_of(first), run_of(other)], scaling=scaling).runs

    assert ratios(run, "computation", "instruction", "ipc", "frequency") == wanted


@given(st.lists(runs, min_size=1, max_size=3), scalings)
def test_products_of_factors_are_what_they_are_factors_of(several, scaling):
    for run in scalability(map(run_of, several), scaling=scaling).runs:
        factors = run.factors
        split = [factors[name] for name in FACTORS]
        whole = factors["computation_scalability"]

        assert factors["global"] == pytest.approx(factors["parallel"] * whole)
        if factors["speed_scalability"] is not None:
            assert split[0] * factors["speed_scalability"] == pytest.approx(whole)
        if None not in split:
            assert prod(split) == pytest.approx(whole)


@given(runs, scalings)
def test_a_run_beside_itself_scales_in_everything(ranks, scaling):
    for run in scalability([run_of(ranks)] * 2, scaling=scaling).runs:
        every = ratios(run, "computation", "instruction", "ipc", "frequency", "speed")
        assert set(every) <= {1.0, None}
        assert run.factors["computation_scalability"] == 1


@given(runs, runs.filter(has_both), st.randoms(use_true_random=False))
def test_the_order_of_ranks_does_not_matter(first, other, random):
    shuffled = random.sample(other, len(other))

    before, after = (
        scalability([run_of(first), run_of(ranks)]).runs[1].factors
        for ranks in (other, shuffled)
    )

    assert before == after


@given(runs.filter(has_both), st.integers(2, 1000))
def test_a_slower_clock_is_frequency_and_nothing_else(ranks, scale):
    _, run = scalability([run_of(ranks), run_of(ranks, scale)]).runs

    assert run.factors["frequency_scalability"] == pytest.approx(1 / scale)
    assert ratios(run, "instruction", "ipc") == pytest.approx((1, 1))
