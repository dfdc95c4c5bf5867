"""Work on parts by the workers of a Dask scheduler, with what becomes of them in order."""

from __future__ import annotations

import ctypes
import platform
import resource
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from burstline.errors import WorkersError, plural
from burstline.formats import store
from burstline.progress import SILENCE, Progress

if TYPE_CHECKING:
    from distributed import Client, Future

_Part = TypeVar("_Part")
_Result = TypeVar("_Result")

_AHEAD: Final = 2  # parts that each worker has or waits for: one is worked on, one is there
_KILOBYTE: Final = 1024
_PATIENCE_S: Final = 300
"""How long work waits while there is no worker: those of a batch system are started anew."""

_LOOK_S: Final = 5
_MOST_LOST: Final = 4  # results of one part; as often as Dask has it worked on
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # as mallopt of the GNU C library calls them
_KEPT_BYTES: Final = 4 << 20
"""Arrays up to here are made of memory that was freed; larger ones leave holes between them."""

BESIDE: Final = 300 << 20
"""What Dask and the libraries take of a worker before it works."""


class _Done(NamedTuple):
    """What became of a part, how long that took, and what its worker had at most so far."""

    result: Any
    worker: str
    took_s: float
    peak_bytes: int


class DaskWorkers:
    """The workers of a Dask scheduler.

    Parameters
    ----------
    client : distributed.Client
        Connected to the scheduler; closing it is left to whoever made it.

    Raises
    ------
    WorkersError
        If there is no worker, or one has another version of burstline or Python.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.peaks: dict[str, int] = {}  # most bytes of each worker so far
        self.busy_s: defaultdict[str, float] = defaultdict(float)  # how long each has worked
        self._versions = _versions()
        for worker, there in self._asked(_versions).items():
            _require_same(worker, there, self._versions)

    @property
    def address(self) -> str:
        """Where the scheduler is."""
        address: str = self.client.scheduler_info()["address"]
        return address

    @property
    def count(self) -> int:
        """How many there are now."""
        return len(self.client.scheduler_info(n_workers=-1)["workers"])

    @property
    def memory_each(self) -> int | None:
        """The bytes that each may take for what it reads; None if nobody limits it."""
        limits = [
            worker["memory_limit"]
            for worker in self.client.scheduler_info(n_workers=-1)["workers"].values()
        ]
        least = min(limits, default=0)
        return max(least - BESIDE, least // 2) if least else None

    @property
    def dashboard(self) -> str | None:
        """The address of the page that shows what workers do, if there is one."""
        if find_spec("bokeh") is None:  # the page would say that it needs it
            return None
        has_one = "dashboard" in self.client.scheduler_info().get("services", {})
        return self.client.dashboard_link if has_one else None

    def require_seen(self, path: Path) -> None:
        """Raise WorkersError unless each worker sees the file or folder that is here."""
        here = _seen(path)
        for worker, there in self._asked(_seen, path).items():
            if there != here:
                raise WorkersError(
                    f"the worker at {worker} does not see {path} as it is here: put the trace "
                    "where all workers see it, on a file system that they share"
                )

    def in_order(
        self,
        work: Callable[[_Part], _Result],
        parts: Sequence[_Part],
        *,
        progress: Progress = SILENCE,
    ) -> Generator[_Result]:
        """What becomes of each part in order, while some of those to come are worked on.

        What a worker was at when it was lost is begun again by another. Close it to give up:
        parts that have not begun do not begin.
        """
        rest = iter(parts)
        ahead = _AHEAD * max(self.count, 1)
        coming: deque[Future] = deque(self._begun(work, part) for part in islice(rest, ahead))
        while coming:
            done = self._result(coming.popleft())
            coming.extend(self._begun(work, part) for part in islice(rest, 1))
            self.busy_s[done.worker] += done.took_s
            self.peaks[done.worker] = max(done.peak_bytes, self.peaks.get(done.worker, 0))
            progress.advance(1)
            result = [done.result]
            del done
            yield result.pop()  # no reference stays here: what is done with goes at once

    def _begun(self, work: Callable[[_Part], _Result], part: _Part) -> Future:
        return self.client.submit(_worked, work, part, self._versions, pure=False)

    def _result(self, future: Future) -> _Done:
        from distributed import CancelledError, KilledWorker  # noqa: PLC0415 -- an extra

        try:
            done: _Done = self._awaited(future)
        except KilledWorker as error:
            raise WorkersError(
                f"workers were killed {plural(error.allowed_failures + 1, 'time')} while they "
                "worked on the same part. Allow each more memory, or look at its log."
            ) from error
        except CancelledError as error:
            raise WorkersError("the scheduler has gone, or has given up a part") from error
        return done

    def _awaited(self, future: Future) -> Any:  # noqa: ANN401 -- of any work
        """What becomes of a part; WorkersError if there is no worker for long.

        A result stays with its worker until it is asked for, and is made again if that is lost:
        without end where it is lost because it is sent, so losses are counted.
        """
        seen_s, look_s, lost = monotonic(), _LOOK_S, 0
        while True:
            is_made = future.done()
            try:
                if is_made:
                    return future.result(timeout=look_s)
                future.exception(timeout=look_s)  # returned, where `result` raises it
            except TimeoutError:
                if future.status == "error":  # of the part itself
                    raise
                if is_made:
                    look_s *= 2  # what is large takes longer to come
                    lost += not future.done()  # with the worker that had it
            if lost == _MOST_LOST:
                raise WorkersError(
                    f"what became of a part was lost {plural(lost, 'time')} with the worker "
                    "that sent it. Allow each more memory, or look at its log."
                )
            if self.count:
                seen_s = monotonic()
            elif monotonic() - seen_s > _PATIENCE_S:
                raise WorkersError(
                    "no worker is left, and none has come for "
                    f"{plural(_PATIENCE_S, 'second')}. Start workers again, with more memory "
                    "each if they were killed."
                )

    def _asked(self, function: Callable[..., Any], *arguments: object) -> dict[str, Any]:
        """What each worker says; one that cannot say anything has no burstline."""
        found: dict[str, Any] = self.client.run(function, *arguments, on_error="return")
        # One that is lost meanwhile says nothing: its connection is, and others go on.
        answers = {each: said for each, said in found.items() if not isinstance(said, OSError)}
        if not answers:
            raise WorkersError("the scheduler has no workers")
        for worker, answer in answers.items():
            if isinstance(answer, Exception):
                raise WorkersError(
                    f"the worker at {worker} cannot load burstline ({answer}). Start it in the "
                    "same environment."
                )
        return answers


def _worked(work: Callable[[_Part], _Result], part: _Part, versions: tuple[str, str]) -> _Done:
    """What becomes of a part here, by a worker that may have come when others had begun."""
    from distributed import get_worker  # noqa: PLC0415 -- an extra

    worker = get_worker().address
    _require_same(worker, _versions(), versions)
    _reuse_memory()
    begin_s = monotonic()
    result = work(part)
    took_s = monotonic() - begin_s
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KILOBYTE
    return _Done(result, worker, took_s, peak_bytes)


@cache
def _reuse_memory() -> None:
    """Have memory that was freed be used again, by the GNU C library."""
    # Dask starts workers so that each array goes back to the system when it is freed. That is
    # millions of pages, which the system clears one by one for all workers of a machine.
    with suppress(AttributeError, OSError, TypeError):  # other libraries do not have it
        change = ctypes.CDLL(None).mallopt
        change(_MMAP_THRESHOLD, _KEPT_BYTES)
        change(_TRIM_THRESHOLD, 2 * _KEPT_BYTES)


def _require_same(worker: str, there: tuple[str, str], here: tuple[str, str]) -> None:
    if there != here:
        raise WorkersError(
            f"the worker at {worker} has {_told(there)}, here is {_told(here)}. Start it in "
            "the same environment."
        )


def _versions() -> tuple[str, str]:
    """Those that must be the same on both sides: burstline's and Python's."""
    return version("burstline"), ".".join(platform.python_version_tuple()[:2])


def _told(versions: tuple[str, str]) -> str:
    return "burstline {} on Python {}".format(*versions)


def _seen(path: Path) -> tuple[int, int] | None:
    """What a worker sees of a file or store; None if it is not there."""
    try:
        return store.stamp_of(path)
    except OSError:
        return None
