"""A signature that runs on a machine: what each process took, up to where it may stop."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Final

from burstline.executor import threads_allowed
from burstline.record.signing.plan import Plan, RankPlan
from burstline.record.signing.run import signed_run
from burstline.signature import Measurement, Signature, stamps_of

_LEAST_PATIENCE_S: Final = 60
_PATIENT: Final = 10  # times what the base run took to its cut


def measured(
    signature: Signature,
    words: Sequence[str],
    *,
    patience_s: float | None = None,
    mpi: str | None = None,
    to_end: bool = False,
    place: Path | None = None,
    stdout: IO[Any] | None = None,
) -> Measurement:
    """Run the unchanged program with a signature: what its processes took up to their cuts.

    It is ended if it takes longer than `patience_s`, by default 10 times what the base run took
    and at least 60. `place` takes the files of the run while it lasts: all machines share it.
    """
    if patience_s is None:
        times = (each.span_ns if to_end else each.early_ns for each in signature.processes)
        patience_s = max(_PATIENT * max(times) / 1e9, _LEAST_PATIENCE_S)
    run = signed_run(
        _plan(signature, to_end=to_end),
        words,
        patience_s=patience_s,
        mpi=mpi,
        place=place,
        stdout=stdout,
    )
    facts = {
        "machine": platform.machine(),
        "system": platform.system(),
        "mpi": run.library,
        "processors": str(threads_allowed()),
    }
    stamps = tuple(
        stamps_of(rank.rank, rank.counts, rank.ns, rank.init_ns, rank.finalize_ns or None)
        for rank in run.ranks
    )
    return Measurement(stamps, run.wall_ns, facts)


def _plan(signature: Signature, *, to_end: bool) -> Plan:
    """What the recorder is to do; to the end it only counts, whatever the number of ranks."""
    if to_end:
        return Plan((), full=False)
    return Plan(
        tuple(
            RankPlan(tuple(each.counts.tolist()), tuple(each.hashes.tolist()), each.cut)
            for each in signature.processes
        ),
        full=signature.full,
    )
