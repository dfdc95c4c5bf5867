"""The browser folds, filters and searches what `burstline structure` prints."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import NamedTuple

import pytest

import burstline
import by_hand
from burstline.browser.app import Browser, Code
from burstline.browser.details import facts, iterations
from burstline.browser.outline import OutlineView, outline
from burstline.cli.commands import browse
from burstline.show.code_lines import pseudocode
from burstline.structure import Call, Condition, Loop, detect
from burstline.structure.tables.costs import loop_table
from loop_programs import Do, loop, run

PROGRAM = (
    Do("Comm_rank", 3),
    loop(
        20,
        loop(8, Do("Send", 9, work_ns=500), Do("Recv", 10)),
        Do("Bcast", 12, when=lambda k: k % 2, work_ns=9_000),
        Do("Barrier", 14, ranks={0}),
        Do("Allreduce", 16),
    ),
)
EVIL = "[red]$evil[/red]\x1b[bold]x[/bold]"
SIZE = (110, 40)


@pytest.fixture(scope="module")
def trace():
    return run(*PROGRAM, ranks=4, counters=True)


@pytest.fixture(scope="module")
def structure(trace):
    return detect(trace, method="exact")


def texts(found, rows):
    return [found.rows[at].line.text for at in rows]


def on_screen(app):
    """Give the screen as lines of text."""
    lines = (strip.text for strip in app.screen._compositor.render_strips())
    return "\n".join(lines).replace("\xa0", " ")


class Seen(NamedTuple):
    text: str
    row: object


def drive(app, *keys, size=SIZE):
    """Press keys one after the other; give the screen and the row at the end."""

    async def story():
        async with app.run_test(size=size, notifications=True) as pilot:
            await pilot.pause()
            await pilot.press(*keys)
            await pilot.pause()
            await app.workers.wait_for_complete()
            await pilot.pause()
            return Seen(on_screen(app), app.row if app.screen.query(Code) else None)

    return asyncio.run(story())


def pseudocode_shown(app):
    return [row.line.text for row in app.rows]


def app_of(trace, structure, **view):
    return Browser(trace, structure, OutlineView(**view), name="ring.prv")


def test_an_outline_is_the_pseudo_code_line_by_line(structure):
    lines = pseudocode(structure, bursts_ns=400)

    found = outline(structure, OutlineView(bursts_ns=400))

    assert [row.line for row in found.rows] == lines
    assert found.shown(frozenset()) == list(range(len(lines)))


@pytest.mark.parametrize("ranks", [None, (0,), (1, 2)])
def test_every_node_is_told_by_its_line(structure, ranks):
    kinds = {"call": Call, "loop": Loop, "condition": Condition}

    for row in outline(structure, OutlineView(ranks=ranks, bursts_ns=1)).rows:
        if row.line.item is None:
            assert row.line.kind in {"frame", "burst"} or row.line.text.startswith("if rank ")
        else:
            assert isinstance(row.line.item, kinds[row.line.kind])
        if isinstance(row.line.item, Call):
            assert row.line.text.startswith(row.line.item.operation)
            assert row.line.line == str(row.line.item.caller.line)


def test_what_is_folded_hides_what_is_in_it_and_so_do_a_threshold_and_a_depth(structure):
    found = outline(structure, OutlineView())
    outer = next(row for row in found.rows if row.line.kind == "loop")

    for at, row in enumerate(found.rows):
        if row.parent >= 0:
            assert row.parent < at
            assert found.rows[row.parent].line.depth == row.line.depth - 1
    left = texts(found, found.shown({outer.key}))
    assert left == ["MPI_Init()", "MPI_Comm_rank()", outer.line.text, "MPI_Finalize()"]
    as_long = [found.rows[at].line.kind for at in found.shown(frozenset(), 5_000)]
    assert as_long == ["loop"]
    assert found.shown(frozenset(), 10**15) == []
    assert [len(found.deeper_than(depth)) for depth in range(3)] == [2, 1, 0]


def test_keys_stay_the_same_when_the_view_changes(structure):
    one = outline(structure, OutlineView())
    other = outline(structure, OutlineView(ranks=(0,), bursts_ns=1, counter="ins"))

    loops = [
        [row.key for row in found.rows if row.line.kind == "loop"] for found in (one, other)
    ]
    assert loops[0] == loops[1]
    assert len({row.key for row in other.rows}) == len(other.rows)


def test_search_goes_around_the_end_in_both_directions(structure):
    found = outline(structure, OutlineView())
    sends = [at for at, row in enumerate(found.rows) if "Send" in row.line.text]

    assert found.find("mpi_SEND", 0) == sends[0]
    assert found.find("mpi_send", sends[-1]) == sends[0]
    assert found.find("mpi_init", 0, step=-1) == 0
    assert found.find("a.c:9", 0) == sends[0]
    assert found.find("nowhere", 0) is None


def known_of(structure, word, ranks=None):
    """What is known of the first line with a word."""
    rows = outline(structure, OutlineView(ranks=ranks)).rows
    return dict(facts(structure, next(row for row in rows if word in row.line.text), ranks))


def test_facts_of_a_call_say_who_and_how_often_and_how_long(structure):
    expected = {
        "call": "MPI_Barrier", "called by": "main a.c:14", "ranks": "0",
        "executed": "20 on all", "duration": "10 ns ± 0 ns",
    }  # fmt: skip
    assert expected.items() <= known_of(structure, "Barrier").items()
    of_one = {"ranks": "0", "executed": "160 on all"}
    assert of_one.items() <= known_of(structure, "Send", (0,)).items()
    for row in outline(structure, OutlineView(bursts_ns=1)).rows:
        known = facts(structure, row)
        assert known
        assert all(name and value for name, value in known)


def test_iterations_are_drawn_within_the_width(trace, structure):
    table = loop_table(trace, structure, 2)

    known, shape = iterations(table, 30)

    assert len(shape) == 30
    assert dict(known)["iterations"] == "160 on 4 threads"
    assert len(iterations(loop_table(trace, structure, 1), 30)[1]) == 20


def test_the_screen_shows_the_pseudo_code_with_its_columns(trace, structure):
    shown = drive(app_of(trace, structure, counter="ins")).text

    for text in ("FILE", "LINE", "PSEUDOCODE", "E(time)", "E(size)", "E(ins)", "ring.prv"):
        assert text in shown
    assert "fidelity 100.00 %" in shown
    assert "for 1 to 20:" in shown
    assert "method exact" in shown


def test_keys_fold_and_unfold_one_and_all(trace, structure):
    app = app_of(trace, structure)
    everything = [line.text for line in pseudocode(structure)]
    outer = next(k for k, text in enumerate(everything) if "loop 1" in text)

    seen = drive(app, *["down"] * outer, "enter")
    assert len(app.rows) == 4
    assert seen.row.loop.id == 1

    app = app_of(trace, structure)
    drive(app, "minus")
    assert len(app.rows) == 4
    app = app_of(trace, structure)
    drive(app, "minus", "plus")
    assert pseudocode_shown(app) == everything


def test_left_goes_out_and_right_opens(trace, structure):
    app = app_of(trace, structure)

    seen = drive(app, "slash", *"Send", "enter", "left", "left")

    assert "loop 2" in seen.row.line.text
    assert not any("Send" in text for text in pseudocode_shown(app))
    drive(app := app_of(trace, structure), "slash", *"Send", "enter", "left", "left", "right")
    assert any("Send" in text for text in pseudocode_shown(app))


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (["end", "up", "b", *"1ns", "enter", "r", "0", "enter"], "MPI_Allreduce()"),
        (["minus", "slash", *"recv", "enter"], "MPI_Recv"),
    ],
    ids=["something else is seen", "search unfolds what is around"],
)
def test_the_cursor_is_on_its_line(trace, structure, keys, line):
    assert drive(app_of(trace, structure), *keys).row.line.text.startswith(line)


def test_nothing_to_see_is_an_empty_table_and_not_the_end(trace, structure):
    app = app_of(trace, structure)

    seen = drive(app, "t", *"9h", "enter", "space", "left", "minus", "plus", "1", "p", "escape")

    assert app.rows == []
    assert seen.row is None


def test_a_digit_is_a_depth(trace, structure):
    app = app_of(trace, structure)

    drive(app, "1")

    assert any("loop 2" in text for text in pseudocode_shown(app))
    assert not any("Send" in text for text in pseudocode_shown(app))


def test_thresholds_and_ranks_are_asked_for(trace, structure):
    app = app_of(trace, structure)

    drive(app, "t", *"5us", "enter")
    assert app.view.least_ns == 5_000
    assert len(app.rows) == 1

    app = app_of(trace, structure)
    drive(app, "b", *"1us", "enter")
    assert any(line.startswith("computation from ") for line in pseudocode_shown(app))

    app = app_of(trace, structure)
    drive(app, "r", *"1-2", "enter")
    assert app.view.ranks == (1, 2)
    assert not any("Barrier" in text for text in pseudocode_shown(app))

    app = app_of(trace, structure, ranks=(1,))  # an empty answer takes a restriction back
    drive(app, "r", "backspace", "enter")
    assert app.view.ranks is None
    with pytest.raises(burstline.ParameterError, match="there are ins"):
        app_of(trace, structure, counter="cyc")


@pytest.mark.parametrize(
    ("key", "answer", "message"),
    [("t", "soon", "soon"), ("r", "9", "there are 0..3"), ("slash", "zzz", "no line holds")],
)
def test_an_answer_that_makes_no_sense_is_refused_and_changes_nothing(
    trace, structure, key, answer, message
):
    app = app_of(trace, structure)

    shown = drive(app, key, *answer, "enter", "escape").text

    assert message in shown
    assert app.view == OutlineView(counter=app.view.counter)


def test_a_counter_can_be_chosen(trace, structure):
    app = app_of(trace, structure)

    shown = drive(app, "c", "enter").text

    assert app.view.counter == "ins"
    assert "E(ins)" in shown


def test_a_loop_shows_how_it_went(trace, structure):
    shown = drive(app_of(trace, structure), "slash", *"loop 2", "enter").text

    assert "loop 2: longest rank of each iteration" in shown
    assert "160 on 4 threads" in shown
    assert "█" in shown


def test_the_plot_and_the_keys_explained_are_one_key_away_and_back(trace, structure):
    assert "repetitions of a call" in drive(app_of(trace, structure), "p").text
    assert "PSEUDOCODE" in drive(app_of(trace, structure), "p", "escape").text
    explained = drive(app_of(trace, structure), "question_mark", size=(150, 60)).text
    assert "Loops to depth 3" in explained


def evil():
    paths = [
        {"call_path": 0, "function": "main", "file": EVIL, "line": 2},
        {"call_path": 1, "parent": 0, "function": EVIL, "file": EVIL, "line": 3},
    ]
    calls = by_hand.calls_of([("Send", 10 * k, 10 * k + 1) for k in range(20)])
    for call in calls:
        call["call_path"] = 1
    return by_hand.trace_of(locations=by_hand.threads((0, 1000)), calls=calls, call_paths=paths)


def test_labels_are_shown_and_not_obeyed():
    trace = evil()
    app = Browser(trace, detect(trace), OutlineView(), name=EVIL)

    shown = drive(app, "slash", *"[/x", "enter", "escape", size=(200, 40)).text

    written = EVIL.replace("\x1b", "\ufffd")
    assert f"{written}()" in shown  # the pseudo-code
    assert f"{written}:2" in shown  # what is known of the line
    assert shown.count(written) == 6  # also the trace, and a file twice
    assert "no line holds '[/x'" in shown
    assert "\x1b" not in shown


def test_a_large_structure_begins_folded():
    steps = [Do("Send", k + 2) for k in range(2_100)]
    trace = run(loop(2, Do("Bcast", 1), loop(2, *steps)), ranks=1)
    app = Browser(trace, detect(trace, method="exact"), OutlineView(), name="")

    drive(app)

    assert len(app.rows) < 100


def test_without_textual_the_browser_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "textual", None)

    with pytest.raises(burstline.MissingExtraError, match=r"burstline\[tui\]"):
        browse.run(argparse.Namespace())
