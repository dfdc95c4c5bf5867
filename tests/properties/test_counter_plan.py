"""A plan of counters has as few sets as brute force finds, whatever the machine allows."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from burstline.record.counting.plan import plan_sets


@st.composite
def machines(draw):
    """Events, and what cannot be counted together: smallest sets that do not fit."""
    count = draw(st.integers(1, 7))
    events = [f"E{number}" for number in range(count)]
    conflicts = draw(
        st.lists(st.sets(st.sampled_from(["R", *events]), min_size=2, max_size=4), max_size=12)
    )
    limit = draw(st.integers(1, 5))
    return events, conflicts, limit


def asked(conflicts, limit):
    """Give what answers for a machine."""

    def fits(names):
        return len(names) <= limit and not any(each <= set(names) for each in conflicts)

    return fits


def fewest_sets(events, fits):
    """Give the least number of sets of a partition, trying every one."""
    fitting = {
        frozenset(names)
        for size in range(1, len(events) + 1)
        for names in combinations(events, size)
        if fits(names)
    }
    known = {frozenset(): 0}

    def least(rest):
        if rest not in known:
            first = min(rest)
            known[rest] = 1 + min(
                least(rest - names) for names in fitting if first in names and names <= rest
            )
        return known[rest]

    return least(frozenset(events))


@given(machines())
def test_no_partition_into_sets_that_fit_is_smaller_and_one_cut_short_fits(machine):
    events, conflicts, limit = machine
    fits = asked(conflicts, limit)
    whole, short = plan_sets(events, fits), plan_sets(events, fits, most_questions=3)

    for plan in (whole, short):
        assert all(fits(names) for names in plan.sets)
        assert sorted(name for names in plan.sets for name in names) == events
        assert not plan.fewest or len(plan.sets) == fewest_sets(events, fits)
    assert whole.fewest


@given(machines())
def test_the_reference_is_in_each_set_and_costs_no_set_too_many(machine):
    events, conflicts, limit = machine
    fits = asked(conflicts, limit + 1)
    plan = plan_sets(events, fits, reference="R")
    usable = [event for event in events if event not in plan.unavailable]

    assert all(fits(names) and names[0] == "R" for names in plan.sets)
    assert all(not fits(("R", event)) for event in plan.unavailable)
    assert sorted(name for names in plan.sets for name in names[1:]) == usable
    assert len(plan.sets) == fewest_sets(usable, lambda names: fits(("R", *names)))
