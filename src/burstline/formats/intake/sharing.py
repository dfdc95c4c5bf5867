"""Parts of a source that workers load: each opens the source itself, once for all its parts."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from burstline.executor import Workers
from burstline.formats.intake.budget import ReadingCosts, require_bytes


class Shared(NamedTuple):
    """Who loads parts, and what each needs for it."""

    workers: Workers
    open: Callable[..., Any]  # what opens the source, a function of a module
    arguments: tuple[Any, ...]  # of that, all of which can be keys
    # what a source that was opened so does not know of a part, but the one here does
    beside: Callable[[Any], tuple[Any, ...]]
    seen: Path  # a file that workers have to see

    def loaded(self, parts: Sequence[Any]) -> Generator[Any]:
        """What each part holds, in order, loaded by workers."""
        self.workers.require_seen(self.seen.absolute())
        found = self.seen.stat()
        # a source that was made anew is opened anew
        own = self.open, self.arguments, (found.st_size, found.st_mtime_ns)
        tasks = [(*own, part, *self.beside(part)) for part in parts]
        return self.workers.in_order(_loaded, tasks)

    def at_once(
        self,
        plan: tuple[int, int | None],
        costs: ReadingCosts,
        sizes: Sequence[int],
        uncut: Sequence[int],
    ) -> tuple[int, int | None]:
        """Units of a part and of the longest process that is not cut: as here, or fewer.

        Parts as large as here become the same row groups; a worker with little memory cannot
        load these.
        """
        most, longest = plan
        each = self.workers.memory_each
        if each is None:
            return plan
        bytes_of_unit = costs.made + costs.ahead  # one part is loaded, one waits to be fetched
        way_out = "Allow each worker so much: a process is read at once."
        require_bytes(int(max(uncut, default=0) * bytes_of_unit), each, way_out=way_out)
        fits = max(int(each / bytes_of_unit), 1)
        is_cut = max(sizes, default=0) > fits
        return min(most, fits), min(longest or fits, fits) if is_cut else longest


def _loaded(task: tuple[Any, ...]) -> Any:  # noqa: ANN401 -- as the source
    opens, arguments, stamp, part, *beside = task
    return _opened(opens, arguments, stamp).load(part, *beside)


@lru_cache(maxsize=1)
def _opened(
    opens: Callable[..., Any], arguments: tuple[Any, ...], _stamp: tuple[int, int]
) -> Any:  # noqa: ANN401 -- any source
    return opens(*arguments)
