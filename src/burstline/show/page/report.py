"""What a page is made of: results of analyses, each there or a reason why it is not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from burstline.answers import Verdict
from burstline.collectives import Collectives
from burstline.comparison import Comparison
from burstline.computing import Computing
from burstline.efficiency import Scalability
from burstline.errors import NotEnoughDataError
from burstline.histogram import Histogram
from burstline.matrix import Matrix
from burstline.merge import Check
from burstline.show.page.html import Html
from burstline.signature import Prediction
from burstline.structure import LoopTable, Structure
from burstline.summary import Summary
from burstline.timeline import Flame, LineTimes, Timeline
from burstline.waits import Waits

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Missing:
    """Why a result is not there, as a sentence."""

    reason: str


@dataclass(frozen=True, slots=True)
class Source:
    """What the page was made of, by what, and when."""

    paths: tuple[str, ...]
    command: str
    version: str
    made: str  # the day
    digests: Mapping[str, str] = field(default_factory=dict)  # SHA-256 by path
    region: str = ""  # the part of the run that was asked for; empty of all
    recording: tuple[str, ...] = ()  # how the program ended, and what is not in the trace


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """Everything a page says of a run, or of several, of which the first is told in detail."""

    source: Source
    summary: Summary
    verdict: Verdict
    waits: Waits | Missing
    structure: Structure | Missing
    steps: LoopTable | Missing  # iterations of the loop that takes most time
    line: Timeline | Missing
    lines: LineTimes | Missing
    flame: Flame | Missing
    matrix: Matrix | Missing
    collectives: Collectives | Missing
    computing: Computing | Missing
    histogram: Histogram | Missing  # of bursts, as fine as a picture of them is
    runs: Scalability | Missing  # how all of several runs compare
    others: tuple[Waits | Missing, ...] = ()  # of the runs behind the first
    comparison: Comparison | Missing = Missing("One run was given.")
    bursts: Check | Missing = Missing("One run was given.")  # that several runs have in common
    prediction: Prediction | Missing | None = None  # of a signature, if one was given


class Section(NamedTuple):
    """A part of the page: its title is a sentence, its data are for programs."""

    title: Html | str
    body: Html
    data: Any = None


class NothingError(NotEnoughDataError):
    """A section has nothing to show: the message says why, as a sentence."""


def needed(result: T | Missing) -> T:
    """A result; without it a section has nothing to show."""
    if isinstance(result, Missing):
        raise NothingError(result.reason)
    return result


def found(result: T | Missing) -> T | None:
    """A result, or None."""
    return None if isinstance(result, Missing) else result
