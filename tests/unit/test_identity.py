"""What calls and bursts are called tells apart what differs, and nothing else."""

from __future__ import annotations

import numpy as np

import by_hand
from burstline.identity import sites_of, tokens_of
from burstline.identity.tokens import LOOSE, LoopTurns
from burstline.testing import trace_of


def sites_found(*calls, ranks=3):
    """Sites of calls without call paths, each of (rank, peer, communicator)."""
    of_rank = [[call for call in calls if call[0] == rank] for rank in range(ranks)]
    rows = by_hand.calls_of(*([("Send", k, k + 1) for k in range(len(own))] for own in of_rank))
    told = [call for own in of_rank for call in own]
    rows = [
        row | {"peer": peer, "communicator": communicator}
        for row, (_, peer, communicator) in zip(rows, told, strict=True)
    ]
    trace = by_hand.trace_of(locations=by_hand.threads(*[(0, 9)] * ranks), calls=rows)
    return sites_of(trace, np.arange(len(rows)), ranks)


def test_without_paths_a_site_is_a_communicator_and_a_distance():
    distinct = sites_found((0, None, None), (0, 1, 0), (0, 2, 0), (0, 1, 1)).distinct

    assert [(site.communicator, site.offset) for site in distinct] == [
        (None, None),
        (0, 1),
        (0, 2),
        (1, 1),
    ]


def test_bursts_are_placed_in_the_span_since_the_last_collective():
    run = trace_of("""
        ranks 2
        0 | 0 enter MPI_Send | 2 leave
          | 4 enter MPI_Comm_rank | 4 leave | 6 enter MPI_Comm_rank | 7 leave
          | 9 enter MPI_Barrier | 9 begin | 12 end | 12 leave | 20 enter MPI_Finalize | 21 leave
        1 | 0 enter MPI_Comm_rank | 1 leave
          | 9 enter MPI_Barrier | 9 begin | 12 end | 12 leave | 20 enter MPI_Finalize | 21 leave
    """)

    tokens = tokens_of([run], [None]).tokens[0]

    assert tokens.span.tolist() == [0, 0, 0, 1, 0, 1]
    assert tokens.place.tolist() == [0, 0.4, 1, 0, 0, 0]
    assert tokens.sizes[0].tolist() == [0] * 6


def test_a_burst_takes_the_partner_and_size_of_what_the_call_before_it_completed():
    message = {"sender_location": 1, "receiver_location": 0, "send_call": 0, "receive_call": 0}
    burst = {"location": 0, "start_ns": 5, "end_ns": 9, "call_before": 0}
    run = by_hand.trace_of(
        locations=by_hand.threads((0, 9), (0, 9)),
        calls=by_hand.calls_of([("Wait", 0, 5)], [("Send", 0, 2)]),
        messages=[message | {"received_bytes": 16}],
        bursts=[burst],
    )

    tokens = tokens_of([run], [None]).tokens[0]

    assert tokens.partners[0].tolist() == [1]
    assert tokens.sizes[0].tolist() == [16]


def test_call_paths_distinguish_bursts_if_runs_share_half_of_them():
    def run(*functions):
        paths = [f"path {k} {name}" for k, name in enumerate(functions)]
        calls = [f"{k} enter MPI_Send path {k} | {k} leave" for k in range(len(functions))]
        return trace_of(" | ".join(["ranks 1", *paths, "0", *calls]))

    def has_paths(one, other):
        return tokens_of([run(*one), run(*other)], [None, None]).has_paths

    assert has_paths("abcd", "abxy")
    assert not has_paths("abc", "axy")


def test_loops_distinguish_bursts_if_runs_share_half_of_them():
    run = trace_of(
        "ranks 1 | 0 " + "".join(f"| {k} enter MPI_Send | {k} leave " for k in range(4))
    )
    turn = np.zeros(4, np.int32)
    mostly_other = LoopTurns(np.array([0, 0, 0, 1]), turn, ["x", "y"])
    half_of_it = LoopTurns(np.array([0, 0, 1, 1]), turn, ["x", "y"])
    same = LoopTurns(np.array([0, 0, 0, 0]), turn, ["y"])

    assert tokens_of([run, run], [half_of_it, same]).has_loops
    assert not tokens_of([run, run], [mostly_other, same]).has_loops


def unordered(*operations):
    lines = [
        f"{9 * k} enter MPI_{name} | {9 * k + 2} leave" for k, name in enumerate(operations)
    ]
    run = trace_of("ranks 1 | 0 | " + " | ".join(lines))
    return tokens_of([run], [None]).tokens[0].unordered.tolist()


def test_what_may_serve_whoever_comes_first_loosens_its_neighbours():
    assert unordered("Send", "Send", "Recv", "Send", "Send", "Finalize") == [
        -1,
        LOOSE,
        LOOSE,
        LOOSE,
        -1,
    ]


def test_completions_of_one_site_beside_each_other_have_no_order():
    assert unordered("Send", "Waitany", "Waitany", "Send", "Send", "Finalize") == [
        LOOSE,
        2,
        2,
        LOOSE,
        -1,
    ]
