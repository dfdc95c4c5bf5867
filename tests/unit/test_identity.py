"""What calls and bursts are called tells apart what differs, and nothing else."""

from __future__ import annotations

from burstline.identity import tokens_of
from burstline.identity.tokens import LOOSE
from burstline.testing import trace_of


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


def unordered(*operations):
    lines = [
        f"{9 * k} enter MPI_{name} | {9 * k + 2} leave" for k, name in enumerate(operations)
    ]
    run = trace_of("ranks 1 | 0 | " + " | ".join(lines))
    return tokens_of([run], [None]).tokens[0].unordered.tolist()


def test_what_serves_whoever_comes_first_loosens_neighbours_and_completions_have_no_order():
    assert unordered("Send", "Send", "Recv", "Send", "Send", "Finalize") == [
        -1, LOOSE, LOOSE, LOOSE, -1,
    ]  # fmt: skip
    assert unordered("Send", "Waitany", "Waitany", "Send", "Send", "Finalize") == [
        LOOSE, 2, 2, LOOSE, -1,
    ]  # fmt: skip
