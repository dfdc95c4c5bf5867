"""One of something is said in the singular, whatever says it."""

from __future__ import annotations

import re

import burstline
from burstline.testing import trace_of
from command import burstline as command
from screens import browsed

ALONE = "ranks 1 | 0 | 0 enter MPI_Init | 5 leave | 9 enter MPI_Finalize | 12 leave"
WRONG = re.compile(r"(?<![\d.,])1 (?:[a-z]+ )?(?!this|less|is|was|has)[a-z]+s\b")


def test_a_program_of_one_rank_has_nothing_in_the_plural(tmp_path):
    trace = trace_of(ALONE)
    burstline.write(trace, tmp_path / "one.store")
    for words in (
        ("info", "one.store"),
        ("waits", "one.store", "-o", "one.cubex"),
        ("structure", "one.store", "--method", "exact", "-o", "loops.csv"),
        ("table", "one.store", "-o", "one.csv"),
        ("convert", "one.store", "one.prv"),
        ("cut", "one.store", "cut.store", "--ranks", "0"),
    ):
        placed = [tmp_path / word if "." in word else word for word in words]
        done = command(*placed)
        said = done.stdout + done.stderr

        assert done.returncode == 0, (words, said)
        assert not WRONG.findall(said), (words, said)

    assert repr(trace).startswith("<Trace: 1 location, ")


def test_one_line_in_the_browser_is_one_line(tmp_path):
    path = tmp_path / "one.store"
    burstline.write(trace_of("ranks 1 | 0 | 0 enter MPI_Barrier | 5 leave"), path)

    screen = browsed(["browse", str(path)])

    assert "1 line, 0 hidden" in screen
    assert not WRONG.findall(screen)
