"""Sites a step from others: the same calls, some sites as one, or one of them as two."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstline.identity import sites_of
from burstline.structure import description_length, detect
from burstline.structure.calls import Calls
from burstline.structure.exact.body import Body, Cost
from burstline.structure.exact.loopnest import Effort
from burstline.structure.exact.method import Reading, best_reading, with_likelier_sites
from burstline.structure.exact.shared_loops import SharedLoops
from burstline.structure.exact.site_steps import SiteSteps
from loop_programs import Do, Program, loop, run
from witnesses import witness

NAMES = {"a": "Send", "b": "Recv", "c": "Barrier"}


def calls_and_sites(trace):
    calls = Calls(trace, None)
    return calls, sites_of(trace, calls.row, calls.world_size)


def made_by(letters, **how):
    """Give calls without paths, by a letter each, one on each line."""
    steps = [Do(NAMES[letter], 10 + k) for k, letter in enumerate(letters)]
    return calls_and_sites(run(*steps, paths=False, **how))


def steps_of(letters, **how):
    calls, sites = made_by(letters, **how)
    return SiteSteps.of(sites, calls.lane_begin)


def beside(steps, way):
    """Give all ways beside one, whose sites stand in the order of their first calls."""
    taken, order = set(), [*range(way.max() + 1)]
    return [other for _ in range(50) for other in steps.beside(way, order, taken)]


@given(
    letters=st.lists(st.sampled_from("abc"), min_size=1, max_size=12),
    chosen=st.lists(st.integers(0, 2), min_size=12, max_size=12),
)
def test_a_step_unites_sites_of_one_name_or_parts_one_site_and_is_taken_once(letters, chosen):
    steps = steps_of(letters)
    way = steps.calls.told * 3
    way[1:-1] += chosen[: len(letters)]  # between MPI's initialisation and its end
    way = np.unique(way, return_inverse=True)[1].astype(np.int32)
    first = np.unique(way, return_index=True)[1]
    way = np.argsort(np.argsort(first)).astype(np.int32)[way]

    found = beside(steps, way)

    pairs = {tuple(way.tolist())}
    for other in found:
        both = {*zip(way.tolist(), other.tolist(), strict=True)}
        before, behind = len(set(way.tolist())), len(set(other.tolist()))
        assert (behind < before == len(both)) or (behind == len(both) == before + 1)
        assert len({*zip(other.tolist(), steps.calls.told.tolist(), strict=True)}) == behind
        pairs.add(tuple(other.tolist()))
    assert len(pairs) == len(found) + 1


@pytest.mark.parametrize(
    ("letters", "at_sites", "wanted"),
    [
        ("abcabc", "123456", "123123"),  # a loop that was written twice
        ("abcabcabca", "1231234564", "1231231231"),  # its last iteration stood beside it
        ("abacabac", "12131213", "12341234"),  # before one call, or before another
        ("cabcaccabcac", "123124123124", "123154123154"),  # the same, behind the same call
        ("abacab", "121312", "123412"),  # behind nothing, or behind another call
    ],
)
def test_the_step_to_the_sites_of_the_program_is_told(letters, at_sites, wanted):
    steps = steps_of(letters)
    way = np.array([0, *map(int, at_sites), 1 + int(max(at_sites))], np.int32)

    found = [other[1:-1].tolist() for other in beside(steps, way)]

    assert numbered(wanted) in list(map(numbered, found))


def numbered(values):
    """Give numbers from 0 in the order in which they are first there."""
    order = [*dict.fromkeys(values)]
    return [order.index(each) for each in values]


def test_likely_steps_come_first_and_are_few():
    steps = steps_of("abc" * 8)
    way = np.array([0, *range(1, 13), *([1, 2, 3] * 4), 13], np.int32)

    found = [*steps.beside(way, [*range(14)], set())]

    assert len(found) <= 15
    costs = [steps.calls.united(steps.kinds, other, work=0)[1] for other in found]
    assert min(costs) in costs[:3]


def test_there_are_no_steps_where_lines_tell_or_calls_are_many(monkeypatch):
    program = loop(4, Do("Send", 10), Do("Recv", 11))
    calls, sites = calls_and_sites(run(program))
    assert SiteSteps.of(sites, calls.lane_begin) is None

    calls, sites = calls_and_sites(run(program, paths=False))
    assert SiteSteps.of(sites, calls.lane_begin) is not None
    monkeypatch.setattr("burstline.structure.exact.site_steps._MOST_CALLS", 4)
    assert SiteSteps.of(sites, calls.lane_begin) is None


def test_ranks_that_make_the_same_calls_are_at_the_same_sites():
    steps = steps_of("abcab", ranks=3)
    way = np.arange(len(steps.calls.told), dtype=np.int32)

    assert len(way) == 7
    for other in beside(steps, way):
        lanes = steps.sites(other).of_call.reshape(3, -1)
        assert (lanes == lanes[0]).all()


@pytest.mark.parametrize("seed", [71000206, 71000387, 71000073])
def test_loops_of_other_readings_are_those_that_are_read_anew(seed):
    calls, sites = calls_and_sites(Program(seed).trace(paths=False))
    steps = SiteSteps.of(sites, calls.lane_begin)
    way = steps.calls.way(best_reading(sites, calls.lane_begin).sites)
    loops, shared, anew = SharedLoops(), Effort(10**6), Effort(10**6)
    Reading.of(steps.sites(way), calls.lane_begin, known=loops.at(way))

    for other in steps.beside(way, [*range(way.max() + 1)], set()):
        at = steps.sites(other)
        reading = Reading.of(at, calls.lane_begin, effort=shared, known=loops.at(other))
        again = Reading.of(at, calls.lane_begin, effort=anew)
        assert reading.executions.when.key() == again.executions.when.key()
        assert reading.cost == again.cost
    assert shared.left > anew.left


@pytest.mark.parametrize("seed", [71000094, 71000146, 71000202, 71000221, 71000364, 71000387])
def test_programs_that_were_read_far_longer_once_are_not_anymore(seed):
    program = Program(seed)
    own = description_length(witness(program, paths=False))

    found = detect(program.trace(paths=False), method="exact")

    assert description_length(found.items) <= 1.3 * own


@given(st.integers(0, 10**6))
def test_steps_lead_to_a_clearer_reading_or_none(seed):
    calls, sites = calls_and_sites(Program(seed).trace(paths=False))
    reading = best_reading(sites, calls.lane_begin)

    other = with_likelier_sites(reading, sites, calls.lane_begin)

    assert other is reading or other.is_clearer_than(reading)
    if not reading.has_doubtful_sites:
        assert other is reading


@pytest.mark.parametrize(
    ("length", "conditions", "loops", "is_clearer"),
    [
        (90, 4, 2, True),
        (91, 4, 2, False),
        (76, 5, 2, False),  # a condition more
        (75, 5, 2, True),
        (74, 10, 2, True),  # six for 26 words
        (74, 11, 2, False),
        (80, 4, 1, False),  # a loop less
        (75, 4, 1, True),
    ],
)
def test_other_sites_save_some_words_or_many_where_they_take_a_loop_or_make_conditions(
    length, conditions, loops, is_clearer
):
    calls, sites = calls_and_sites(run(loop(4, Do("Send", 10)), paths=False))
    reading = best_reading(sites, calls.lane_begin)

    def costing(length, conditions, loops):
        inner = Cost(length=length, conditions=conditions)
        nest = reading.nest._replace(loop_parent=np.zeros(1 + loops, np.int32))
        program = Body((Body((0,), whole=inner),), inner=inner)
        return replace(reading, program=program, nest=nest)

    before, behind = costing(100, 4, 2), costing(length, conditions, loops)
    assert behind.is_clearer_than(before) == is_clearer
    assert not before.is_clearer_than(behind)
