"""The largest waits of a run, and the rank and the place that cause them: facts, no words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from burstline.columns import Floats, Integers, Mask
from burstline.model import FINALIZES, INITS, Profile
from burstline.waits.absence import OFF_PROCESSOR
from burstline.waits.metrics import WAITS, total_or_zero
from burstline.waits.result import Waits

Cells = TypeVar("Cells", bound=npt.NDArray[Any])
MUCH_UNDERSTOOD: Final = 0.9
"""Of collectives, messages and time: below that, waits may be hidden in the rest."""
_WAITS_OF_MPI: Final = tuple(name for name in WAITS if name.startswith("mpi_"))
_HALVES: Final = ("collectives_share", "messages_share")
_MUCH_TRANSFER: Final = 0.1  # of the time
_STANDS_OUT: Final = 1.5
"""Of the mean of what ranks cause: enough of one to blame it, as half of all is."""
_MOST_OF_IT: Final = 0.5
_LEAST_RANKS: Final = 2
"""Of a node or socket, of which it says something that all are slow, and no others."""
_MUCH_LONGER: Final = 0.1
_OTHER_MPI: Final = ("mpi_io", "mpi_rma_communication")
"""Time in MPI that is neither a wait nor the transfer of a message."""
_ENDS: Final = frozenset((*INITS, *FINALIZES))


@dataclass(frozen=True, slots=True, eq=False)
class Largest:
    """A large wait that a program can change: that is not in MPI_Init or MPI_Finalize."""

    metric: str
    cost_ns: int
    left_out: Mask  # (call paths,) those not looked at: none where nothing else waits
    left_out_ns: int  # of all waits


@dataclass(frozen=True, slots=True, eq=False)
class Costs:
    """What causes a wait, by call path and location."""

    computing: Floats  # where it is not time in MPI
    in_mpi: Floats
    whole: float

    @property
    def of_mpi(self) -> float:
        """The share that is caused in MPI, by calls that wait for nobody."""
        return float(self.in_mpi.sum() / self.whole)

    def largest_in_mpi(self) -> tuple[int, float]:
        """The call path of MPI that causes most, and its share of the whole."""
        of_place = self.in_mpi.sum(axis=1)
        place = int(of_place.argmax())
        return place, float(of_place[place] / self.whole)


@dataclass(frozen=True, slots=True)
class Blame:
    """The rank that causes most of a wait by computing, and where."""

    rank: int
    of_rank: float  # its share of what causes the wait, 0..1
    stands_out: bool  # whether it takes longer than others, and not by turns with them
    # the call path that causes most, and its share: of the rank if it stands out, else of all
    place: int
    of_place: float


def ends_of(profile: Profile) -> Mask:
    """The call paths of MPI_Init and MPI_Finalize, and those below them."""
    names, parents = (profile.call_paths[name].to_pylist() for name in ("function", "parent"))
    ends = np.zeros(len(names), bool)
    for row, (name, parent) in enumerate(zip(names, parents, strict=True)):
        ends[row] = name in _ENDS or (parent is not None and ends[parent])
    return ends


def largest_waits(waits: Waits) -> list[Largest]:
    """The kinds of wait, those first that cost most of what a program can change."""
    profile = waits.profile
    sums = {
        name: profile.exclusive(name).sum(axis=1) for name in WAITS if name in profile.stored
    }
    every = sum(sums.values(), np.zeros(profile.call_paths.num_rows, np.int64))
    if not every.any():
        return []
    left_out = ends_of(profile)
    if not every[~left_out].any():
        left_out[:] = False
    costs = sorted(((int(each[~left_out].sum()), name) for name, each in sums.items()))
    without = int(every[left_out].sum())
    return [Largest(name, cost, left_out, without) for cost, name in reversed(costs) if cost]


def largest_wait(waits: Waits) -> Largest | None:
    """The largest wait, of what a program can change if it waits there; None without any."""
    return next(iter(largest_waits(waits)), None)


def waits_ns(waits: Waits, left_out: Mask | None = None, names: Iterable[str] = WAITS) -> int:
    """All waits, but for those of some call paths."""
    values = (waits.profile.exclusive(name) for name in names if name in waits.profile.stored)
    kept = slice(None) if left_out is None else ~left_out
    return sum(int(each[kept].sum()) for each in values)


def waits_in_mpi_ns(waits: Waits, left_out: Mask) -> int:
    """All waits in MPI, but for those of some call paths."""
    return waits_ns(waits, left_out, _WAITS_OF_MPI)


def transfer_ns(waits: Waits) -> Integers | None:
    """Time in messages and collectives that is no wait, by call path, if that is more."""
    profile = waits.profile
    if not total_or_zero(profile, "mpi") or not (time := profile.total("time")):
        return None
    if min(waits.coverage.get(name, 1.0) for name in _HALVES) < MUCH_UNDERSTOOD:
        return None  # calls may wait for what was not understood
    if (waits.efficiency.get("transfer") or 0.0) > 1 - _MUCH_TRANSFER:
        return None  # faster messages would change little: calls wait in ways without a metric
    ends = ends_of(profile)
    own = profile.exclusive("mpi").sum(axis=1)
    for name in (*_OTHER_MPI, *_WAITS_OF_MPI):
        if name in profile.stored:
            own = own - profile.exclusive(name).sum(axis=1)
    own[ends] = 0
    dominates = own.sum() / time >= _MUCH_TRANSFER and own.sum() > waits_ns(waits, ends)
    return own if dominates else None


def costs_of(waits: Waits, largest: Largest | None = None) -> Costs | None:
    """What causes a wait outside of what is left out, or all waits; None if nothing tells."""
    profile, delay = waits.profile, "delay" if largest is None else WAITS[largest.metric]
    if not delay or delay not in profile.stored:
        return None
    values = profile.exclusive(delay)
    if largest is not None and values[~largest.left_out].any():
        values[largest.left_out] = 0
    if not values.any():
        return None
    in_mpi = np.array([[each == "mpi"] for each in profile.call_paths["paradigm"].to_pylist()])
    return Costs(values * ~in_mpi, values * in_mpi, values.sum())


def blame_for(waits: Waits, costs: Costs) -> Blame:
    """Which rank causes a wait by computing, and where; or that none stands out."""
    ranks = waits.profile.locations["rank"].to_numpy()
    computing = at_sites(waits, costs.computing)
    by_rank = np.bincount(ranks, computing.sum(axis=0))
    rank = int(by_rank.argmax())
    stands_out = _stands_out(waits, costs, rank)
    chosen = computing[:, ranks == rank] if stands_out else computing
    by_place = chosen.sum(axis=1)
    place = int(by_place.argmax())
    return Blame(
        rank,
        float(by_rank[rank] / costs.whole),
        stands_out,
        _where_it_works(waits, rank, place) if stands_out else place,
        float(by_place[place] / costs.whole),
    )


@dataclass(frozen=True, slots=True)
class Together:
    """Ranks that take longer at some place, and the node, or else socket, they are all of."""

    ranks: int
    node: str
    socket: str = ""


def slow_together(waits: Waits, place: int) -> Together | None:
    """The node or socket whose ranks, all and no others, take longer at a place, if one is."""
    table = waits.profile.locations
    ranks, nodes = table["rank"].to_numpy(), table["node"].to_pylist()
    time = np.bincount(ranks, at_sites(waits, waits.profile.exclusive("time"))[place])
    node_of = dict(zip(ranks.tolist(), nodes, strict=True))
    if None in node_of.values():
        return None
    present = np.array(sorted(node_of))
    least, most = time[present].min(), time[present].max()
    if most - least < _MUCH_LONGER * most:
        return None
    slow = present[time[present] >= (least + most) / 2].tolist()
    homes = [{rank: (node, "") for rank, node in node_of.items()}]
    sockets = waits.places.sockets
    if node_of.keys() <= sockets.keys():
        homes.append({rank: (node, sockets[rank]) for rank, node in node_of.items()})
    for home in homes:
        where = {home[rank] for rank in slow}
        of_home = sorted(rank for rank, each in home.items() if each in where)
        if len(where) == 1 and len(slow) >= _LEAST_RANKS and of_home == slow:
            return Together(len(slow), *where.pop())
    return None


def at_sites(waits: Waits, values: Cells) -> Cells:
    """Values of call paths by location, those of functions that samples saw where these are."""
    together = values.copy()
    for node, place in waits.places.placed.items():
        together[place] += together[node]
        together[node] = 0
    return together


def works_longer(waits: Waits, rank: int, place: int) -> bool:
    """Whether a rank is longer on a processor than others: no wait for one makes it late.

    All stretches that end with one call are taken together, those off the processor, too; of
    a place that no counter tells of, such as a function, all that ranks compute. What a rank
    works longer counts as often as the others' time on a processor is in their time.
    """
    profile, places = waits.profile, waits.places
    ranks = profile.locations["rank"].to_numpy()
    count = len(np.unique(ranks))
    every = _of_one_end(waits, place)
    told = [each for each in every if each in places.processor]
    counted = np.zeros(int(ranks.max(initial=0)) + 1, np.int64)
    for each in told or [-1]:
        for who, time in places.processor.get(each, {}).items():
            counted[who] += time
    spent = profile.exclusive("comp")
    if told:
        spent = at_sites(waits, profile.exclusive("time"))[every]
    elapsed = np.bincount(ranks, spent.sum(axis=0), minlength=len(counted))
    if count < 2 or not counted.any():
        return False
    worked, longer = (
        each[rank] - (each.sum() - each[rank]) / (count - 1) for each in (counted, elapsed)
    )
    slowed = elapsed.sum() / counted.sum()
    return bool(slowed * worked > longer * _MOST_OF_IT > 0)


def _of_one_end(waits: Waits, place: int) -> list[int]:
    """The call paths of computing that end with the same call as one of them."""
    ends = waits.places.ends
    return [each for each, end in ends.items() if place in ends and end == ends[place]] or [
        place
    ]


def _where_it_works(waits: Waits, rank: int, place: int) -> int:
    """Of who works longer and is late off its processor: where it does so on one."""
    names = waits.profile.call_paths["function"]
    if not names[place].as_py().startswith(OFF_PROCESSOR) or not works_longer(
        waits, rank, place
    ):
        return place
    others = (
        each
        for each in _of_one_end(waits, place)
        if not names[each].as_py().startswith(OFF_PROCESSOR)
    )
    return next(others, place)


def _stands_out(waits: Waits, costs: Costs, rank: int) -> bool:
    """Whether a rank takes longer than others where it causes most, and not by turns with them.

    Who takes longer by turns, or by chance, causes waits each time, but takes no longer in
    all. Who is slower throughout takes longer in all by as much as the others wait for it.
    """
    is_here = waits.profile.locations["rank"].to_numpy() == rank
    if is_here.all():
        return True
    of_rank = at_sites(waits, costs.computing)[:, is_here].sum(axis=1)
    count = len(waits.profile.locations["rank"].unique())
    if of_rank.sum() < min(costs.whole / 2, _STANDS_OUT / count * costs.computing.sum()):
        return False
    place = int(of_rank.argmax())
    time = at_sites(waits, waits.profile.exclusive("time"))[place]
    longer = time[is_here].sum() - time[~is_here].sum() / (count - 1)
    waits_of = waits.delays["wait_ns"].to_numpy()[waits.delays["from"].to_numpy() == rank]
    most = waits_of.max(initial=0) / max(waits_of.sum(), 1)
    return bool(longer >= of_rank[place] * most / 2)
