"""Work on parts: in order, by no more threads than were allowed, begun as far as was said."""

from __future__ import annotations

import ast
import threading
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

import burstline
from burstline.cli import main
from burstline.executor import in_order
from burstline.merge import matching
from burstline.testing import trace_of

_RUN = "ranks 8 | " + " | ".join(
    f"{rank} | "
    + " | ".join(f"{9 * k} enter MPI_Barrier | {9 * k + 2} leave" for k in range(4))
    for rank in range(8)
)


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_results_come_in_order_of_the_parts(threads):
    assert list(in_order(str, range(20), threads)) == [str(part) for part in range(20)]


def test_without_threads_the_caller_works():
    assert set(in_order(lambda _: threading.get_ident(), range(3), 0)) == {
        threading.get_ident()
    }


def test_no_more_than_was_said_is_begun_before_it_is_asked_for():
    begun = []
    with closing(in_order(begun.append, count(), 2, ahead=5)) as results:
        next(results)
        next(results)
    assert len(begun) <= 7


def test_a_part_that_fails_fails_where_it_is_asked_for():
    results = in_order(lambda part: 6 // part, [3, 0, 2], 2)
    assert next(results) == 2
    with pytest.raises(ZeroDivisionError):
        next(results)


def _threads_that_align(monkeypatch):
    seen = set()
    align = matching.align_thread

    def noted(*arguments, **options):
        seen.add(threading.get_ident())
        return align(*arguments, **options)

    monkeypatch.setattr(matching, "align_thread", noted)
    return seen


def test_matching_uses_no_more_threads_than_were_allowed(monkeypatch):
    runs = [trace_of(_RUN) for _ in range(2)]
    seen = _threads_that_align(monkeypatch)
    burstline.match(runs, threads=1)
    assert len(seen) == 1


def test_the_command_line_says_how_many_threads_match(monkeypatch, tmp_path):
    paths = [str(tmp_path / f"{name}.txt") for name in "ab"]
    for path in paths:
        Path(path).write_text(_RUN.replace(" | ", "\n"), encoding="utf-8")
    asked = []
    monkeypatch.setattr(
        matching,
        "in_order",
        lambda work, parts, threads, **_: asked.append(threads) or map(work, parts),
    )
    main(["merge", *paths, "--threads", "3"])
    assert asked == [3]


def test_nothing_else_makes_a_pool():
    source = Path(burstline.__file__).parent
    made = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Name) and node.id.endswith("PoolExecutor")
    }
    assert made == {"executor.py"}
