"""Markup of pages: texts are inert, tables are typed, pictures are within their frames."""

from __future__ import annotations

import re
import subprocess
from html.parser import HTMLParser
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstline.errors import UNSEEN
from burstline.show.page import charts
from burstline.show.page.html import Html, facts, link, table, tag, text
from burstline.show.page.kinds import LOOKS
from burstline.show.page.matrices import matrix
from burstline.show.page.sections import code
from burstline.show.page.sections.code import CodeRow
from burstline.structure import detect
from burstline.values import COUNT, SHARE, TEXT, TIME, Column, Table, Value
from loop_programs import Do
from loop_programs import run as loops

ASSETS = files("burstline.show.page") / "assets"
SCRIPTS = sorted(each.name for each in ASSETS.iterdir() if each.name.endswith(".js"))
ASKING = r"https?:|@import|fetch\(|XMLHttpRequest|WebSocket|eval\(|innerHTML"


class Seen(HTMLParser):
    """The elements and the text of some markup."""

    def __init__(self, markup):
        super().__init__()
        self.elements, self.text = [], ""
        self.feed(markup)
        self.close()

    def handle_starttag(self, name, attributes):
        self.elements.append((name, dict(attributes)))

    def handle_startendtag(self, name, attributes):
        self.elements.append((name, dict(attributes)))

    def handle_data(self, data):
        self.text += data


@given(st.text(max_size=60))
def test_a_text_stays_a_text_wherever_it_stands(label):
    markup = tag("p", label, title=label, data_x=label)

    seen = Seen(markup)

    assert [name for name, _ in seen.elements] == ["p"]
    assert seen.elements[0][1].keys() == {"title", "data-x"}
    assert not UNSEEN.search(markup)


def test_only_what_was_built_is_markup_and_a_page_links_to_itself_alone():
    assert "<b>" not in tag("p", "<b>")
    assert "<b>" in tag("p", tag("b", "bold"))
    assert not isinstance(tag("p") + "<b>", Html)
    assert len(text("x" * 10_000_000)) < 1000  # a label of megabytes makes no page of them
    assert link("waits", "Waits") == '<a href="#waits">Waits</a>'
    with pytest.raises(ValueError, match="itself alone"):
        tag("a", href="javascript:alert(1)")


def test_a_column_has_one_unit_which_its_head_names():
    rows = [["a", 35_400_000], ["b", 12_000], ["c", 0], ["d", None]]

    seen = Seen(table(Table([Column("What"), Column("Time", TIME)], rows)))

    assert "Time ms" in seen.text
    numbers = [each["data-v"] for _, each in seen.elements if "data-v" in each]
    assert numbers == ["35400000", "12000", "0"]
    assert all(told in seen.text for told in ("35.4", "< 0.1", "-"))


def test_times_that_are_compared_have_one_unit():
    block = Table(
        [Column("What"), Column("A", TIME), Column("B", TIME)], [["a", 10**9, 12_000]]
    )

    assert "B µs" in Seen(table(block)).text
    assert "B ms" in Seen(table(block, alike=True)).text


def test_a_value_told_otherwise_keeps_its_number_for_sorting():
    markup = table(Table([Column("Mean", TIME)], [[Value(1_500, TIME)]]))

    assert 'data-v="1500"' in markup
    assert "1.50 µs" in markup


def test_what_is_there_is_never_told_as_nothing():
    markup = table(Table([Column("Share", SHARE)], [[0.0001], [0.0], [None]]))

    assert re.findall(r">([^<>]+)</td>", markup) == ["&lt; 0.1 %", "0 %", "-"]


def test_the_largest_number_of_a_column_stands_out():
    columns = [Column("Rank"), Column("Calls", COUNT)]
    markup = table(Table(columns, [["0", 1], ["1", 7], ["2", 3]]), bold=True)

    assert re.findall(r'class="n max" data-v="(\d+)"', markup) == ["7"]


def test_of_many_rows_the_rest_is_counted_and_a_tree_is_indented_and_not_sorted():
    markup = table(Table([Column("Rank", TEXT)], [[str(k)] for k in range(1234)]), most=200)
    assert markup.count("<tr>") == 201
    assert "1,034 more rows" in markup

    markup = table(Table([Column("Metric")], [["a"], ["b"], ["c"]], depths=[0, 1, 40]))
    assert 'class="s d1"' in markup
    assert 'class="s d9"' in markup
    assert "sort" not in markup

    seen = Seen(facts([("Span", "405 ms")]))
    assert [name for name, _ in seen.elements] == ["dl", "dt", "dd"]


@given(st.dictionaries(st.sampled_from([look.name for look in LOOKS]), st.integers(0, 10**12)))
def test_a_stack_stays_within_its_frame_in_the_order_of_kinds(parts):
    whole = sum(parts.values())

    seen = Seen(charts.stack(parts, whole, 400, 20))

    boxes = [each for name, each in seen.elements if name == "rect" and each["class"][0] == "k"]
    there = [look.name for look in LOOKS if parts.get(look.name)]
    assert [each["class"][2:] for each in boxes] == there
    assert all(float(each["x"]) + float(each["width"]) <= 400 + len(LOOKS) for each in boxes)
    assert all(float(each["width"]) >= 0.5 for each in boxes)


