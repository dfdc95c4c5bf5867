"""The timeline of a page in a browser: what is drawn, picked and said, by mouse and by keys."""

from __future__ import annotations

import re
from importlib.resources import files
from xml.etree import ElementTree as ET

import pytest

from command import page_of

pytestmark = pytest.mark.needs("chromium")

LULESH = files("burstline") / "data" / "lulesh_8r.prv.gz"
HOSTILE = r"""ranks 2 threads 1
path 0 "</script><script>window.obeyed = 1</script>" file "\u202e.c" line 10
path 1 "<img src=x onerror='window.obeyed = 1'>" file "{who}$&.c" line 11 under 0
0 | 0 enter MPI_Init | 1 leave | 10 enter MPI_Send path 1 | 12 send to 1 tag 7 bytes 8
  | 20 leave | 30 enter "MPI_<b>X" path 1 | 50 leave | 60 enter MPI_Finalize | 61 leave
1 | 0 enter MPI_Init | 1 leave | 5 enter MPI_Recv path 1 | 15 receive from 0 tag 7 bytes 8
  | 25 leave | 30 enter "MPI_<b>X" path 1 | 50 leave | 60 enter MPI_Finalize | 61 leave
"""


@pytest.fixture(scope="module")
def lulesh(tmp_path_factory):
    return page_of(tmp_path_factory.mktemp("page"), LULESH)


@pytest.fixture
def opened(browser):
    """Opens pages, and sees that they complain of nothing and ask nobody."""
    pages, said = [], []

    def opener(path, after="", **options):
        page = browser.new_page(viewport={"width": 1280, "height": 900}, **options)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.append(request.url))
        page.goto(f"file://{path}{after}")
        pages.append(page)
        if options.get("java_script_enabled", True):
            page.evaluate("burstlineTimeline.loaded")
            settle(page)
        return page

    yield opener
    for page in pages:
        page.close()
    # The page itself is asked for, and pixels are read back by these tests alone.
    assert not [text for text in said if not text.startswith(("file:", "Canvas2D: Multiple"))]


