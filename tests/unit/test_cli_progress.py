"""Progress stays silent for a second, then says share, rate and remaining time."""

import io

from burstline.show.progress import Bar, progress_line


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def watched(*, live):
    stream, clock = io.StringIO(), Clock()
    return Bar(stream, live=live, clock=clock), stream, clock


def test_nothing_is_drawn_within_the_first_second():
    bar, stream, clock = watched(live=True)
    with bar:
        bar.step("Reading", 100, "B")
        clock.now += 0.9
        bar.advance(90)

    assert stream.getvalue() == ""


def test_a_longer_step_is_drawn_and_wiped_at_the_end():
    bar, stream, clock = watched(live=True)
    with bar:
        bar.step("Reading", 4_000_000, "B")
        clock.now += 2
        bar.advance(1_000_000)

    drawn = stream.getvalue()
    assert "Reading   25%" in drawn
    assert "500 kB/s" in drawn
    assert "0:06 left" in drawn
    assert drawn.endswith("\r\x1b[K")


def test_drawing_is_bounded_however_often_progress_is_reported():
    bar, stream, clock = watched(live=True)
    with bar:
        bar.step("Reading", 0, "B")
        clock.now += 2
        for _ in range(1000):
            clock.now += 0.001
            bar.advance(1)

    assert stream.getvalue().count("Reading") <= 11


def test_without_a_terminal_a_line_is_added_every_ten_seconds():
    bar, stream, clock = watched(live=False)
    with bar:
        bar.step("Reading", 100, "processes")
        for _ in range(25):
            clock.now += 1
            bar.advance(2)

    lines = stream.getvalue().splitlines()
    assert len(lines) == 2
    assert "\x1b" not in stream.getvalue()


def test_without_a_stream_nothing_happens():
    clock = Clock()
    with Bar(None, live=True, clock=clock) as bar:
        bar.step("Reading", 100, "B")
        clock.now += 60
        bar.advance(50)


def test_progress_beyond_the_total_is_shown_as_all_of_it_and_long_waits_in_hours():
    line = progress_line("Reading", 300, 200, unit="B", elapsed_s=1.0)
    assert line.startswith("Reading  100%")
    assert "left" not in line
    assert "1:23:20 left" in progress_line("Reading", 1, 5_001, unit="B", elapsed_s=1.0)
