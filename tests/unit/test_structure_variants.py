"""Programs of which the calls alone tell another story than their lines and their counts do."""

from __future__ import annotations

import numpy as np
import pytest

from burstline import _core
from burstline.show.code_lines import pseudocode
from burstline.structure import detect
from burstline.structure.exact.body import Cost, loop_cost
from loop_programs import Do, If, loop, run

STEPS = 6


def listing(*program, ranks=1, **options):
    """Give the pseudo-code of a program, but for its initialisation and finalisation."""
    found = detect(run(*program, ranks=ranks, **options), method="exact")
    lines = [
        "  " * line.depth + line.text.partition("  #")[0].partition("(")[0]
        for line in pseudocode(found)
    ]
    return [line for line in lines if line not in {"MPI_Init", "MPI_Finalize"}]


@pytest.mark.parametrize(
    ("times", "said"), [(9, "for 1 to 9:"), (lambda turn: 8 + turn.rank, "for 1 to 8..9")]
)
def test_entries_of_a_loop_that_no_call_parts_are_parted_by_count(times, said):
    now_and_then = Do("Recv", 11, when=lambda k: k in {1, 4, 6})
    inner = loop(times, Do("Send", 10), now_and_then, Do("Wait", 12))
    before = Do("Bcast", 9, when=lambda k: k != 3)
    behind = Do("Barrier", 14, when=lambda k: k != 2)

    shown = [line.rstrip() for line in listing(loop(8, before, inner, behind), ranks=2)]

    assert shown == [
        "for 1 to 8:",
        "  if iteration not in {4}:",
        "    MPI_Bcast",
        f"  {said}",
        "    MPI_Send",
        "    if iteration in {2, 5, 7}:",
        "      MPI_Recv",
        "    MPI_Wait",
        "  if iteration not in {3}:",
        "    MPI_Barrier",
    ]


def test_a_loop_that_makes_no_call_itself_is_found_by_what_its_iterations_repeat():
    inner = loop(
        8,
        Do("Send", 10),
        Do("Bcast", 11, when=lambda k: k in {1, 4, 6}),
        Do("Recv", 12, when=lambda k: k in {2, 3, 7}),
        Do("Barrier", 13, when=lambda k: k == 7),
    )

    shown = listing(loop(5, inner))

    assert shown[:2] == ["for 1 to 5:", "  for 1 to 8:"]
    assert "    if iteration in {2, 5, 7}:" in shown


def test_a_call_of_the_last_iteration_stands_where_its_line_does_with_its_branch():
    branches = (Do("Bcast", 12, when=lambda k: k == 0), Do("Reduce", 13, when=lambda k: k == 0))
    last = Do("Barrier", 11, when=lambda k: k > 0)
    inner = loop(2, Do("Send", 10), last, *branches)

    assert listing(loop(STEPS, Do("Recv", 9), inner, Do("Allreduce", 20))) == [
        "for 1 to 6:",
        "  MPI_Recv",
        "  for 1 to 2:",
        "    MPI_Send",
        "    if not first iteration:",
        "      MPI_Barrier",
        "    else:",
        "      MPI_Bcast",
        "      MPI_Reduce",
        "  MPI_Allreduce",
    ]
    assert listing(Do("Recv", 9), loop(2, last, *branches, Do("Wait", 14))) == [
        "MPI_Recv",
        "for 1 to 2:",
        "  if not first iteration:",
        "    MPI_Barrier",
        "  else:",
        "    MPI_Bcast",
        "    MPI_Reduce",
        "  MPI_Wait",
    ]


def nine_or_more(turn):
    return 9 + turn.rank


@pytest.mark.parametrize(
    ("times", "inner", "said"),
    [
        (nine_or_more, 9, ["for 1 to 9..10", "  for 1 to 9:"]),
        (9, nine_or_more, ["for 1 to 9:", "  for 1 to 9..10"]),
        (lambda turn: 7 + turn.rank, nine_or_more, ["for 1 to 7..8", "  for 1 to 9..10"]),
    ],
)
def test_two_loops_that_look_like_one_are_told_apart_by_what_repeats(times, inner, said):
    body = (
        Do("Send", 10, when=lambda k: k % 4 == 3),
        Do("Bcast", 11, when=lambda k: k > 0),
        Do("Recv", 12),
        Do("Reduce", 13, when=lambda k: k in {1, 2, 6}),
    )

    shown = listing(
        loop(times, Do("Wait", 9, when=lambda k: k == 4), loop(inner, *body)), ranks=2
    )

    assert [line.rstrip() for line in shown if "for" in line] == said


@pytest.mark.parametrize("ranks", [1, 3])
def test_entries_that_grow_are_parted_where_no_call_does(ranks):
    inner = loop(
        lambda turn: 7 + 2 * turn, Do("Send", 10), Do("Recv", 11, when=lambda k: k in {1, 4})
    )
    behind = Do("Barrier", 12, when=lambda k: k in {0, 1, 3}, ranks=[0, 1])

    shown = [line.rstrip() for line in listing(loop(6, inner, behind), ranks=ranks)]

    assert shown[:2] == ["for 1 to 6:", "  for 1 to n, n = 7, 9, .., 17:"]


