"""Iterations that change in steps are told as segments, each with what explains it."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import command
import oracles.change_points as oracle
from burstline.show.structure import LoopTableView
from burstline.structure import detect, loop_table, segments
from burstline.structure.tables.change_points import change_points, cheapest, normal_scores
from burstline.structure.tables.segments import Spent
from burstline.testing import trace_of
from loop_programs import Do, loop, run

RANKS = 4
SEND, REDUCE = 9, 12
WORK_NS, SEND_NS, REDUCE_NS = 100, 10, 10


def program(
    iterations,
    *,
    work=lambda _rank, _step: 0,
    send=lambda _rank, _step: 0,
    reduce=lambda _step: 0,
    seed=0,
):
    """Give the text of a loop that computes, sends, computes and reduces; `more` ns by step."""
    draw = random.Random(seed)  # noqa: S311 -- no secret
    now, told = [0] * RANKS, [[str(rank)] for rank in range(RANKS)]
    for step in range(iterations):
        for rank, lines in enumerate(told):
            now[rank] += WORK_NS + draw.randint(0, 5)
            peer = (rank + 1) % RANKS
            lines.append(f"{now[rank]} enter MPI_Send path 0 peer {peer} sent 8")
            now[rank] += SEND_NS + send(rank, step)
            lines.append(f"{now[rank]} leave")
            now[rank] += WORK_NS + draw.randint(0, 5) + work(rank, step)
            lines.append(f"{now[rank]} enter MPI_Allreduce path 1")
        now = [max(now) + REDUCE_NS + reduce(step)] * RANKS
        for lines in told:
            lines.append(f"{now[0]} leave")
    head = [f"ranks {RANKS}"]
    head += [f"path {k} main file ring.c line {line}" for k, line in enumerate((SEND, REDUCE))]
    return "\n".join([*head, *(line for lines in told for line in lines)])


def told(*arguments, **more):
    """Give the segments of the loop of a program, and the line that says its trend."""
    trace = trace_of(program(*arguments, **more))
    structure = detect(trace)
    table = loop_table(trace, structure, 1)
    found = segments(trace, structure, table)
    facts = next(iter(LoopTableView(table, segments=found).blocks()))
    return found, dict(facts.pairs)["trend"]


def where(segment):
    """Give what explains a segment: the kind of time, the line of the call, the rank."""
    change = segment.change
    return change.kind, change.site.path[-1].line, change.rank


def test_a_rank_that_computes_longer_from_an_iteration_on_explains_the_step():
    found, trend = told(60, work=lambda rank, step: 200 * (rank == 2 and step >= 20))

    assert [(each.first, each.last) for each in found] == [(1, 20), (21, 60)]
    assert found[0].change is None
    assert where(found[1]) == ("computing", REDUCE, 2)  # and not the others, which wait for it
    change = found[1].change
    assert change.ranks == 1
    assert change.now_ns - change.before_ns == pytest.approx(200, abs=5)
    assert change.share == pytest.approx(1, abs=0.05)
    assert found[1].median_ns - found[0].median_ns == pytest.approx(200, abs=5)
    assert trend.startswith("1 step, from ")
    assert trend.endswith("at iteration 21")


def test_a_call_that_takes_longer_on_one_rank_explains_what_the_others_wait_for():
    found, _ = told(60, send=lambda rank, step: 200 * (rank == 1 and step >= 40))

    assert [(each.first, each.last) for each in found] == [(1, 40), (41, 60)]
    assert where(found[1]) == ("MPI", SEND, 1)
    assert (found[1].change.before_ns, found[1].change.now_ns) == (SEND_NS, SEND_NS + 200)


def test_a_collective_that_takes_longer_on_all_ranks_explains_the_step_itself():
    found, _ = told(60, reduce=lambda step: 200 * (step >= 30))

    assert [each.first for each in found] == [1, 31]
    assert found[1].change.kind == "MPI"
    assert found[1].change.site.operation == "MPI_Allreduce"
    assert found[1].change.ranks == RANKS


def test_each_of_several_steps_has_its_own_explanation():
    found, trend = told(
        100,
        work=lambda rank, step: 200 * (rank == 3 and 20 <= step < 70),
        reduce=lambda step: 150 * (step >= 45),
    )

    assert [(each.first, each.last) for each in found] == [
        (1, 20), (21, 45), (46, 70), (71, 100),
    ]  # fmt: skip
    assert where(found[1]) == ("computing", REDUCE, 3)
    assert where(found[2])[:2] == ("MPI", REDUCE)
    assert where(found[3]) == ("computing", REDUCE, 3)
    assert found[3].change.now_ns < found[3].change.before_ns
    assert trend.startswith("3 steps")


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (lambda _rank, _step: 0, "none beyond chance"),
        (lambda _rank, step: 5000 * (step == 33), ""),  # a slow iteration is no segment
        (lambda _rank, step: 4 * step, "+4 ns an iteration"),
    ],
)
def test_what_does_not_change_in_steps_has_no_segments(work, said):
    found, trend = told(80, work=work)

    assert found == ()
    assert said in trend
    assert ("over the loop" in trend) == ("+4" in said)


def test_a_call_that_some_iterations_alone_make_explains_why_they_last_longer():
    more = Do("Bcast", 20, when=lambda turn: turn >= 30)
    trace = run(loop(60, Do("Send", 9), more, Do("Barrier", 30)), ranks=2)
    structure = detect(trace, method="exact")

    found = segments(trace, structure, loop_table(trace, structure, 1))

    assert [each.first for each in found] == [1, 31]
    assert where(found[1])[:2] == ("computing", 20)
    assert (found[1].change.before_ns, found[1].change.now_ns) == (0, 100)
    assert found[1].change.ranks == 2


@given(
    trips=st.lists(st.integers(1, 4), min_size=6, max_size=9),
    ranks=st.integers(1, 3),
    every=st.integers(1, 3),
    bounds=st.tuples(st.integers(1, 4), st.integers(5, 10)),
)
def test_what_iterations_usually_spend_is_what_the_slow_twin_says(trips, ranks, every, bounds):
    body = loop(
        len(trips),
        loop(trips, Do("Send", 9, work_ns=30)),
        Do("Bcast", 11, when=lambda turn: turn % every == 0),
        Do("Barrier", 12),
    )
    trace = run(body, ranks=ranks)
    structure = detect(trace, method="exact", min_share=0)
    for each in structure.loops:
        table = loop_table(trace, structure, each.id)
        spent = Spent(trace, structure, table)

        usual = spent.usual_ns(*bounds)

        expected = oracle.usual(trace, structure, table, *bounds)
        found = {
            (int(spent.ranks[lane]), ("computing", "MPI")[kind], site): usual[lane, site, kind]
            for lane, site, kind in np.argwhere(usual).tolist()
        }
        assert found == {key: value for key, value in expected.items() if value}


SERIES = st.lists(st.integers(0, 12), min_size=4, max_size=11)


@given(values=SERIES, price=st.floats(0.1, 6))
def test_no_other_change_points_cost_less(values, price):
    scores = normal_scores(np.array(values, float))

    places = cheapest(scores, price)

    assert scores.tolist() == pytest.approx(oracle.normal_scores(values))
    cost = oracle.cost(scores.tolist(), places, price)
    assert cost == pytest.approx(oracle.least_cost(scores.tolist(), price))


@given(values=st.lists(st.integers(1, 50), max_size=80), factor=st.sampled_from([0.25, 2, 64]))
def test_the_unit_of_time_does_not_matter(values, factor):
    series = np.array(values, float)

    assert change_points(factor * series) == change_points(series)


def planted(levels, seed, noise):
    """Give a series of (level, length) with noise, and where its levels begin."""
    values = np.repeat(*np.array(levels).T).astype(float)
    return values + noise(np.random.default_rng(seed), len(values)), np.cumsum(
        [length for _, length in levels]
    )[:-1].tolist()


def normal(draw, count):
    return draw.normal(0, 2, count)


def heavy(draw, count):
    """Give noise in which one value in twenty is far out."""
    return draw.normal(0, 2, count) + 500 * (draw.random(count) < 0.05)


@pytest.mark.parametrize("noise", [normal, heavy])
@pytest.mark.parametrize(
    "levels",
    [
        [(100, 40), (140, 60)],
        [(100, 40), (140, 20), (100, 60)],
        [(100, 50), (60, 50), (140, 50)],
        [(100, 30), (120, 30), (140, 30), (160, 30), (20, 30)],
        [(100, 700), (130, 900), (100, 800)],
    ],
)
def test_planted_steps_are_found_where_they_are(levels, noise):
    # which level a value far out belongs to, where one begins, nobody can tell
    near = 0 if noise is normal else 2
    seeds = 4 if sum(length for _, length in levels) > 1000 else 20
    found = 0
    for seed in range(seeds):
        values, places = planted(levels, seed, noise)
        claimed = change_points(values)
        found += len(claimed) == len(places) and all(
            abs(each - place) <= near for each, place in zip(claimed, places, strict=True)
        )

    assert found >= 0.9 * seeds


@pytest.mark.parametrize(
    "noise", [normal, heavy, lambda draw, count: draw.exponential(9, count)]
)
@pytest.mark.parametrize("count", [5, 20, 100])
def test_noise_has_no_change_points(noise, count):
    claimed = sum(bool(change_points(planted([(100, count)], s, noise)[0])) for s in range(40))

    assert claimed <= 1


def test_slow_iterations_that_come_in_groups_are_no_segments():
    claimed = 0
    for seed in range(40):
        draw = np.random.default_rng(seed)
        values = [0.0]
        for step in draw.normal(0, 2, 200):
            values.append(0.5 * values[-1] + step)
        claimed += bool(change_points(100 + np.array(values)))

    assert claimed <= 4


@pytest.mark.parametrize("noise", [normal, heavy, lambda _, count: np.zeros(count)])
@pytest.mark.parametrize("count", [20, 100])
def test_a_slope_has_no_change_points(noise, count):
    slope = 60 / count * np.arange(count)

    claimed = sum(
        bool(change_points(slope + planted([(100, count)], s, noise)[0])) for s in range(20)
    )

    assert claimed <= 1


def test_steps_are_shown_and_are_in_the_document(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    path = tmp_path / "a.txt"
    path.write_text(program(60, work=lambda rank, step: 200 * (rank == 2 and step >= 20)))

    shown = command.burstline("structure", path, "--iterations", "1").stdout
    written = command.burstline(
        "structure", path, "--iterations", "1", "--format", "json"
    ).stdout

    (line,) = [line for line in shown.splitlines() if line.startswith("  21:60 ")]
    assert "computing before MPI_Allreduce, ring.c:12" in line
    first, second = json.loads(written)["segments"]
    assert (first["first"], first["last"], first["change"]) == (1, 20, None)
    assert second["change"]["operation"] == "MPI_Allreduce"
    assert second["change"]["file"] == "ring.c"
    assert second["change"]["rank"] == 2
