"""A run of a program, of which analyses are asked: each is computed once, within a budget."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, closing
from pathlib import Path
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar
from weakref import WeakValueDictionary

from burstline import formats, selection
from burstline.distribution import workers_of
from burstline.errors import ParameterError
from burstline.executor import Workers, threads_allowed
from burstline.formats import store
from burstline.formats.intake import give_back
from burstline.model import Trace
from burstline.progress import SILENCE, Progress
from burstline.run.analyses import ANALYSES, checks_beside
from burstline.run.memory import memory_allowed
from burstline.run.needs import ANALYSED, REPLAYED, Needs, bytes_needed, bytes_required
from burstline.run.parts import FoldTask, divided, folded, largest_share, require_store
from burstline.run.region import Chosen, iterations_part

if TYPE_CHECKING:
    from distributed import Client

    from burstline.answers import Check, Verdict
    from burstline.signature import Phases
    from burstline.structure import LoopTable, Structure
    from burstline.summary import Summary
    from burstline.timeline import Timeline
    from burstline.waits import Waits

_Key = tuple[str, ...]
_Folded = TypeVar("_Folded")
_OF_A_PART: Final = Needs(dict.fromkeys(ANALYSED, 1.0), 2.0)
"""Of a part that is gone through: its tables, as they are loaded and as they are selected."""
_COPIES_SELECTED: Final = 3
_COPIES_OF_A_PART: Final = 2
"""Beside a part there is what was found in others."""


def open(  # noqa: A001 -- a run, as a file
    source: str | os.PathLike[str] | Trace,
    *,
    memory: int | None = None,
    threads: int | None = None,
    raw: bool = False,
    scheduler: str | Client | None = None,
    progress: Progress = SILENCE,
) -> Run:
    """Open a run of a program, to ask analyses of it.

    Parameters
    ----------
    source : path or Trace
        A ``.prv``, ``.prv.gz`` or ``.otf2`` file, a store, a folder of raw files or tables; or
        a trace that was read.
    memory : int, optional
        The bytes that reading and each analysis may take; default 60 % of what is free.
    threads : int, optional
        Threads that read and analyse; default all processors that are allowed.
    raw : bool
        Whether events and states of the source are kept, too.
    scheduler : str or distributed.Client, optional
        Whose workers take a store apart, each some of its locations: a client of Dask, or the
        address of a scheduler, ``"local:4"`` for workers on this machine, or a file such as
        ``"slurm.toml"``. What it starts ends with :meth:`Run.close`.
    progress : Progress
        Told how far reading and analyses are.

    Returns
    -------
    Run
        Each analysis is a method of it.

    Raises
    ------
    FormatError
        If the file is not what it claims to be.
    MemoryBudgetError
        If the trace does not fit.
    WorkersError
        If no workers are there, or they do not see the store.
    MissingExtraError
        If there is a scheduler, but not the extra ``cluster``.

    Notes
    -----
    Reads the trace, of a store nothing but its directory.

    Examples
    --------
    >>> import burstline
    >>> from burstline.testing import trace_of
    >>> run = burstline.open(trace_of("ranks 1 | 0 | 2 enter MPI_Init | 9 leave"))
    >>> run.summary().duration_ns, run.summary() is run.summary()
    (7, True)
    """
    memory = memory_allowed() if memory is None else memory
    if isinstance(source, Trace):
        if scheduler is not None:
            raise ParameterError("workers take a store apart: give its path, not a trace")
        return Run(source, memory=memory, threads=threads, progress=progress)
    threads = threads_allowed(threads)
    path = Path(source)
    whole = formats.read(path, raw=raw, memory=memory, threads=threads, progress=progress)
    with ExitStack() as opened:
        workers = None
        if scheduler is not None:
            workers = opened.enter_context(workers_of(scheduler, memory=memory))
        run = Run(
            whole,
            memory=memory,
            threads=threads,
            progress=progress,
            path=str(source),
            workers=workers,
        )
        run.closing = opened.pop_all()
    return run


class Run:
    """A run of a program, or a part of one: analyses of it, each computed once.

    A result is told apart by the part, the analysis and its parameters; whoever asks again,
    from any thread, gets the same object. What is large and nobody holds goes where memory is
    short. What does not fit is refused before it begins.

    Parameters
    ----------
    whole : Trace
        The trace; `region` and `iterations` of it are looked at.
    memory : int
        The bytes that an analysis may take.
    threads : int, optional
        Threads that analyses use; default all processors that are allowed.
    progress : Progress
        Told which analysis begins.
    path : str
        Where the trace was read from, for errors that name a cut of it.
    region : mapping, optional
        Arguments of :func:`burstline.select`.
    workers : Workers, optional
        Processes that work on parts of the store at `path`.

    Attributes
    ----------
    whole : Trace
        The trace that was read.
    chosen : Chosen or None
        The iterations of a loop that were chosen, if any were.

    See Also
    --------
    burstline.open : reads a trace, and makes a run of it.
    """

    def __init__(
        self,
        whole: Trace,
        *,
        memory: int,
        threads: int | None = None,
        progress: Progress = SILENCE,
        path: str = "",
        region: Mapping[str, Any] | None = None,
        workers: Workers | None = None,
    ) -> None:
        self.whole, self.memory, self.progress, self.path = whole, memory, progress, path
        self.threads = threads
        self.chosen: Chosen | None = None
        self._region = dict(region or {})
        self._part: Trace | None = None
        self._results: dict[_Key, Future[Any]] = {}
        self._large: WeakValueDictionary[_Key, Any] = WeakValueDictionary()
        self._lock, self._selecting = Lock(), RLock()
        self.closing = ExitStack()
        self._workers = workers
        if workers is not None:
            require_store(whole, path)
            workers.require_seen(Path(path).absolute())

    def __repr__(self) -> str:
        return f"<Run of {self.whole!r}{f', {self._region}' if self._region else ''}>"

    @property
    def trace(self) -> Trace:
        """The part of the trace that is looked at."""
        with self._selecting:
            if self._part is None:
                self._part = self.whole
                if self._region:
                    memory = self.memory // _COPIES_SELECTED
                    near = selection.narrowed(self.whole, memory=memory, **self._region)
                    self._part = selection.select(near, **self._region)
            return self._part

    def part(
        self,
        *,
        start_ns: int | None = None,
        end_ns: int | None = None,
        ranks: Iterable[int | range] | None = None,
        application: int | None = None,
        iterations: tuple[int, int, int] | None = None,
        **detection: Any,  # noqa: ANN401 -- as detect
    ) -> Run:
        """A part of the run, of which analyses are asked likewise.

        Parameters
        ----------
        start_ns, end_ns, ranks, application
            As of :func:`burstline.select`.
        iterations : (int, int, int), optional
            A loop of that part, its first and its last iteration, from 1 or, if negative, from
            the end.
        **detection
            How the loop is found, as of :func:`burstline.detect`.

        Returns
        -------
        Run
            The run itself if nothing is asked for.

        Raises
        ------
        ParameterError
            If the part is of a part, or there is no such rank, application, loop or iteration.
        """
        if self._region or self.chosen:
            raise ParameterError("parts are chosen of a whole run")
        region = {
            "start_ns": start_ns, "end_ns": end_ns, "ranks": ranks, "application": application,
        }  # fmt: skip
        region = {name: value for name, value in region.items() if value is not None}
        part = self._of(region) if region else self
        if iterations is None:
            return part
        structure = part.structure(**detection)
        made = self._of(region)
        chosen = iterations_part(self.whole, part.trace, structure, region, iterations)
        made.chosen, made._part = chosen, chosen.trace  # noqa: SLF001 -- one of its own kind
        return made

    def _of(self, region: Mapping[str, Any]) -> Run:
        return Run(
            self.whole,
            memory=self.memory,
            threads=self.threads,
            progress=self.progress,
            path=self.path,
            region=region,
        )

    def close(self) -> None:
        """End the workers that were started for this run, if any were."""
        self.closing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_shared(self) -> bool:
        """Whether workers fold its parts: those of a whole store that has any."""
        return self._workers is not None and not self._region and self.chosen is None

    @property
    def memory_each(self) -> int | None:
        """The bytes that whoever folds a part may take; None of workers that have no limit."""
        if self._workers is not None and self.is_shared:
            return self._workers.memory_each
        return self.memory

    def divided(self, needs: Needs, beside: Needs | None = None) -> list[range] | None:
        """The locations of each part, where workers share it or it needs more memory at once.

        None where it is looked at as a whole: it fits, is no whole store, or no part fits, not
        even with what parts tell `beside` it.
        """
        if self._region or self.chosen is not None or not self.path:
            return None
        if not self.whole.is_stored:
            return None
        needed = bytes_needed(self.whole, needs)
        allowed, workers = self.memory, 0
        if self._workers is not None:
            allowed, workers = self.memory_each or needed, self._workers.count
        elif needed <= allowed:
            return None
        elif beside is not None:
            allowed -= bytes_needed(self.whole, beside)
        least = -(-needed // max(allowed // _COPIES_OF_A_PART, 1))
        path = Path(self.path)
        ranges = divided(self.whole, path, workers, least=max(least, 1))
        return ranges if needed * largest_share(path, ranges) <= allowed else None

    def parts(
        self,
        fold: Callable[..., _Folded],
        *,
        with_whole: bool = False,
        ranges: Sequence[range] | None = None,
        each: Sequence[Mapping[str, Any]] | None = None,
        **options: Any,  # noqa: ANN401 -- as fold
    ) -> Iterator[_Folded]:
        """What a fold makes of each part of the trace, in the order of locations.

        Without workers there is one part, unless `ranges` divide it. A region of interest is
        one, too: it was selected here. The fold gets the trace that a part is of as `whole`,
        and its `locations`, if that is asked for; options of some parts alone are in `each`.
        """
        if ranges is None and not self.is_shared:
            if with_whole:
                options |= {"whole": self.whole, "locations": None}
            yield fold(self.trace, progress=self.progress, **options)
            return
        path = Path(self.path).absolute()
        if ranges is None:
            ranges = divided(self.whole, path, self._workers.count if self._workers else 0)
        stamp = store.stamp_of(path)
        parts = [
            FoldTask(
                path, stamp, locations, self.memory_each, fold, with_whole, {**options, **own}
            )
            for locations, own in zip(ranges, each or [{}] * len(ranges), strict=True)
        ]
        self.progress.step("Parts", len(parts), "parts")
        if self._workers is None:
            for part in parts:
                yield folded(part, self.whole)
                self.progress.advance(1)
            return
        with closing(self._workers.in_order(folded, parts, progress=self.progress)) as done:
            yield from done

    def summary(self, **parameters: Any) -> Summary:  # noqa: ANN401 -- as summarise
        """What is in the trace: parameters and errors as of :func:`burstline.summarise`."""
        summary: Summary = self.ask("summary", **parameters)
        return summary

    def structure(self, **parameters: Any) -> Structure:  # noqa: ANN401 -- as detect
        """The loops of the program: parameters and errors as of :func:`burstline.detect`."""
        structure: Structure = self.ask("structure", **parameters)
        return structure

    def iterations(self, loop: int, **detection: Any) -> LoopTable:  # noqa: ANN401 -- as detect
        """What each iteration of a loop cost, as :func:`burstline.structure.loop_table`."""
        table: LoopTable = self.ask("iterations", loop=loop, **detection)
        return table

    def waits(self, **parameters: Any) -> Waits:  # noqa: ANN401 -- as wait_states
        """Where time is lost: parameters and errors as of :func:`burstline.wait_states`."""
        waits: Waits = self.ask("waits", **parameters)
        return waits

    def timeline(self) -> Timeline:
        """What each thread did at every moment, as :func:`burstline.timeline.timeline`."""
        timeline: Timeline = self.ask("timeline")
        return timeline

    def verdict(self, **parameters: Any) -> Verdict:  # noqa: ANN401 -- as summarise and detect
        """What there is to say of it first, its checks, and the time of each rank.

        Parameters
        ----------
        **parameters
            `span` and `poll_gap_ns` of :func:`burstline.summarise`, those of
            :func:`burstline.detect`, and `most_s`: about how many seconds of a processor may
            be spent on loops and waits, which are left out if they would take more.

        Returns
        -------
        Verdict
            It says why what is unknown is so: no errors of other analyses are raised.
        """
        verdict: Verdict = self.ask("verdict", **parameters)
        return verdict

    def checks(
        self,
        waits: Waits,
        *,
        most_s: float = 5.0,
        **detection: Any,  # noqa: ANN401 -- as detect
    ) -> tuple[Check, ...]:
        """Whether it may be judged by its trace, beside waits that were found.

        Parameters
        ----------
        waits : Waits
            Of this run: clocks are compared there.
        most_s : float
            About how many seconds of a processor may be spent on loops.
        **detection
            How loops are found, as of :func:`burstline.detect`.

        Returns
        -------
        tuple of Check
            Those of :meth:`verdict`.
        """
        return checks_beside(self, waits, most_s, detection)

    def phases(self, **parameters: Any) -> Phases:  # noqa: ANN401 -- as phases
        """What repeats: parameters and errors as of :func:`burstline.phases`."""
        phases: Phases = self.ask("phases", **parameters)
        return phases

    def ask(self, name: str, **given: Any) -> Any:  # noqa: ANN401 -- what the analysis gives
        """The result of an analysis by its name, computed if nobody asked for it before.

        Parameters
        ----------
        name : str
            As one of its methods.
        **given
            Its parameters; those left out have their defaults.

        Returns
        -------
        object
            The frozen result.

        Raises
        ------
        ParameterError
            If there is no such analysis or parameter.
        MemoryBudgetError
            If it does not fit in the memory allowed; nothing has begun then.
        """
        if name not in ANALYSES:
            raise ParameterError(f"no analysis {name!r}; there are {', '.join(ANALYSES)}")
        analysis = ANALYSES[name]
        if unknown := set(given) - set(analysis.parameters):
            raise ParameterError(f"{name} has no parameter {', '.join(sorted(unknown))}")
        parameters = {**analysis.parameters, **given}
        key = (name, *(repr(value) for _, value in sorted(parameters.items())))
        with self._lock:
            result = self._results.get(key)
            if result is None and (kept := self._large.get(key)) is not None:
                return kept
            is_first = result is None
            if result is None:
                result = self._results[key] = Future()
        if not is_first:
            return result.result()
        try:
            self.require(analysis.needs(parameters), asks=analysis.asks)
            give_back()  # what analyses before it have freed is no memory of this one
            if not analysis.tells:
                self.progress.step(name, 0, "")
            made = analysis.compute(self, **parameters)
        except BaseException as error:
            with self._lock:
                del self._results[key]
            result.set_exception(error)
            raise
        result.set_result(made)
        if analysis.is_large:
            self._large[key] = made
        return made

    def require(self, needs: Needs | None, asks: Iterable[str] = ()) -> None:
        """Refuse what does not fit, by an estimate; what nobody holds goes before that.

        What goes through a whole trace, part by part, needs nothing.
        """
        is_part = bool(self._region) or self.chosen is not None
        if needs is None and not is_part:
            return
        tables, copies = needs or _OF_A_PART
        wanted = Needs(tables, copies + is_part)
        path = self.path or None
        needed = bytes_required(self.whole, self.memory, wanted, self._region, path)
        if not (beside := [key for key in list(self._large) if key[0] not in asks]):
            return
        kept = bytes_needed(self.whole, Needs(REPLAYED, 2), self._region)
        kept -= bytes_needed(self.whole, Needs(REPLAYED, 1), self._region)
        if needed + len(beside) * kept > self.memory:
            with self._lock:
                for key in beside:
                    self._results.pop(key, None)

    def room(self, needs: Needs) -> tuple[int, int]:
        """The bytes that an analysis takes beside its result, and those of all."""
        return bytes_needed(self.trace, needs), self.memory