def test_entries_that_grow_are_told_apart_by_what_repeats():
    body = (Do("Send", 10), Do("Recv", 11, when=lambda k: k in {1, 4}), Do("Wait", 12))
    other = Do("Bcast", 13, when=lambda k: k in {2, 3})

    shown = listing(loop(8, loop(lambda turn: 6 + turn, *body, other)))

    assert shown[:2] == ["for 1 to 8:", "  for 1 to n, n = 6, 7, .., 13:"]


def test_a_condition_may_begin_with_a_call_that_it_makes_now_and_then():
    part = If(
        lambda k: k % 3 == 1,
        (Do("Barrier", 11, when=lambda k: k < k.total - 1), Do("Bcast", 12)),
    )
    entries = loop(lambda turn: 2 + 3 * turn, Do("Send", 10), part)

    shown = listing(loop(4, entries, Do("Recv", 20)))

    at = shown.index("    if every 3rd iteration, from iteration 2:")
    assert shown[at + 1 : at + 4] == [
        "      if not last iteration:",
        "        MPI_Barrier",
        "      MPI_Bcast",
    ]


def test_the_plainer_of_two_rules_is_said():
    part = If(
        lambda k: k not in {2, 4, 6}, (Do("Barrier", 11), Do("Bcast", 12, when=lambda k: k < 7))
    )

    shown = listing(loop(8, Do("Send", 10), part, Do("Recv", 13)))

    assert "    if not last iteration:" in shown


def test_conditions_are_nested_as_deep_as_they_were_written():
    now_and_then = Do("Send", 13, when=lambda k: k == 3)
    inner = If(lambda k: k > 0, (Do("Reduce", 12), now_and_then, Do("Bcast", 14)))
    outer = If(lambda k: k < k.total - 1, (Do("Barrier", 11), inner))

    assert listing(loop(5, Do("Recv", 10), outer)) == [
        "for 1 to 5:",
        "  MPI_Recv",
        "  if not last iteration:",
        "    MPI_Barrier",
        "    if not first iteration:",
        "      MPI_Reduce",
        "      if iteration == 4:",
        "        MPI_Send",
        "      MPI_Bcast",
    ]


def test_a_condition_may_be_around_others_that_never_hold_together():
    some = {1, 3, 9, 11, 13, 21, 27, 29, 35}
    either = (
        Do("Barrier", 11, when=lambda k: k in some),
        Do("Bcast", 12, when=lambda k: k % 2 and k not in some),
    )

    shown = listing(loop(40, Do("Recv", 10), *either, Do("Wait", 13)))

    assert [line.strip() for line in shown if ":" in line] == [
        "for 1 to 40:",
        "if every 2nd iteration:",
        "if in 45.0 % of the iterations:",
        "else:",
    ]


def test_of_conditions_as_short_those_of_fewer_branches_are_written():
    calls = (Do("Send", 11, when=lambda k: k == 1), Do("Bcast", 12, when=lambda k: k == 2))

    shown = listing(loop(3, Do("Recv", 10), *calls, Do("Wait", 13)))

    assert [line for line in shown if ":" in line] == [
        "for 1 to 3:",
        "  if iteration == 2:",
        "  if last iteration:",
    ]


def test_without_lines_ranks_that_make_other_calls_run_one_program():
    calls = ("Send", "Allreduce", "Bcast", "Allreduce", "Recv")
    step = [
        Do(name, 10 + k, ranks=[0] if name == "Bcast" else None) for k, name in enumerate(calls)
    ]

    shown = listing(loop(lambda turn: 4 + turn.rank, *step), ranks=3, paths=False)
    row = listing(loop(5, Do("Send", 10), Do("Wait", 11), Do("Wait", 12)), paths=False)

    assert sum(line.strip() == "MPI_Send" for line in shown) == 1
    assert sum(line.strip() == "MPI_Recv" for line in shown) == 1
    assert row == ["for 1 to 5:", "  MPI_Send", "  MPI_Wait", "  MPI_Wait"]  # no loop of two


def sites_of(lane):
    """Fold a lane, and give the site of each of its symbols."""
    kinds = np.arange(max(lane) + 1, dtype=np.int32)
    begin = np.array([0, len(lane)])
    site, symbol = _core.fold_sites(np.array(lane, np.int32), begin, kinds, 3, 10**6)
    assert symbol[site].tolist() == lane
    return site.tolist()


