"""Why a signature run measured nothing: other calls, other ranks, or where everybody was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from burstline.errors import InconsistentTraceError, NotEnoughDataError, plural
from burstline.record.launching.session import Ended
from burstline.record.signing.plan import Plan
from burstline.record.signing.stamps import RankStamps, State

_MOST_NAMED: Final = 8


def require_all(
    plan: Plan, ranks: Sequence[RankStamps], ended: Ended, patience_s: float | None
) -> None:
    """Raise an error that says why, if not every rank did what was planned."""
    if not ranks:
        raise NotEnoughDataError(
            f"the program ended with code {ended.exit_code()} before any rank had passed "
            "MPI_Init under the recorder: it does not call MPI, has MPI linked into itself, "
            "or runs without the recorder"
            if patience_s is None
            else f"no rank came to MPI_Init in {patience_s:g} s"
        )
    for rank in sorted(ranks, key=lambda rank: rank.state != State.DISAGREES):
        _require_fit(plan, rank)
    missing = set(range(ranks[0].size)) - {rank.rank for rank in ranks}
    unfinished = [rank for rank in ranks if not rank.is_done(plan)]
    if missing or unfinished:
        _refuse_unfinished(plan, ranks, ended, patience_s)


def _require_fit(plan: Plan, rank: RankStamps) -> None:
    """Raise an error if a rank is none that the plan is for."""
    expected = plan.of_rank(rank.rank)
    if rank.state == State.DISAGREES:
        agreed = f"up to call {rank.counts[-1]:,}" if rank.counts else "nowhere"
        raise InconsistentTraceError(
            f"rank {rank.rank} makes other calls than the program of the signature: at "
            f"boundary {len(rank.counts) + 1} of {len(expected.counts)}, after {rank.count:,} "
            f"counted calls, their hash is {rank.hash:#018x}, and "
            f"{expected.hashes[len(rank.counts)]:#018x} was expected after "
            f"{expected.counts[len(rank.counts)]:,}; they agreed {agreed}. Use the program "
            "and the input that the signature was made of"
        )
    if rank.state == State.THREADED:
        raise NotEnoughDataError(
            "the program has MPI_THREAD_MULTIPLE: the order of its calls may differ from run "
            "to run, and a signature counts calls. Ask MPI for MPI_THREAD_SERIALIZED or less"
        )
    if rank.state == State.OTHER_WORLD:
        if plan.ranks and rank.size != len(plan.ranks):
            raise InconsistentTraceError(
                f"the program ran with {plural(rank.size, 'rank')}, and the signature is of "
                f"{len(plan.ranks)}"
            )
        raise NotEnoughDataError(
            f"rank {rank.rank}: several programs in one run, and processes that are spawned or "
            "joined, have no signature"
        )
    if rank.state == State.NO_PLAN:
        raise NotEnoughDataError(
            f"rank {rank.rank} could not use the plan or make its file; it says above why"
        )
    if rank.state == State.FINALIZING and rank.counts != expected.counts:
        raise InconsistentTraceError(
            f"rank {rank.rank} came to MPI_Finalize after {rank.count:,} counted calls, and "
            f"the signature has boundaries up to call {expected.counts[-1]:,}: another input, "
            "or a smaller number of steps"
        )


def _refuse_unfinished(
    plan: Plan, ranks: Sequence[RankStamps], ended: Ended, patience_s: float | None
) -> None:
    """Raise an error that says where each rank was."""
    first = sorted(ranks, key=lambda rank: (rank.is_done(plan), rank.state, rank.rank))
    places = "; ".join(_whereabouts(plan, rank) for rank in first[:_MOST_NAMED])
    if len(ranks) > _MOST_NAMED:
        places += f"; and {len(ranks) - _MOST_NAMED} more"
    if absent := ranks[0].size - len(ranks):
        places += (
            f"; {absent} of {plural(ranks[0].size, 'rank')} left no file here: all machines of "
            "a run must share this folder"
        )
    if patience_s is not None:
        raise NotEnoughDataError(
            f"the program was ended after {patience_s:g} s, the patience of this run: {places}"
        )
    if ended.code:
        raise NotEnoughDataError(
            f"the program ended with code {ended.exit_code()} before it was measured: {places}"
        )
    raise InconsistentTraceError(f"the program ended before it was measured: {places}")


def _whereabouts(plan: Plan, rank: RankStamps) -> str:
    """Where a rank was, as a clause."""
    expected = plan.of_rank(rank.rank).counts
    counted = f"{rank.count:,} counted calls"
    if expected:
        counted = f"{rank.count:,} of {expected[-1]:,} counted calls"
    if rank.state == State.WAITING:
        return f"rank {rank.rank} waited at its cut for the others, after {counted}"
    if rank.state in {State.CUT, State.FINALIZING}:
        return f"rank {rank.rank} ended after {counted}"
    if rank.operation is None:
        return f"rank {rank.rank} was in no MPI call, after {counted}"
    return f"rank {rank.rank} was in {rank.operation}, after {counted}"