@given(st.floats(1e-6, 1e12))
def test_ticks_are_few_and_reach_the_largest(most):
    ticks = charts.nice_ticks(most)

    assert ticks[0] == 0
    assert ticks[-1] >= most * (1 - 1e-9)
    assert len(ticks) <= 6


@given(st.lists(st.floats(0, 1e6), min_size=5, max_size=5))
def test_boxes_stay_within_their_frame(values):
    seen = Seen(charts.boxes([("duration", values)], 600, str))

    [(_, frame)] = [each for each in seen.elements if each[0] == "svg"]
    wide = float(frame["viewbox"].split()[2])
    lines = [each for name, each in seen.elements if name == "line"]
    assert all(0 <= float(each["x1"]) <= float(each["x2"]) <= wide for each in lines)


def test_dots_are_a_path_from_pixel_to_pixel_and_quartiles_are_in_order():
    assert charts.dots([(3, 4), (5, 4), (5, 9)]) == "M3 4h0m2 0h0m0 5h0"
    assert charts.quartiles([5, 1, 4, 2, 3]) == (1, 2, 3, 4, 5)
    assert charts.quartiles([]) == ()


def test_a_matrix_has_sums_and_its_cells_lead_somewhere():
    axes, sums = ("from", "to"), ("sent", "received")
    markup = matrix({(0, 1): 3, (1, 0): 5}, 2, COUNT, axes, sums, go="pair")

    assert 'data-go="pair:1:0"' in markup
    assert markup.count("data-go") == 2
    assert re.findall(r'class="sum">([^<]*)<', markup) == ["3", "5", "5", "3", "8"]


@pytest.mark.parametrize(("ranks", "cells"), [(17, 17), (128, 128), (129, 65), (10_000, 127)])
def test_a_matrix_of_many_ranks_is_ink_of_bounded_size(ranks, cells):
    cell = {(ranks - 1, 0): 9, (ranks - 2, 0): 1}
    markup = matrix(cell, ranks, COUNT, ("from", "to"), ("", ""))

    assert markup.count("<tr>") == cells + 1
    assert len(markup) < 500_000


def test_a_matrix_in_which_all_send_to_all_is_no_larger_and_classes_are_named():
    cells = {(row, column): 1 + row for row in range(100) for column in range(100)}
    markup = matrix(cells, 100, COUNT, ("from", "to"), ("", ""))
    assert markup.count("<tr>") == 51
    assert len(markup) < 500_000
    assert "Each row and column is 2 ranks." in markup

    names = [f"{3 * k}-{3 * k + 2}" for k in range(130)]
    markup = matrix({(129, 0): 9}, 130, COUNT, ("from", "to"), ("", ""), names=names)
    assert 'title="384-389 → 0-5: 9"' in markup
    assert "Each row and column is 6 ranks." in markup


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ({"operation": "MPI_Wait", "file": "a.c", "first": 7, "last": 7}, "MPI_Wait at a.c:7"),
        ({"operation": "MPI_Wait", "file": "a.out"}, "MPI_Wait in a.out"),
        ({"operation": "MPI_Wait"}, "MPI_Wait"),
        ({"next_where": "a.c:9", "next_operation": "MPI_Send"}, "Computing before a.c:9"),
        ({"next_where": "a.c", "next_operation": "MPI_Send"}, "Computing before MPI_Send"),
        ({"file": "a.c", "first": 7, "last": 9}, "Computing before a.c:7-9"),
        ({"text": "computation in f (a.c:4)", "next_where": "a.c:9"}, "Computing in f (a.c:4)"),
    ],
)
def test_the_most_expensive_line_is_named_as_far_as_it_is_known(place, said):
    kind = "call" if "operation" in place else "burst"
    row = CodeRow(kind, 0, **{"text": "", "spent_ns": 5} | place)

    assert code.title([row], detect(loops(Do("Barrier", 4))), 10) == (
        f"{said} holds 50.0 % of all rank time"
    )


@pytest.mark.needs("node")
@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_are_javascript(node, name):
    subprocess.run([*node, "--check", str(ASSETS / name)], check=True)


def test_styles_have_a_class_for_each_kind_and_level():
    names = ("pictures.css", "page.css")
    style = "".join((ASSETS / name).read_text(encoding="utf-8") for name in names)

    assert all(f".k-{look.name} " in style for look in LOOKS)
    assert all(f".h-{look.hatch} " in style for look in LOOKS if look.hatch)
    assert all(f".d{depth} " in style for depth in range(1, 10))
    assert style.count("{") == style.count("}")


@pytest.mark.parametrize("name", ["page.css", *SCRIPTS])
def test_assets_ask_nobody_for_anything(name):
    content = (ASSETS / name).read_text(encoding="utf-8")

    assert not re.search(ASKING, content)
    assert "</script" not in content
    assert "</style" not in content
