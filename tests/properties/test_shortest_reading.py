"""Programs drawn at random, beside their witness: readings are true, and hardly ever longer.

The aim, over many more seeds. With call paths: at least 98 % of the readings no longer than the
witness and at most 0.3 % longer by more than 1.3; 99 % of the rules printed; 99.5 % of the
constant trip counts found. Without: 80 % and 5 %. The limits below are what holds today, of
short programs alone where paths are not told. A part that is read better than its witness tells
of another program that makes the same calls: rules and trip counts are looked for in the
others, in peeled witnesses, as no trace shows whether a call was in the first iteration or
before it, whether every second iteration or a loop of two was run, nor which of two conditions
as short stood in the other.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstline.identity import sites_of
from burstline.structure import Around, Call, description_length, detect, walk
from burstline.structure.calls import Calls
from burstline.structure.exact.body import Body
from burstline.structure.exact.callgraph import call_graph
from burstline.structure.exact.choice import ReadingCosts
from burstline.structure.exact.method import Reading
from burstline.structure.exact.nodes import NodeBuilder
from burstline.structure.program.fidelity import Expander
from loop_programs import Do, Program, loop, run
from witnesses import found_in, witness

SEEDS = range(300)
MOST_LINES = 14
"""Of programs without paths: the fifth that has more takes four fifths of the time."""
FAR = 1.3


@pytest.fixture(scope="module")
def readings():
    """Give the witness and what was detected, for each program, with paths and without."""
    programs = [Program(seed) for seed in SEEDS]
    short = [program for program in programs if len(lines_of(program)) <= MOST_LINES]
    return {
        paths: [
            (program, witness(program, paths=paths), read(program, paths=paths))
            for program in (programs if paths else short)
        ]
        for paths in (True, False)
    }


def lines_of(program):
    return {step.line for rank in range(program.ranks) for step in program.run(rank)}


def read(program, *, paths):
    return detect(program.trace(paths=paths), method="exact")


numbers = st.sets(st.integers(0, 6), min_size=1, max_size=3)


@given(
    times=st.integers(2, 9), some=st.tuples(numbers, numbers, numbers), ranks=st.integers(1, 3)
)
def test_what_the_choice_thinks_of_a_loop_is_its_length(times, some, ranks):
    program = loop(
        lambda turn: times + turn.rank,
        *(
            Do("Send", 20 + k, when=lambda turn, own=own: turn in own)
            for k, own in enumerate(some)
        ),
        Do("Recv", 40),
    )
    trace = run(program, ranks=ranks)
    calls = Calls(trace, None)
    sites = sites_of(trace, calls.row, calls.world_size)
    lines = {site.path[-1].line: number for number, site in enumerate(sites.distinct)}
    body = Body(tuple(number for line, number in sorted(lines.items()) if 1 < line < 999))

    cost = ReadingCosts.of(sites, calls.lane_begin).cost(body, is_other=False)

    nest = Body((lines[1], body, lines[999]))
    graph = call_graph(sites, calls.lane_begin)
    reading = Reading.read_as(nest, sites, calls.lane_begin, graph)
    lanes = len(calls.ranks)
    made = {n: bare_call(n, site, lanes) for n, site in enumerate(sites.distinct)}
    items = NodeBuilder(reading.executions, made, calls.ranks, 1).items(nest, Around())
    assert cost.length == description_length(items) - 2


def bare_call(number, site, lanes):
    return Call(
        site=number, operation=site.operation, path=site.path, ranks=(), probability=1.0,
        executions=np.ones(lanes, int), time_ns=0.0, time_spread_ns=0.0, size_bytes=None,
        size_spread_bytes=None, burst_ns=None, counters={}, iteration_counters={},
    )  # fmt: skip


@pytest.mark.parametrize("paths", [True, False])
def test_expanded_they_are_the_calls_and_so_is_the_witness(readings, paths):
    for program, own, found in readings[paths]:
        for items in (own, found.items):
            names = {
                call.site: (call.operation, call.caller and call.caller.line)
                for call, _ in walk(items)
                if isinstance(call, Call)
            }
            expander = Expander.of(items, program.ranks)
            for rank in range(program.ranks):
                wanted = [(f"MPI_{s.operation}", paths and s.line) for s in program.run(rank)]
                calls = [names[site] for site in expander.lane(rank).tolist()]
                assert calls == [(name, line or None) for name, line in wanted], program.seed


@pytest.mark.parametrize(
    ("paths", "no_longer", "far"), [(True, 0.99, 0.003), (False, 0.94, 0.009)]
)
def test_readings_are_hardly_ever_longer_than_the_program(readings, paths, no_longer, far):
    lengths = [
        (program.seed, description_length(found.items) / description_length(own))
        for program, own, found in readings[paths]
    ]

    longer = [(ratio, seed) for seed, ratio in lengths if ratio > 1]
    farther = [(ratio, seed) for ratio, seed in longer if ratio > FAR]

    assert len(longer) <= (1 - no_longer) * len(lengths), sorted(longer)[-10:]
    assert len(farther) <= far * len(lengths), sorted(farther)[-10:]


@pytest.fixture(scope="module")
def shortest(readings):
    return [
        witness(program, peeled=True, without_lists=True) for program, _, _ in readings[True]
    ]


@pytest.fixture(scope="module", params=[False, True], ids=["whole programs", "by part"])
def told(request, readings, shortest):
    """Give how much of what the programs tell is printed: of their rules, and trip counts."""
    pairs = zip(shortest, readings[True], strict=True)
    each = [found_in(own, read.items, by_part=request.param) for own, (_, _, read) in pairs]
    return [tuple(map(sum, zip(*counts, strict=True))) for counts in zip(*each, strict=True)]


def test_peeled_witnesses_are_no_longer_and_make_the_same_calls(readings):
    shorter = 0
    for program, own, _ in readings[True]:
        peeled = witness(program, peeled=True)
        lengths = description_length(peeled), description_length(own)
        assert lengths[0] <= lengths[1], program.seed
        shorter += lengths[0] < lengths[1]
        assert [calls_of(peeled, program, rank) for rank in range(program.ranks)] == [
            [(f"MPI_{step.operation}", step.line) for step in program.run(rank)]
            for rank in range(program.ranks)
        ], program.seed
    assert shorter > 30


@pytest.mark.parametrize(
    "seed",
    [
        *(106, 142, 440, 812, 1044, 1213, 1239, 1270, 1651, 1770, 1807, 2033, 2062, 2468),
        *(12240, 13353, 15698, 17280, 17532, 17623, 21522, 23587, 23937, 301014, 313884),
        *(3000563, 3001361, 3002140, 3002842, 3002963, 3000347, 3000418, 6000096),
        *(12000334, 12001380, 12001574),
    ],
)  # fmt: skip
def test_what_was_read_longer_once_is_not_anymore(seed):
    program = Program(seed)

    found = read(program, paths=True)

    assert description_length(found.items) <= description_length(witness(program, peeled=True))


@pytest.mark.parametrize(
    "seed",
    [
        *(3000025, 3000365, 3001910, 12000424, 12000468),
        # a loop without calls of its own, around one that leaves something open, or nothing
        *(90000903, 90002000, 90002153, 90007873),
        # iterations that run on on one rank, calls behind a loop that some left before its end
        *(90003723, 90006276, 90007266),
        *(90006678, 90007621),  # more than 16 calls and loops in one
        90009428,  # a call before a loop that is entered anew with nothing between
    ],
)
def test_what_was_told_in_other_words_once_is_printed(seed):
    program = Program(seed)

    own = witness(program, peeled=True, without_lists=True)
    found = read(program, paths=True).items

    rules, trips = found_in(own, found, by_part=True)
    assert rules[0] == rules[1]
    assert trips[0] == trips[1]


def calls_of(items, program, rank):
    """Give operation and line of the calls that a structure makes on a rank."""
    names = {
        call.site: (call.operation, call.caller.line)
        for call, _ in walk(items)
        if isinstance(call, Call)
    }
    return [names[site] for site in Expander.of(items, program.ranks).lane(rank).tolist()]


def test_rules_of_the_program_are_printed(told):
    (printed, wanted), _ = told

    assert printed >= 0.99 * wanted, (printed, wanted)


def test_constant_trip_counts_are_found(told):
    _, (there, wanted) = told

    assert there >= 0.995 * wanted, (there, wanted)