def settle(page):
    """Waits until what was asked for is drawn."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)))")


def title(page):
    return page.inner_text("#timeline h2")


def lanes_of(page):
    """Where the lanes begin in the window."""
    page.locator("#tl-lanes").scroll_into_view_if_needed()
    box = page.locator("#tl-lanes").bounding_box()
    return box["x"], box["y"]


def span(page):
    return page.evaluate("[burstlineTimeline.state.from, burstlineTimeline.state.to]")


def press(page, *keys):
    page.focus("#tl-lanes")
    for key in keys:
        page.keyboard.press(key)
        settle(page)


def colours(page):
    """How many pixels of the lanes have each colour."""
    return page.evaluate(
        """() => {
          const lanes = document.getElementById("tl-lanes");
          const { width, height } = lanes;
          const { data } = lanes.getContext("2d").getImageData(0, 0, width, height);
          const seen = {};
          for (let k = 0; k < data.length; k += 4) {
            const key = [data[k], data[k + 1], data[k + 2]].join();
            seen[key] = (seen[key] || 0) + 1;
          }
          return seen;
        }"""
    )


def test_it_opens_at_the_median_iteration_with_a_sentence(opened, lulesh):
    page = opened(lulesh)

    assert title(page).startswith("3In iteration ")
    assert page.get_attribute("[data-view=median]", "aria-pressed") == "true"
    assert sum(colours(page).values()) > 100_000
    assert colours(page).get("216,198,162", 0) > 10_000  # blocked calls


def test_the_script_says_what_the_page_says_and_shows_without_it(opened, lulesh):
    without = opened(lulesh, java_script_enabled=False)
    page = opened(lulesh)

    assert title(page) == title(without)
    shares = "[...document.querySelectorAll('#tl-legend b')].map((each) => each.textContent)"
    assert page.evaluate(shares) == without.locator("#tl-legend b").all_inner_texts()
    assert without.is_visible("#tl-static svg")
    assert not without.is_visible("#tl-lanes")
    assert not page.is_visible("#tl-static svg")
    panels = without.locator("#messages [data-tab]")
    assert [panels.nth(k).is_visible() for k in range(3)] == [True, True, True]
    assert without.locator("#panes table").count() == 3


def test_buttons_show_the_run_its_slowest_iteration_and_its_worst_wait(opened, lulesh):
    page = opened(lulesh)

    for name in ("whole", "slowest", "worst"):
        page.click(f"[data-view={name}]")
        settle(page)
        assert page.get_attribute(f"[data-view={name}]", "aria-pressed") == "true"
        if name == "whole":
            assert title(page).startswith("3In the whole run")
    assert " waits " in title(page)
    assert page.inner_text("#tl-why-head").startswith("Waits for rank")


def test_a_picked_call_tells_the_messages_that_it_sends_or_ends_with(opened, lulesh):
    page = opened(lulesh)

    press(page, "n")
    told = page.inner_text("#tl-from")
    count = page.evaluate("burstlineTimeline.messagesOf(burstlineTimeline.state.pick).length")

    assert count >= 1
    assert re.search(r"^[\d,]+ B (from|to) rank \d+", told, re.MULTILINE), told


def test_keys_zoom_pan_pick_and_follow_the_cause(opened, lulesh):
    page = opened(lulesh)
    begin, end = span(page)

    press(page, "w")
    assert span(page)[1] - span(page)[0] == pytest.approx(0.7 * (end - begin))
    middle = sum(span(page)) / 2
    press(page, "d")
    assert sum(span(page)) / 2 > middle
    press(page, "s", "s", "0")
    assert span(page)[0] == 0
    press(page, "n")
    first = title(page)
    assert " waits " in first
    press(page, "n")
    assert title(page) != first
    picked = page.evaluate("burstlineTimeline.state.pick.stream")
    press(page, "c")
    assert page.evaluate("burstlineTimeline.state.pick.stream") != picked
    press(page, "f")
    press(page, ".")
    press(page, ",", "ArrowDown", "ArrowUp")
    press(page, "Escape")
    assert page.evaluate("burstlineTimeline.state.pick") is None
    assert page.inner_text("#tl-what-head") == "Nothing picked"


def test_the_mouse_picks_pans_and_zooms(opened, lulesh):
    page = opened(lulesh)
    left, top = lanes_of(page)
    x, y = left + 500, top + 30

    page.mouse.click(x, y)
    settle(page)
    assert page.inner_text("#tl-what-head").startswith("Picked: rank 0")
    begin, end = span(page)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 200, y, steps=4)
    page.mouse.up()
    settle(page)
    assert span(page)[0] > begin
    page.keyboard.down("Shift")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 100, y, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    settle(page)
    assert span(page)[1] - span(page)[0] < 0.1 * (end - begin)


def test_the_wheel_zooms_once_the_picture_has_the_focus(opened, lulesh):
    page = opened(lulesh)
    left, top = lanes_of(page)
    page.mouse.move(left + 500, top + 30)
    before = span(page)

    page.mouse.wheel(0, 40)
    settle(page)
    assert span(page) == before
    page.focus("#tl-lanes")
    page.mouse.wheel(0, -100)
    settle(page)
    assert span(page) != before


def test_an_address_shows_what_was_seen_and_is_left_alone_if_it_means_nothing(opened, lulesh):
    page = opened(lulesh)
    press(page, "n", "w", "w")

    again = opened(lulesh, page.evaluate("location.hash"))

    assert title(again) == title(page)
    assert span(again) == pytest.approx(span(page), abs=1)
    assert again.inner_text("#tl-panel") == page.inner_text("#tl-panel")
    assert title(opened(lulesh, "#timeline&t=9-1&p=99-x&k=<b>")).startswith("3In iteration ")


def test_a_legend_lights_one_kind_and_tells_shares_of_what_is_shown(opened, lulesh):
    page = opened(lulesh)
    before = colours(page)
    shares = page.inner_text("#tl-legend")

    page.click("#tl-legend button:has-text('Late sender')")
    settle(page)
    after = colours(page)
    assert after.get("216,198,162", 0) < before["216,198,162"] / 10
    assert after["235,154,53"] >= 0.9 * before["235,154,53"]
    press(page, "0")
    assert page.inner_text("#tl-legend") != shares


def test_it_is_dark_where_the_reader_wants_that(opened, lulesh):
    page = opened(lulesh, color_scheme="dark")

    assert colours(page)["21,24,28"] > 10_000
    assert colours(page)["117,106,82"] > 10_000
    page.click("#theme")
    settle(page)
    assert colours(page)["216,198,162"] > 10_000


def test_a_printed_page_has_the_drawing(opened, lulesh):
    page = opened(lulesh)
    page.emulate_media(media="print")

    assert page.is_visible("#tl-static svg")
    assert not page.is_visible("#tl-lanes")


def test_hostile_labels_are_texts(opened, tmp_path):
    (trace := tmp_path / "evil.txt").write_text(HOSTILE)
    page = opened(page_of(tmp_path, trace))

    press(page, "n")
    assert "{who}$&.c:11" in title(page)
    press(page, ".", ".")
    left, top = lanes_of(page)
    for x in range(100, 1200, 60):
        page.mouse.click(left + x, top + 30)
    settle(page)

    assert page.evaluate("window.obeyed") is None
    assert page.locator("img").count() == 0
    assert "\u202e" not in page.inner_text("body")


def test_panels_take_turns_and_cells_of_a_matrix_are_gone_through_by_arrows(opened, lulesh):
    page = opened(lulesh)
    panels = page.locator("#messages [data-tab]")
    assert [panels.nth(k).is_visible() for k in range(3)] == [True, False, False]

    page.click("#messages .tools button:has-text('Time')")
    assert [panels.nth(k).is_visible() for k in range(3)] == [False, False, True]
    again = opened(lulesh, page.evaluate("location.hash"))
    assert again.locator("#messages [data-tab=Time]").is_visible()

    cells = page.locator("#messages [data-tab=Time] tbody td")
    cells.nth(1).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    row = "document.activeElement.parentNode.sectionRowIndex"
    assert page.evaluate(row) >= 1
    assert page.evaluate("document.activeElement.tabIndex") == 0


def picked(page, pane):
    return page.locator(f"#panes .pane:nth-child({pane}) [aria-selected=true]")


def test_what_is_picked_in_a_pane_divides_the_next(opened, lulesh):
    page = opened(lulesh)
    threads = page.locator("#panes .pane:nth-child(3)")
    assert picked(page, 1).inner_text().startswith("Wait at N x N")
    before = threads.inner_text()

    page.locator("#panes .pane:nth-child(1) .pane-row", has_text="Late Sender").first.click()
    assert page.inner_text("#panes-head h3").startswith("Late Sender is ")
    assert threads.inner_text() != before
    rows = page.locator("#panes .pane:nth-child(2) .pane-row")
    rows.nth(2).click()
    assert page.inner_text("#panes-head h3").startswith("Late Sender in ")
    again = opened(lulesh, page.evaluate("location.hash"))
    assert again.inner_text("#panes-head h3") == page.inner_text("#panes-head h3")
    assert again.inner_text("#panes") == page.inner_text("#panes")


def test_panes_fold_and_are_gone_through_by_keys(opened, lulesh):
    page = opened(lulesh)
    rows = page.locator("#panes .pane:nth-child(2) .pane-row")
    rows.first.click()
    count = rows.count()

    page.keyboard.press("ArrowLeft")
    assert rows.count() == 1
    page.keyboard.press("ArrowRight")
    assert rows.count() == count
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.getAttribute('aria-level')") == "2"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.getAttribute('aria-level')") == "1"
    page.keyboard.press("End")
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    assert picked(page, 2).count() == 0  # picked again is picked no more


def test_threads_are_sorted_where_the_reader_asks_for_that(opened, lulesh):
    page = opened(lulesh)
    names = page.locator("#panes .pane:nth-child(3) .pane-name")
    assert names.all_inner_texts() == [f"rank {rank}" for rank in range(8)]

    page.click("#panes .pane:nth-child(3) button")

    assert names.all_inner_texts() != [f"rank {rank}" for rank in range(8)]
    shown = page.locator("#panes .pane:nth-child(3) .pane-share").all_inner_texts()
    shares = [float(each.split()[0]) for each in shown]
    assert shares == sorted(shares, reverse=True)


@pytest.mark.parametrize("section", ["computing", "timeline"])
def test_pictures_are_taken_along_as_svg_and_png(opened, lulesh, tmp_path, section):
    page = opened(lulesh)
    tools = page.locator(f"#{section} .take, #{section} .tl-tools").last

    for form in ("SVG", "PNG"):
        with page.expect_download() as told:
            tools.locator(f"button:has-text('{form}')").click()
        told.value.save_as(tmp_path / form)
        assert told.value.suggested_filename == f"lulesh_8r-{section}.{form.lower()}"

    picture = ET.parse(tmp_path / "SVG").getroot()  # noqa: S314 -- ours
    elements = [each.tag.rpartition("}")[2] for each in picture.iter()]
    assert elements.count("text") > 5
    assert all(each.get("class") is None for each in picture.iter())
    kinds = {"Computing", "Late sender"} & {each.text for each in picture.iter()}
    assert kinds == ({"Computing", "Late sender"} if section == "timeline" else set())
    assert "rgb(" in picture.find(".//{*}text").get("fill")
    assert (tmp_path / "PNG").read_bytes()[1:4] == b"PNG"
    assert (tmp_path / "PNG").stat().st_size > 10_000


def test_a_search_that_is_emptied_leaves_the_address(opened, lulesh):
    page = opened(lulesh)

    page.fill("#search", "MPI_Wait")
    assert "find=MPI_Wait" in page.evaluate("location.hash")
    page.fill("#search", "")

    assert "find" not in page.evaluate("location.hash")
