"""Answers as values: a sentence with its facts, a check, the time of a rank.

A sentence is made from a template, and each number in it is a fact with its unit and the place
it is about, so a page can link it and a script needs no parser.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from burstline.values import (
    COUNT,
    SHARE,
    TIME,
    Column,
    Contract,
    Documented,
    Table,
    Value,
    table_of,
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a program, and on which rank, a fact is; None where that is not known.

    Attributes
    ----------
    rank : int or None
        Rank in its application, from 0.
    function : str or None
        The function; of a call of MPI, the one that calls it.
    file : str or None
        The source file.
    line : int or None
        The line of a call; of computing in a known function, where the function begins, else
        that of the call which ends it.
    """

    rank: int | None = None
    function: str | None = None
    file: str | None = None
    line: int | None = None

    def as_dict(self) -> dict[str, Any] | None:
        """The same for JSON; None where nothing is known."""
        parts = {name: getattr(self, name) for name in ("rank", "function", "file", "line")}
        return None if all(part is None for part in parts.values()) else parts


@dataclass(frozen=True, slots=True)
class Fact(Documented):
    """A number of a sentence.

    Attributes
    ----------
    name : str
        What it is, in words.
    value : int, float or None
        How much.
    unit : str
        ``ns``, ``ticks`` of a logical clock, ``share`` (0..1), ``bytes`` or ``count``.
    place : Place or None
        What it is of, if that is not the whole run.
    """

    name: str
    value: float | None
    unit: str
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Sentence(Documented):
    """The answer to a question about a run.

    Attributes
    ----------
    question : str
        What is asked, in a word or two: ``time step``, ``cause``.
    sentence : str
        The answer in English. Names in it are those of the trace, which may hold anything: make
        it safe before it is shown.
    facts : tuple of Fact
        Each number in it, in the order in which they stand there.
    """

    question: str
    sentence: str
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Check(Documented):
    """One thing that has to hold for a run to be judged by its trace.

    Attributes
    ----------
    name : str
        What has to hold: ``long enough``.
    figure : int, float or None
        What was measured; None where the trace does not tell.
    unit : str
        Of figure and bound: ``ns``, ``share`` (0..1) or ``count``.
    bound : int or float
        The least or the most that it may be, as the name says.
    passed : bool or None
        Whether it holds; None where the trace does not tell.
    remedy : str
        What helps if it does not hold, or why it is not known.
    inferred : bool
        Whether it is concluded from something else that was recorded.
    by : str
        The counter that measured it; empty where none did.
    """

    name: str
    figure: float | None
    unit: str
    bound: float
    passed: bool | None
    remedy: str
    inferred: bool = False
    by: str = ""


@dataclass(frozen=True, slots=True)
class RankTime(Documented):
    """What the threads of a rank spent the time of the run on, ns.

    The run is ``Summary.baseline``: from the first end of MPI_Init to the last
    begin of MPI_Finalize. The five times add up to `whole_ns`, where all are known.

    Attributes
    ----------
    application, rank, threads : int
        Who, and how many threads that is.
    whole_ns : int
        The length of the run, once for each thread.
    computing_ns : int or None
        Outside MPI and OpenMP. None of a rank with several threads whose waits are not known.
    waiting_ns : int or None
        In wait states of MPI, in polls that found nothing, and in OpenMP itself: idle threads,
        barriers, locks, making teams. None where waits are not known.
    transferring_ns : int or None
        In MPI otherwise. None where waits are not known.
    init_finalize_ns : int
        Before its process has left MPI_Init, and from its MPI_Finalize on, while others run.
    not_recorded_ns : int
        In gaps of the trace, and before and after a thread was observed.
    """

    application: int
    rank: int
    threads: int
    whole_ns: int
    computing_ns: int | None
    waiting_ns: int | None
    transferring_ns: int | None
    init_finalize_ns: int
    not_recorded_ns: int


@dataclass(frozen=True, slots=True)
class Verdict(Documented):
    """What there is to say of a run first, and what that rests on.

    Attributes
    ----------
    sentences : tuple of Sentence
        At most five, in the order of the questions that one has.
    checks : tuple of Check
        Whether the run may be judged by its trace.
    per_rank : tuple of RankTime
        What each rank spends the time of the run on.
    missing : mapping of str to str
        Why the ``structure`` or the ``waits`` of the run are not known, as a sentence.
    left_out : tuple of str
        Those of them that were not looked for, as that would take too long or does not fit.
    """

    sentences: tuple[Sentence, ...]
    checks: tuple[Check, ...]
    per_rank: tuple[RankTime, ...]
    missing: Mapping[str, str]
    left_out: tuple[str, ...] = ()

    def __repr__(self) -> str:
        failed = [check.name for check in self.checks if check.passed is False]
        fails = ", ".join(failed) or "nothing"
        return f"<Verdict: {len(self.sentences)} sentences; fails: {fails}>"

    def tables(self) -> list[Table]:
        """The sentences, the checks, and the time of each rank."""
        sentences = table_of(
            self.sentences,
            {
                Column("question"): lambda each: each.question,
                Column("answer"): lambda each: each.sentence,
            },
            left=2,
        )
        ranks = table_of(
            self.per_rank,
            {
                Column("rank", COUNT): lambda each: each.rank,
                Column("computing", TIME): lambda each: each.computing_ns,
                Column("waiting", TIME): lambda each: each.waiting_ns,
                Column("transferring", TIME): lambda each: each.transferring_ns,
                Column("Init and Finalize", TIME): lambda each: each.init_finalize_ns,
                Column("not recorded", TIME): lambda each: each.not_recorded_ns,
            },
            "Time of each rank",
        )
        return [sentences, table_of_checks(self.checks), ranks]

    CONTRACT: ClassVar[Contract] = (("verdict", "sentences"), "checks", "per_rank", "missing")


_PASSED: Final = {True: "yes", False: "no", None: "not known"}
_UNITS: Final = {"ns": TIME, "share": SHARE, "count": COUNT}


def table_of_checks(checks: Sequence[Check]) -> Table:
    """What was checked, whether it holds and what helps if not, and what was found."""
    return table_of(
        checks,
        {
            Column("check"): lambda check: check.name,
            Column("holds"): lambda check: (
                _PASSED[check.passed] + ("" if check.passed else f": {check.remedy}")
            ),
            Column("figure"): lambda check: Value(check.figure, _UNITS[check.unit]),
            Column("bound"): lambda check: Value(check.bound, _UNITS[check.unit]),
        },
        "May this run be judged?",
        left=2,
    )
