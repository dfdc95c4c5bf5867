"""Bursts that several runs have in common."""

from __future__ import annotations

import pyarrow as pa
import pytest

from burstline.errors import InconsistentTraceError, NotEnoughDataError, ParameterError
from burstline.merge.matching import match
from burstline.merge.model import Alignment, Published, Weights
from burstline.testing import trace_of


def run(*ranks, head=""):
    """Write a run: for each rank its calls, an operation or (operation, attributes)."""
    text = [f"ranks {len(ranks)}{head}"]
    for rank, calls in enumerate(ranks):
        text.append(str(rank))
        for k, call in enumerate(calls):
            name, more = (call, "") if isinstance(call, str) else call
            text.append(f"{10 * k} enter MPI_{name} {more}".rstrip())
            text.append(f"{10 * k + 4} leave")
    return trace_of(" | ".join(text))


def rows(matching):
    columns = (name for name in matching.pairs.column_names if name.startswith("burst_"))
    return [tuple(row.values()) for row in matching.pairs.select(list(columns)).to_pylist()]


LOOP = ["Init", *["Isend", "Irecv", "Waitall", "Allreduce"] * 3, "Finalize"]
LONGER = [*LOOP[:5], "Barrier", *LOOP[5:]]


def sends(size):
    return run(["Init", ("Send", f"peer 0 tag 1 sent {size}"), "Barrier", "Finalize"])


def similarity(matching):
    columns = rows(matching), matching.pairs["similarity"].to_pylist()
    return dict(zip(*columns, strict=True))


def test_an_extra_collective_shifts_nothing_when_aligned():
    matching = match([run(LOOP), run(LONGER)])

    assert set(rows(matching)) == {
        *((k, k) for k in range(5)),
        *((k, k + 1) for k in range(5, 13)),
        (None, 5),
    }
    assert matching.base == 0
    assert matching.matched.tolist() == [13, 13]
    assert matching.by_stage.sum(axis=1).tolist() == [13, 14]


def test_a_burst_that_the_first_run_lacks_is_matched_among_the_others():
    matching = match([run(LOOP), run(LONGER), run(LONGER)])

    assert (None, 5, 5) in rows(matching)
    assert matching.match_rate.tolist() == [1, 1, 1]


def test_what_is_left_out_of_all_runs_is_counted_by_what_lies_around_it():
    matching = match([run(["Init", "Send", "Finalize"]), run(["Init", "Recv", "Finalize"])])

    patterns = matching.patterns.to_pylist()
    missed = {(one["before"], one["after"]) for one in patterns if not one["matched_0"]}
    assert ("MPI_Send", "MPI_Finalize") in missed
    assert matching.match_rate.tolist() == [0.5, 0.5]


def test_messages_near_in_size_are_as_similar_as_the_method_went_by():
    heavy = Published(weights=Weights(size=0.9))
    matching = match([sends(1000), sends(900)])
    published = match([sends(1000), sends(900)], method="seed", options=heavy)

    assert matching.match_rate.tolist() == [1, 1]
    assert similarity(matching)[1, 1] == pytest.approx(0.2 * 0.1, abs=0.02)
    assert similarity(published)[1, 1] == pytest.approx(0.9 * 0.1)


def test_the_published_threshold_is_an_option():
    one = run([*LOOP, "Barrier"])
    other = run([*LOOP[:3], "Send", *LOOP[3:], "Barrier"])

    loose = match([one, other], method="seed")
    strict = match([one, other], method="seed", options=Published(weights=Weights(limit=0.0)))

    assert strict.matched[0] < loose.matched[0]
    assert (strict.pairs["stage"].to_numpy() != "region").all()


@pytest.mark.parametrize(
    ("runs", "options", "error", "words"),
    [
        ([[LOOP], [LOOP, LOOP]], {}, InconsistentTraceError, "run 0: 1, run 1: 2"),
        ([[LOOP]], {}, ParameterError, "at least two"),
        ([[LOOP]] * 2, {"method": "best"}, ParameterError, "align and seed"),
        ([[LOOP]] * 2, {"options": Published()}, ParameterError, "Alignment"),
        ([[LOOP]] * 2, {"base": 2}, ParameterError, "no run 2 of 2"),
        ([[["Init"]]] * 2, {}, NotEnoughDataError, "no bursts"),
    ],
)
def test_what_cannot_be_matched_is_refused(runs, options, error, words):
    with pytest.raises(error, match=words):
        match([run(*ranks) for ranks in runs], **options)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (Published, {"block": 0}),
        (Published, {"block": -1}),
        (Published, {"assignment": "best"}),
        (Alignment, {"window": 3}),
    ],
)
def test_variants_that_are_none_are_refused(kind, options):
    with pytest.raises(ParameterError):
        kind(**options)


def test_a_block_may_be_smaller_than_the_window_in_which_spans_are_aligned():
    how = Published(block=1, aligned_spans=True)

    matching = match([run(LOOP), run(LONGER)], method="seed", options=how)

    assert matching.matched.tolist() == [12, 12]


@pytest.mark.parametrize("part", [slice(7), slice(5, None), slice(3, 9)])
def test_of_a_run_that_was_cut_and_a_whole_one_the_whole_one_is_the_base(part):
    traces = [run(LOOP[part]), run(LOOP)]

    aligned, published = match(traces), match(traces, method="seed")

    assert (aligned.base, aligned.is_cut.tolist()) == (1, [True, False])
    assert (published.base, published.is_cut.tolist()) == (0, [True, False])


def test_of_runs_that_were_all_cut_the_one_that_lacks_least_of_the_others_is_the_base():
    matching = match([run(LOOP[:4]), run(LOOP[:11]), run(LOOP[:7])])

    assert (matching.base, matching.is_cut.tolist()) == (1, [False] * 3)
    assert match([run(["Init"]), run(LOOP)]).base == 1  # one without bursts is none


def farm(calls, order):
    """A run whose first rank gives a piece to whichever worker asks for one, in an order."""
    asked = [call for piece, worker in enumerate(order) for call in calls(piece, worker)]
    return run(["Init", *asked, "Barrier"], *[["Init", "Barrier"]] * 2)


@pytest.mark.parametrize(
    ("calls", "orders", "matched"),
    [
        (
            lambda _, worker: ("Recv", ("Send", f"peer {worker} tag 7 sent 8")),
            ([1, 2, 1, 2], [2, 2, 1, 2]),
            range(9),
        ),
        (
            lambda piece, worker: (
                ("Recv", f"peer {worker} tag 1 received {worker}"),
                ("Send", f"peer {worker} tag 7 sent {8 * piece}"),
            ),
            ([1, 2] * 3, [2, 1] * 3),
            range(2, 14, 2),
        ),
    ],
    ids=["to whoever asks", "whatever answers come first"],
)
def test_what_is_handed_out_is_matched_in_the_order_it_is_handed_out(calls, orders, matched):
    matching = match([farm(calls, order) for order in orders])

    first = matching.pairs.filter(pa.compute.equal(matching.pairs["rank"], 0))
    pairs = zip(first["burst_0"].to_pylist(), first["burst_1"].to_pylist(), strict=True)
    assert {(k, k) for k in matched} <= set(pairs)
    assert matched != range(9) or len(first) == 9
