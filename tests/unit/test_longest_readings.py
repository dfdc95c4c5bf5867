"""The page of the longest readings shows programs as written and as read, the worst first."""

from __future__ import annotations

from longest_readings import Reading, page


def listings(lines):
    """Give the text of each listing of a page."""
    return [part.partition("```")[0] for part in "\n".join(lines).split("```text")[1:]]


def test_the_worst_readings_come_first():
    readings = [Reading.of(seed, paths=True) for seed in range(7)]
    worst = sorted(readings, key=lambda reading: -reading.ratio)[:3]

    lines = list(page(readings, 3, paths=True))

    assert [line for line in lines if line.startswith("## ")] == [
        f"## Program {reading.seed}: {reading.lengths[1]} for {reading.lengths[0]}"
        for reading in worst
    ]
    assert len(listings(lines)) == 6


def test_a_program_that_is_read_as_it_was_written_has_one_listing_twice():
    written, read = listings(page([Reading.of(3, paths=True)], 1, paths=True))

    assert written == read
    assert written.splitlines()[1].startswith("for 1 to ")
