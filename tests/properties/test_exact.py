"""What holds for the exact method, whatever the program: nothing is lost, nothing invented."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstline import _core
from burstline.structure import Call, Condition, Loop, detect, walk
from burstline.structure.exact.body import Body, first_call
from burstline.structure.exact.occurrences import Nest
from burstline.structure.program.runs import Runs
from loop_programs import Do, For, executed, loop, run
from oracles import structure as oracle

OPERATIONS = ("Send", "Recv", "Barrier", "Allreduce")
numbers = st.lists(st.integers(0, 12), max_size=30)


@st.composite
def sequences(draw, lines=9):
    """Draw calls without any structure: lines of one function in any order."""
    found = draw(st.lists(st.integers(2, lines), max_size=60))
    return [Do(OPERATIONS[line % len(OPERATIONS)], line) for line in found]


@st.composite
def nests(draw):
    """Loops in loops whose iterations cannot be mistaken: the bodies have several elements."""
    line = iter(range(10, 900))

    def body(depth):
        elements = []
        for _ in range(draw(st.integers(2, 3))):
            if depth and draw(st.booleans()):
                elements.append(inner(depth - 1))
            else:
                elements.append(Do(draw(st.sampled_from(OPERATIONS)), next(line)))
        return elements

    def inner(depth):
        if draw(st.booleans()):
            return loop(draw(st.integers(2, 5)), *body(depth))
        return loop(draw(st.integers(2, 5)), Do(draw(st.sampled_from(OPERATIONS)), next(line)))

    return body(3)


def made(found, lane=0):
    """Give operation and line of each call that a structure makes."""
    names = {
        item.site: (item.operation, item.caller.line if item.path else None)
        for item, _ in walk(found.items)
        if isinstance(item, Call)
    }
    return [names[symbol] for symbol in found.expand(lane).tolist()]


def called(program, rank=0, *, paths=True):
    steps = [("Init", 1), *((s.operation, s.line) for s in executed(program, rank))]
    return [
        (f"MPI_{name}", line if paths else None) for name, line in [*steps, ("Finalize", 999)]
    ]


def nested(items):
    """Give the loops of a structure: (trips at each entry, body), a line per call."""
    return [
        (sorted(set(item.trips.values(0).tolist())), nested(item.items))
        if isinstance(item, Loop)
        else item.caller.line
        for item in items
    ]


def wanted(program):
    return [
        ([step.times], wanted(step.body)) if isinstance(step, For) else step.line
        for step in program
    ]


@given(program=sequences(), paths=st.booleans())
def test_a_structure_expands_to_the_calls_of_the_trace_and_has_each_site_once(program, paths):
    found = detect(run(*program, paths=paths), method="exact")

    for lane in range(2):
        assert made(found, lane) == called(program, lane, paths=paths)
        assert found.expand(lane).tolist() == oracle.expand(found.items, lane)
    sites = [item.site for item, _ in walk(found.items) if isinstance(item, Call)]
    assert sorted(sites) == sorted(set(found.expand(0).tolist()))
    assert found.fidelity == 1.0


@given(program=nests())
def test_random_nests_of_loops_are_recovered(program):
    found = detect(run(*program), method="exact")

    assert nested(found.items)[1:-1] == wanted(program)


@given(program=nests(), every=st.integers(2, 4), data=st.data())
def test_a_condition_in_a_body_holds_in_its_iterations(program, every, data):
    times = data.draw(st.integers(2 * every, 4 * every))
    rare = Do("Bcast", 950, when=lambda k: k % every == every - 1)
    body = (Do("Send", 5), *program, rare, Do("Recv", 960))

    found = detect(run(loop(times, *body)), method="exact")

    (outer,) = [item for item in found.items if isinstance(item, Loop)]
    (condition,) = [item for item, _ in walk(found.items) if isinstance(item, Condition)]
    assert [item.caller.line for item in condition.items] == [950]
    assert condition.when.values(0).tolist() == list(range(every - 1, times, every))
    assert outer.trips.values(0).tolist() == [times]


@given(program=nests(), order=st.permutations(range(3)))
def test_renaming_ranks_changes_nothing_else(program, order):
    last = Do("Allreduce", 970, ranks=[0, 1])
    trace = run(*program, last, ranks=3)
    renamed = run(*program, Do("Allreduce", 970, ranks=[order[0], order[1]]), ranks=3)

    one, other = detect(trace, method="exact"), detect(renamed, method="exact")

    assert nested(one.items) == nested(other.items)
    for rank in range(3):
        assert made(one, rank) == made(other, order[rank])


@given(program=sequences(), swap=st.permutations(OPERATIONS))
def test_renaming_operations_changes_nothing_else(program, swap):
    new = dict(zip(OPERATIONS, swap, strict=True))
    renamed = [Do(new[step.operation], step.line) for step in program]

    one = detect(run(*program), method="exact")
    other = detect(run(*renamed), method="exact")

    assert nested_lines(one.items) == nested_lines(other.items)


def nested_lines(items):
    return [
        item.caller.line
        if isinstance(item, Call)
        else (type(item).__name__, oracle.numbers(item.when, 0), nested_lines(item.items))
        for item in items
    ]


@given(times=st.integers(6, 400))
def test_the_form_of_a_regular_program_does_not_grow_with_its_iterations(times):
    program = loop(
        times, loop(2, Do("Send", 10)), Do("Bcast", 11, when=lambda k: k % 2), Do("Recv", 12)
    )

    found = detect(run(program, ranks=1), method="exact")

    stored = sum(len(item.when.first) for item, _ in walk(found.items))
    assert stored == sum(1 for _ in walk(found.items))


@given(lanes=st.lists(numbers, min_size=1, max_size=3))
def test_progressions_are_those_of_the_slow_twin_and_give_the_numbers_back(lanes):
    runs = Runs.of(lanes)

    for lane, own in enumerate(lanes):
        here = slice(runs.begin[lane], runs.begin[lane + 1])
        columns = (runs.first[here], runs.step[here], runs.count[here])
        assert list(zip(*(c.tolist() for c in columns), strict=True)) == oracle.progressions(
            own
        )
        assert runs.values(lane).tolist() == own


bodies = st.recursive(
    st.just(None), lambda inner: st.lists(inner, min_size=1, max_size=3), max_leaves=7
).filter(lambda nest: isinstance(nest, list))


def numbered(nest, count):
    return [next(count) if element is None else numbered(element, count) for element in nest]


def as_body(nest, name=(), *, most, rise, apart, cuts):
    elements = tuple(
        as_body(e, (*name, at), most=most, rise=rise, apart=apart, cuts=cuts)
        if isinstance(e, list)
        else e
        for at, e in enumerate(nest)
    )
    told = {"most": (most[name],), "rise": rise[name]} if most.get(name) else {}
    begins = [first_call(element) for element in elements]
    pairs = frozenset((begins[a], begins[b]) for a, b in apart.get(name, ()))
    return Body(elements, apart=pairs, cuts=tuple(sorted(cuts.get(name, ()))), **told)


class OneLane:
    """A judge of one lane, whose places are those of all lanes."""

    on_all_lanes = staticmethod(np.array)


@given(nest=bodies, data=st.data())
def test_a_nest_is_read_as_its_slow_twin_reads_it(nest, data):
    numbers = iter(range(100))
    program = [numbered(nest, numbers)]  # one loop around all, so that any order can be read
    size = next(numbers)
    sequence = data.draw(st.lists(st.integers(0, size - 1), max_size=40))
    inner = [name for name, element in element_names(program) if element is None]
    most = {
        name: data.draw(st.integers(0, 3), label=f"most of {name}")
        for name in inner
        if len(name) > 1
    }
    rise = {name: data.draw(st.integers(0, 2), label=f"rise of {name}") for name in most}
    ends = {name: body_at(program, name) for name in inner}
    apart = {
        name: data.draw(st.sets(pairs_of(len(body)), max_size=3), label=f"apart in {name}")
        for name, body in ends.items()
        if len(body) > 1
    }
    places_in_sequence = st.sets(st.integers(0, 40), max_size=5)
    cuts = {name: data.draw(places_in_sequence, label=f"cuts of {name}") for name in inner}
    told = {"most": most, "rise": rise, "apart": apart, "cuts": cuts}
    body = as_body(program, **told)
    places = Nest.of(body, size, 1, OneLane())
    lanes, times = np.array([0, len(sequence)]), np.zeros(len(sequence), np.int64)

    when, trips, iterations, _ = _core.read_nest(
        places, np.array(sequence, np.int32), lanes, times, times
    )

    slow_when, slow_trips = oracle.read_nest(program, sequence, **told)
    names = list(element_names(program))
    found = [Runs(*when).part(k, 1).values(0).tolist() for k in range(size)]
    loops = [Runs(*when).part(size + k, 1).values(0).tolist() for k in range(len(iterations))]
    assert found == [slow_when[name] for name, element in names if element is not None]
    assert loops[1:] == [slow_when[name] for name in inner]
    counted = [Runs(*trips).part(k, 1).values(0).tolist() for k in range(len(iterations))]
    assert counted[1:] == [slow_trips[name] for name in inner]


def test_a_loop_that_goes_on_where_the_one_around_it_is_cut_is_entered_anew():
    program, cuts = [[[0, 1]]], {(0,): {4}, (0, 0): {4}}
    sequence, times = [0, 1, 0, 1, 0, 1], np.zeros(6, np.int64)
    body = as_body(program, most={}, rise={}, apart={}, cuts=cuts)

    _, trips, iterations, _ = _core.read_nest(
        Nest.of(body, 2, 1, OneLane()),
        np.array(sequence, np.int32),
        np.array([0, 6]),
        times,
        times,
    )

    _, slow_trips = oracle.read_nest(program, sequence, cuts=cuts)
    assert [Runs(*trips).part(k, 1).values(0).tolist() for k in (1, 2)] == [[2], [2, 1]]
    assert (slow_trips[(0,)], slow_trips[0, 0]) == ([2], [2, 1])
    assert iterations.tolist()[1:] == [2, 3]


def body_at(nest, name):
    for at in name:
        nest = nest[at]
    return nest


def pairs_of(count):
    """Draw two elements of a body, the first before the second."""
    return st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(
        lambda pair: pair[0] < pair[1]
    )


def element_names(nest, name=()):
    """Give the name of each element, loops (with None) each before what is in it."""
    for at, element in enumerate(nest):
        if isinstance(element, list):
            yield (*name, at), None
            yield from element_names(element, (*name, at))
        else:
            yield (*name, at), element


@given(lanes=st.lists(st.lists(st.integers(0, 5), max_size=20), min_size=1, max_size=4))
def test_neighbours_are_counted_within_lanes(lanes):
    begin = np.cumsum([0, *map(len, lanes)])
    sequence = np.array([s for lane in lanes for s in lane], np.int32)

    source, target, count, lane_begin, edges = _core.count_follows(sequence, begin, 6)

    found = dict(
        zip(zip(source.tolist(), target.tolist(), strict=True), count.tolist(), strict=True)
    )
    assert found == oracle.follows(lanes)
    for k, lane in enumerate(lanes):
        own = edges[lane_begin[k] : lane_begin[k + 1]].tolist()
        assert {(int(source[e]), int(target[e])) for e in own} == set(oracle.follows([lane]))


@given(
    lanes=st.lists(st.lists(st.integers(0, 3), max_size=24), min_size=1, max_size=3),
    first_times=st.integers(2, 3),
)
def test_folding_tells_symbols_apart_and_mixes_none(lanes, first_times):
    begin = np.cumsum([0, *map(len, lanes)])
    sequence = np.array([s for lane in lanes for s in lane], np.int32)

    kinds = np.arange(4, dtype=np.int32)

    site, symbol = _core.fold_sites(sequence, begin, kinds, first_times, 10**6)

    assert symbol[site].tolist() == sequence.tolist()
    again, _ = _core.fold_sites(sequence, begin, kinds, first_times, 10**6)
    assert again.tolist() == site.tolist()


@given(body=st.lists(st.integers(0, 3), min_size=1, max_size=4), times=st.integers(2, 5))
def test_what_is_repeated_is_at_the_same_sites(body, times):
    assume_primitive = [body[:k] * (len(body) // k) for k in range(1, len(body))]
    if body in assume_primitive or any(
        a == b for a, b in zip(body, [*body[1:], body[0]], strict=True)
    ):
        return
    sequence = np.array(body * times, np.int32)

    kinds = np.arange(4, dtype=np.int32)
    site, _ = _core.fold_sites(sequence, np.array([0, len(sequence)]), kinds, 2, 10**6)

    assert site.tolist() == list(range(len(body))) * times


@given(
    lane=st.lists(st.integers(0, 3), min_size=1, max_size=24),
    shift=st.permutations([0, 1, 2, 3]),
)
def test_lanes_that_differ_by_kind_alone_have_the_same_sites(lane, shift):
    # the second lane does the same with other partners: symbols 4..7 are of the kinds 0..3
    other = [4 + shift[symbol] for symbol in lane]
    kinds = np.array([0, 1, 2, 3, *np.argsort(shift)], np.int32)
    begin = np.array([0, len(lane), 2 * len(lane)])

    site, symbol = _core.fold_sites(np.array(lane + other, np.int32), begin, kinds, 2, 10**6)

    assert site[: len(lane)].tolist() == site[len(lane) :].tolist()
    assert kinds[symbol[site]].tolist() == lane + lane


@given(
    times=st.integers(3, 6), place=st.integers(0, 16), change=st.sampled_from(["more", "less"])
)
def test_a_first_or_last_iteration_that_differs_in_one_call_is_one_of_the_loop(
    times, place, change
):
    body = list(range(17))
    added, rest = ([17], place) if change == "more" else ([], place + 1)
    other = body[:place] + added + body[rest:]

    assert _sites_of(body * times + other, 18) == 17 + (change == "more")
    if 0 < place < 16 or (place, change) == (0, "less"):
        assert _sites_of(other + body * times, 18) == 17 + (change == "more")


def _sites_of(lane, symbols):
    """Fold a lane, and count its sites."""
    site, symbol = _core.fold_sites(
        np.array(lane, np.int32),
        np.array([0, len(lane)]),
        np.arange(symbols, dtype=np.int32),
        3,
        10**6,
    )
    assert symbol[site].tolist() == lane
    return len(symbol)


@given(
    lanes=st.lists(st.lists(st.integers(0, 1), max_size=12), min_size=1, max_size=2),
    parts=st.sampled_from([1, 1, 2, 24]),
)
def test_united_sites_are_those_of_a_symbol_and_as_short_as_their_slow_twin_says(lanes, parts):
    begin = np.cumsum([0, *map(len, lanes)])
    sequence = np.array([s for lane in lanes for s in lane], np.int32)
    start = sequence * parts + np.arange(len(sequence)) % parts
    start = np.unique(start, return_inverse=True)[1].astype(np.int32)

    same, before = _core.unite_sites(sequence, begin, start, 0)
    site, length = _core.unite_sites(sequence, begin, start, 10**6)

    assert same.tolist() == start.tolist()
    assert len(set(zip(site.tolist(), sequence.tolist(), strict=True))) == len(set(site))
    assert len(set(zip(start.tolist(), site.tolist(), strict=True))) == len(set(start))
    for found, own in ((same, before), (site, length)):
        split = [found[a:b].tolist() for a, b in pairwise(begin.tolist())]
        assert own == oracle.length_of_sites(split)
    assert length <= before


@given(body=st.permutations(range(5)), times=st.integers(3, 6))
def test_a_body_of_different_symbols_is_united_to_its_sites(body, times):
    sequence = np.array([9, *body * times, 8], np.int32)
    each = np.arange(len(sequence), dtype=np.int32)

    site, _ = _core.unite_sites(sequence, np.array([0, len(sequence)]), each, 10**6)

    assert len(set(site.tolist())) == 7


def test_kernels_refuse_what_is_no_nest():
    lanes, one = np.array([0, 1]), np.zeros(1, np.int64)
    zero, symbol = np.zeros(1, np.int32), np.zeros(1, np.int32)
    with pytest.raises(ValueError, match="none of those"):
        _core.count_follows(np.array([7], np.int32), lanes, 3)
    with pytest.raises(ValueError, match="one after another"):
        _core.count_follows(symbol, np.array([0, 5]), 3)
    none = np.zeros(0, np.int64)
    nothing = none, none, none
    with pytest.raises(ValueError, match="a program and a place"):
        _core.read_nest((zero, zero, zero[:0], zero[:0], *nothing), symbol, lanes, one, one)
    parents = np.array([-1, 1], np.int32)
    with pytest.raises(ValueError, match="smaller number"):
        _core.read_nest((zero, zero, parents, parents, *nothing), symbol, lanes, one, one)
    program = zero, zero, np.array([-1], np.int32), zero
    twice, times = np.zeros(2, np.int32), np.zeros(2, np.int64)
    with pytest.raises(ValueError, match="its body once"):
        _core.read_nest((*program, *nothing), twice, np.array([0, 2]), times, times)
    with pytest.raises(ValueError, match="is in another"):
        _core.read_nest((*program, one + 3, none, none), symbol, lanes, one, one)
    loops = zero + 1, zero, np.array([-1, 0], np.int32), np.zeros(2, np.int32)
    with pytest.raises(ValueError, match="of each loop and lane"):
        _core.read_nest((*loops, one, none, none), symbol, lanes, one, one)
    with pytest.raises(ValueError, match="are apart come in order"):
        _core.read_nest((*program, none, np.array([2, 1]), none), symbol, lanes, one, one)
    with pytest.raises(ValueError, match="cuts come in order"):
        _core.read_nest((*program, none, none, np.array([2, 1])), symbol, lanes, one, one)
    with pytest.raises(ValueError, match="not repeated"):
        _core.fold_sites(symbol, lanes, zero, 1, 5)
    with pytest.raises(ValueError, match="a kind is no symbol"):
        _core.fold_sites(symbol, lanes, zero + 1, 2, 5)
    with pytest.raises(ValueError, match="none of those"):
        _core.unite_sites(symbol, lanes, zero + 1, 5)
    with pytest.raises(ValueError, match="each symbol"):
        _core.unite_sites(twice, lanes, zero, 5)
    with pytest.raises(ValueError, match="one symbol"):
        _core.unite_sites(np.arange(2, dtype=np.int32), np.array([0, 2]), twice, 5)
