"""Sets of ranks are written shortly, and mean what they say."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstline.structure.program.ranks import compact


@pytest.mark.parametrize(
    ("ranks", "everybody", "text"),
    [
        ([], (), ""),
        ([7], (), "7"),
        ([0, 1], (), "0, 1"),
        ([0, 1, 2], (), "0..2"),
        ([0, 2], (), "0, 2"),
        ([0, 2, 4], (), "0..4 by 2"),
        ([0, 3, 4, 5, 6, 7], (), "0, 3..7"),
        ([0, 1, 2, 4, 5, 6, 7], range(8), "all but 3"),
        (range(8), range(8), "all"),
        ([0, 2, 4, 6], range(8), "0..6 by 2"),
    ],
)
def test_a_set_is_written_in_its_shortest_form(ranks, everybody, text):
    assert compact(ranks, everybody) == text


def read(text, everybody):
    if text == "all":
        return set(everybody)
    if text.startswith("all but "):
        return set(everybody) - read(text.removeprefix("all but "), ())
    found = set()
    for part in filter(None, text.split(", ")):
        numbers = [int(number) for number in re.findall(r"\d+", part)]
        if ".." in part:
            found |= set(range(numbers[0], numbers[1] + 1, *numbers[2:]))
        else:
            found.add(numbers[0])
    return found


@given(ranks=st.sets(st.integers(0, 40)), more=st.integers(0, 5))
def test_what_is_written_is_the_set(ranks, more):
    everybody = set(range(41 + more))

    assert read(compact(ranks), ()) == ranks
    assert read(compact(ranks, everybody), everybody) == ranks