@pytest.mark.parametrize(
    ("lane", "sites"),
    [
        ([0, 1, 2, 3] * 5 + [1, 2, 3], 4),
        ([0, 1, 2, 3, 4] * 5 + [1, 3], 7),
        ([0, 1, 2] * 4 + [0, 1] * 3 + [9], 4),
        ([7, *[0, 1, 2, 3] * 4, 1, 2, 3] * 5 + [8], 6),
    ],
    ids=[
        "an iteration without its first call is one of the loop",
        "what saves less than its conditions cost, before, between and behind, is none",
        "a loop that leaves calls out is a part of the one beside it",
        "what stands beside a loop in another is one of its iterations",
    ],
)
def test_calls_are_of_one_site_where_that_is_shorter(lane, sites):
    assert len(set(sites_of(lane))) == sites


def test_of_two_loops_as_short_as_one_the_one_of_plainer_rules_is_read():
    inner = loop(8, Do("Recv", 10))
    now_and_then = (Do("Barrier", 11), loop(2, Do("Irecv", 13)))
    some_rank = Do("Wait", 14, ranks=[1])
    program = loop(STEPS, inner, If(lambda k: k > 0, now_and_then), some_rank)

    shown = listing(program, ranks=2)

    assert shown == [
        "for 1 to 6:",
        "  for 1 to 8:",
        "    MPI_Recv",
        "  if not first iteration:",
        "    MPI_Barrier",
        "    for 1 to 2:",
        "      MPI_Irecv",
        "  if rank == 1:",
        "    MPI_Wait",
    ]


def test_of_two_readings_as_long_the_one_in_the_order_of_lines_is_chosen():
    in_order, against = Cost(length=9, conditions=3), Cost(length=9, conditions=2, disorder=1)

    assert in_order.rank < against.rank


@pytest.mark.parametrize(
    ("trips", "unexplained"),
    [([5, 5, 5], 0), ([3, 5, 4, 6], 0), ([2, 3, 4, 5, 6], 0), ([1, 2, 1, 1, 3, 1], 1)],
)
def test_trip_counts_are_open_that_nobody_reads_one_by_one(trips, unexplained):
    begins = np.concatenate([np.arange(n) == 0 for n in trips])
    everything = np.ones((1, len(begins)), bool)

    cost = loop_cost(everything, begins, np.zeros(len(begins), int))

    assert cost.unexplained == unexplained


def test_many_neighbours_with_conditions_take_no_fourth_power():
    """Each pair of them may have a condition around it, with the same question inside."""
    many = 600  # the fourth power would take an hour
    executed = np.random.default_rng(3).random((many, 40)) < 0.5
    executed[::2] = np.arange(40) % 7 != 3
    executed[1::2] &= executed[0]

    cost = loop_cost(executed, np.arange(40) == 0, np.zeros(40, int))

    assert cost.length > 2 * many


def test_entries_that_end_earlier_tell_where_iterations_end():
    # the second iteration makes 14 alone and the third 15 and 16: only an entry of two tells
    inner = loop(
        lambda turn: 2 + turn,
        Do("Barrier", 14, when=lambda k: k not in {0, 2, 5}),
        Do("Send", 15, when=lambda k: k in {2, 3}),
        Do("Allreduce", 16, when=lambda k: k not in {1, 4, 6}),
    )

    shown = listing(loop(8, Do("Bcast", 10), inner, Do("Recv", 20)))

    assert shown == [
        "for 1 to 8:",
        "  MPI_Bcast",
        "  for 1 to n, n = 2, 3, .., 9:",
        "    if iteration not in {1, 3, 6}:",
        "      MPI_Barrier",
        "    if iteration in {3, 4}:",
        "      MPI_Send",
        "    if iteration not in {2, 5, 7}:",
        "      MPI_Allreduce",
        "  MPI_Recv",
    ]


def test_the_longest_entry_tells_where_the_last_iteration_of_another_begins():
    # in the entry of five, the fourth makes 31 alone and the fifth 32 alone
    inner = loop(
        lambda turn: 3 + 2 * turn,
        Do("Recv", 31, when=lambda k: k < k.total - 1),
        Do("Isend", 32, when=lambda k: k != 3),
    )

    shown = listing(loop(7, Do("Bcast", 26), inner))

    assert shown == [
        "for 1 to 7:",
        "  MPI_Bcast",
        "  for 1 to n, n = 3, 5, .., 15:",
        "    if not last iteration:",
        "      MPI_Recv",
        "    if iteration not in {4}:",
        "      MPI_Isend",
    ]


def test_two_steps_lead_to_a_shorter_reading_where_one_does_not():
    # one loop: with a loop of the last four in it, it takes as many words; then 11 and 12 part
    program = loop(
        5,
        Do("Send", 10, when=lambda k: k not in {1, 2}),
        Do("Barrier", 11, when=lambda k: k not in {1, 2}),
        *(
            Do(name, 12 + at, when=lambda k: k in {1, 2})
            for at, name in enumerate(("Allreduce", "Recv", "Recv", "Wait"))
        ),
    )

    assert listing(program) == [
        "for 1 to 5:",
        "  if iteration not in {2, 3}:",
        "    MPI_Send",
        "    MPI_Barrier",
        "  else:",
        "    MPI_Allreduce",
        "    MPI_Recv",
        "    MPI_Recv",
        "    MPI_Wait",
    ]
