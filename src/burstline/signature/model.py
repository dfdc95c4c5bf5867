"""What a signature holds: phases of processes, what to measure of them, where to stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

import numpy as np

from burstline.columns import Integers
from burstline.signature.events import Hashes
from burstline.values import Contract, Documented

VERSION: Final = 1


class Phase(NamedTuple):
    """What a process does again and again, and what that took on the base machine."""

    name: str
    weight: int  # occurrences
    events: float  # mean of an occurrence
    total_ns: int  # of all occurrences
    late_ns: int  # of this, after the cut
    late_weight: float  # occurrences after the cut
    is_relevant: bool

    @property
    def mean_ns(self) -> float:
        """Mean time of an occurrence."""
        return self.total_ns / self.weight


@dataclass(frozen=True, slots=True, eq=False)
class Process:
    """The signature of a process; its windows are in the order of time."""

    rank: int
    events: int
    cut: int  # events that it makes before it stops
    span_ns: int  # from MPI_Init to MPI_Finalize
    early_ns: int  # from MPI_Init to the cut
    phases: tuple[Phase, ...]
    phase: Integers  # (windows,) the phase that each is an occurrence of
    begin: Integers  # (windows,) boundaries
    end: Integers
    base_ns: Integers  # (windows,) how long it took on the base machine
    counts: Integers  # (boundaries,) where the recorder looks at the clock; the last is the cut
    hashes: Hashes  # (boundaries,)

    @property
    def coverage(self) -> float:
        """Share of its run that lies in relevant phases."""
        total = sum(phase.total_ns for phase in self.phases if phase.is_relevant)
        return total / max(self.span_ns, 1)


@dataclass(frozen=True, slots=True, eq=False)
class Signature:
    """A short run that predicts a long one: what `signature run` measures, and where it stops.

    Attributes
    ----------
    method : str
        How phases were found: ``loops``, ``epas`` or ``pas2p``.
    work_counter : str
        What similarity compared; ``time`` where nothing was counted.
    full : bool
        Whether calls are told apart by partner and communicator, too.
    representative : int
        The rank that stands for all.
    span_ns : int
        How long the base run took from MPI_Init to MPI_Finalize, on the representative.
    runs : int
        Base runs it was made of.
    spread : float or None
        How far base runs that were given predict each other wrongly, as a share of the time,
        root mean square; None of a single one.
    drift : float
        How far parts as long as the early one lie from a steady course, as a share, root mean
        square over base runs.
    crossing : int
        Messages in flight at the cut.
    processes : tuple of Process
        In the order of ranks.
    facts : mapping of str to str
        Program, machine and options, for people.
    """

    method: str
    work_counter: str
    full: bool
    representative: int
    span_ns: int
    runs: int
    spread: float | None
    drift: float
    crossing: int
    processes: tuple[Process, ...]
    facts: Mapping[str, str]

    @property
    def ranks(self) -> int:
        """How many processes the program has."""
        return len(self.processes)

    def of_rank(self, rank: int) -> Process:
        """The signature of a rank."""
        return next(process for process in self.processes if process.rank == rank)


@dataclass(frozen=True, slots=True, eq=False)
class Stamps(Documented):
    """What the recorder measured on a rank: the clock at each boundary.

    Attributes
    ----------
    rank : int
        Whose clock it is.
    counts : ndarray of int64, shape (boundaries,)
        Calls that the rank had left at each boundary, ascending.
    time_ns : ndarray of int64, shape (boundaries,)
        When it left the last of them.
    init_ns : int
        When it left MPI_Init.
    finalize_ns : int or None
        When it entered MPI_Finalize, if it ran to its end.

    Examples
    --------
    >>> import numpy as np
    >>> from burstline.signature import Stamps
    >>> stamps = Stamps(0, np.array([4, 9]), np.array([700, 1500]), 200, None)
    >>> stamps.at(np.array([0, 9])).tolist()
    [200, 1500]
    """

    rank: int
    counts: Integers
    time_ns: Integers
    init_ns: int
    finalize_ns: int | None

    CONTRACT: ClassVar[Contract] = ("rank", "init_ns", "finalize_ns", "counts", "time_ns")

    def at(self, counts: Integers) -> Integers:
        """When each of some boundaries was passed; 0 is the end of MPI_Init."""
        every = np.concatenate([[0], self.counts])
        time = np.concatenate([[self.init_ns], self.time_ns])
        return time[np.searchsorted(every, counts)]


def stamps_of(
    rank: int,
    counts: Sequence[int],
    time_ns: Sequence[int],
    init_ns: int,
    finalize_ns: int | None,
) -> Stamps:
    """The stamps of a rank, from what its recorder left."""
    columns = np.array(counts, np.int64), np.array(time_ns, np.int64)
    return Stamps(rank, *columns, init_ns, finalize_ns)


@dataclass(frozen=True, slots=True, eq=False)
class Measurement(Documented):
    """A signature run, or a run to the end: what the recorder measured.

    Attributes
    ----------
    stamps : tuple of Stamps
        Of each rank, in their order.
    wall_ns : int
        From the start of the command to its end.
    facts : mapping of str to str
        The machine and its MPI, for people.

    Examples
    --------
    >>> import numpy as np
    >>> from burstline.signature import Measurement, Stamps
    >>> stamps = Stamps(0, np.array([4]), np.array([700]), 200, None)
    >>> Measurement((stamps,), 2000, {}).as_dict()["ranks"][0]["time_ns"]
    [700]
    """

    stamps: tuple[Stamps, ...]
    wall_ns: int
    facts: Mapping[str, str]

    CONTRACT: ClassVar[Contract] = (
        ("version", lambda _: VERSION),
        *("wall_ns", "facts", ("ranks", "stamps")),
    )
