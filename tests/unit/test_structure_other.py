"""Other readings of a trace: as true as the one chosen, other programs, the best first."""

from __future__ import annotations

import json

import pytest

from burstline.show import StructureView
from burstline.show.blocks import Heading
from burstline.structure import Call, description_length, detect, other_readings, walk
from burstline.values import Table
from loop_programs import Do, Program, loop, run

SOMETIMES = loop(40, Do("Send", 12), Do("Bcast", 13, when=lambda k: k % 2), Do("Recv", 14))


def shape(structure):
    """Give a program as text: each node with how often it is executed."""
    return "\n".join(
        "  " * depth
        + f"{type(item).__name__} {item.executions.tolist()}"
        + (f" {item.operation} {item.path}" if isinstance(item, Call) else "")
        for item, depth in walk(structure.items)
    )


def calls_of(structure):
    """Give the operations of each rank as the program makes them."""
    sites = structure.reduced.sites
    return [
        [sites[number].operation for number in structure.expand(lane).tolist()]
        for lane in range(len(structure.ranks))
    ]


@pytest.mark.parametrize("seed", range(12))
def test_others_make_the_same_calls_by_other_programs(seed):
    trace = Program(seed).trace(paths=seed % 2 == 0)
    found = detect(trace, method="exact")

    others = other_readings(trace, found, most=9)

    shapes = [shape(found), *map(shape, others)]
    assert len(set(shapes)) == len(shapes)
    for other in others:
        assert other.fidelity >= 0.999
        if other.method == "exact":
            assert calls_of(other) == calls_of(found)


def test_those_that_explain_most_come_first_and_of_these_the_shortest():
    # small programs, of which many can be read in several ways
    seeds = (2, 3, 4, 5, 7, 9, 10, 11, 13, 14, 15, 18, 21, 24, 28, 29)
    several = set()
    for seed in seeds:
        trace = Program(seed).trace(paths=False)
        found = detect(trace, method="exact")

        others = other_readings(trace, found, most=9)

        order = [
            (other.conditions.unexplained, description_length(other.items))
            for other in others
            if other.method == "exact"
        ]
        assert order == sorted(order)
        first = [shape(other) for other in other_readings(trace, found, most=1)]
        assert first == [shape(other) for other in others[:1]]
        several |= {len(set(column)) > 1 for column in zip(*order, strict=True)}
    assert several == {True, False}


def test_the_reading_that_was_not_chosen_is_the_other():
    trace = run(SOMETIMES, ranks=2)
    exact, seed = (detect(trace, method=method) for method in ("exact", "seed"))

    assert shape(seed) != shape(exact)
    assert [shape(other) for other in other_readings(trace, seed)] == [shape(exact)]


def test_readings_are_shown_below_the_listing_with_their_lengths():
    trace = run(SOMETIMES, ranks=2)
    seed = detect(trace, method="seed")
    (other,) = other_readings(trace, seed)
    view = StructureView(seed, others=[other])

    own, length = description_length(seed.items), description_length(other.items)
    *_, heading, table = view.blocks()
    document = json.loads(json.dumps(view.document()))

    assert heading == Heading(f"Other readings as true as this one, of length {own}")
    assert isinstance(table, Table)
    assert table.title == f"Length {length}, by the exact method"
    assert any("if every 2nd iteration:" in row[2] for row in table.rows)
    assert document["length"] == own
    assert [(each["length"], each["method"]) for each in document["other"]] == [
        (length, "exact")
    ]
    kinds = [node["kind"] for node in document["other"][0]["program"]]
    assert kinds == ["call", "loop", "call"]


def test_a_program_that_can_be_read_in_one_way_only_says_so():
    found = detect(run(loop(20, Do("Send", 12), Do("Recv", 14)), ranks=2), method="exact")

    *_, last = StructureView(found, others=[]).blocks()

    length = description_length(found.items)
    assert last == Heading(f"Other readings: none is as true as this one, of length {length}")
    assert "other" not in StructureView(found).document()
