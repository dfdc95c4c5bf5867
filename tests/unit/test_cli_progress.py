"""Progress stays silent for a second, then says share, rate and remaining time."""

import io

from burstline.show.progress import Bar, progress_line


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def drawn(total, *steps, live=True):
    """What is drawn of a step that advances: after how many seconds, and how far."""
    stream, clock = io.StringIO(), Clock()
    with Bar(stream, live=live, clock=clock) as bar:
        bar.step("Reading", total, "B")
        for seconds, done in steps:
            clock.now += seconds
            bar.advance(done)
    return stream.getvalue()


def test_nothing_is_drawn_within_the_first_second():
    assert drawn(100, (0.9, 90)) == ""


def test_a_longer_step_is_drawn_and_wiped_at_the_end():
    seen = drawn(4_000_000, (2, 1_000_000))

    assert "Reading   25%" in seen
    assert "500 kB/s" in seen
    assert "0:06 left" in seen
    assert seen.endswith("\r\x1b[K")


def test_drawing_is_bounded_however_often_progress_is_reported():
    assert drawn(0, (2, 0), *[(0.001, 1)] * 1000).count("Reading") <= 11


def test_without_a_terminal_a_line_is_added_every_ten_seconds():
    seen = drawn(100, *[(1, 2)] * 25, live=False)

    assert len(seen.splitlines()) == 2
    assert "\x1b" not in seen


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
