"""Partners that change with the iteration are told by it."""

from __future__ import annotations

import pytest

from burstline.structure import detect
from burstline.testing import trace_of

WORLD = 8


def exchange(partner_of, *, rounds, steps):
    """Give a program whose ranks send to, and receive from, another one in each iteration."""
    lines = [f"ranks {WORLD}", "path 0 main file a.c line 3"]
    partners = {
        rank: [partner_of(rank, step) for _ in range(rounds) for step in range(steps)]
        for rank in range(WORLD)
    }
    sources = [
        {partners[rank][k]: rank for rank in range(WORLD)} for k in range(rounds * steps)
    ]
    for rank in range(WORLD):
        lines.append(str(rank))
        for k, partner in enumerate(partners[rank]):
            lines.append(
                f"{20 * k} enter MPI_Sendrecv path 0 | {20 * k + 1} send to {partner} tag {k}"
            )
            lines.append(
                f"{20 * k + 5} receive from {sources[k][rank]} tag {k} | {20 * k + 6} leave"
            )
    return trace_of("\n".join(lines))


@pytest.mark.parametrize(
    ("partner_of", "steps", "law"),
    [
        (lambda rank, i: rank ^ 1 << i, 3, "rank xor 2^i, i = 0..2"),
        (lambda rank, i: rank ^ 4 >> i, 3, "rank xor 2^i, i = 2..0"),
        (
            lambda rank, i: (rank + i + 1) % WORLD,
            7,
            "to (rank+k)%8, k = 1..7, from (rank+k)%8, k = 7..1",
        ),
        (lambda rank, i: rank ^ i + 1, 7, "rank xor k, k = 1..7"),
    ],
)
def test_a_partner_that_changes_by_iteration_has_a_law_of_it(partner_of, steps, law):
    trace = exchange(partner_of, rounds=6, steps=steps)

    (loop,) = detect(trace, method="exact").loops

    (call,) = loop.calls
    assert (call.partners.law.text, call.partners.law.share) == (law, 1.0)
    assert call.partners.count == 8
    assert loop.total_iterations == 6 * steps
