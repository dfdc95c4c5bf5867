"""What calls and bursts are called tells apart what differs, and nothing else."""

from __future__ import annotations

import numpy as np

import by_hand
from burstline.identity import sites_of, tokens_of
from burstline.identity.tokens import LOOSE
from burstline.testing import trace_of


def sites(*calls, ranks=3):
    """Sites of calls without call paths, each of (rank, peer, communicator)."""
    of_rank = [[call for call in calls if call[0] == rank] for rank in range(ranks)]
    rows = by_hand.calls_of(*([("Send", k, k + 1) for k in range(len(own))] for own in of_rank))
    told = [call for own in of_rank for call in own]
    rows = [
        row | {"peer": peer, "communicator": communicator}
        for row, (_, peer, communicator) in zip(rows, told, strict=True)
    ]
    trace = by_hand.trace_of(locations=by_hand.threads(*[(0, 9)] * ranks), calls=rows)
    return sites_of(trace, np.arange(len(rows)), ranks).of_call.tolist()


def test_without_paths_the_partner_counts_from_the_rank_and_around_the_end():
    assert sites((0, 1, 0), (1, 2, 0), (2, 0, 0)) == [0, 0, 0]
    assert sites((0, 1, 0), (0, 2, 0)) == [0, 1]


def test_without_paths_the_communicator_tells_calls_apart():
    assert sites((0, 1, 0), (0, 1, 1), (0, 1, None)) == [1, 2, 0]


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
