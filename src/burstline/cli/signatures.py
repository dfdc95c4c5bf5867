"""Signatures that commands read and run, and the options of both."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from burstline import record, selection
from burstline import signature as signatures
from burstline.cli import usage
from burstline.cli.limits import memory_budget
from burstline.formats.documents import read_json, read_toml

FOUND: Final[Mapping[str, str]] = {
    "--method {loops,epas,pas2p}=loops": "loops: bodies of loops, and long stretches between "
    "them; epas: as published, each process alone; pas2p: all processes together (default: "
    "loops)",
    "--similarity X": "epas, pas2p: events are alike whose computation differs by no less a "
    "quotient (default: 0.85; less where the counter is noisy)",
    "--key {operation,full}=operation": "epas, pas2p: events are alike by operation, or by "
    "partner and communicator, too (default: operation)",
    "--min-share X=0.01": "a phase that takes less of the run is not relevant (0.01)",
    "--within X=0.05": "part of the run that a signature run measures (0.05); more, where "
    "phases begin later",
    "--windows N=200": "occurrences of a phase that it measures at most (200)",
}
"""How phases are found."""
RUN: Final = {
    "--patience TIME": "end the run if it takes longer to the cut (default: 10 times what the "
    "base run took, at least 60s)",
    "--mpi {openmpi,mpich,abi}": "the MPI of the program, where it cannot be found out",
}
ESTIMATE: Final = {
    "--estimator {ratio,mean}": "ratio: the base run's time of each phase, by what its windows "
    "took there and here; mean: their mean, times their number, as published (default: ratio "
    "of loops, else mean)"
}
_MOST_BYTES: Final = 1 << 26


def options_of(arguments: usage.Arguments) -> dict[str, Any]:
    """What :func:`burstline.phases` takes."""
    names = ("method", "similarity", "key", "min_share", "within", "windows")
    return {name: getattr(arguments, name) for name in names} | {"application": arguments.app}


def read_signature(arguments: usage.Arguments, name: str) -> signatures.Signature:
    """The signature in a file."""
    read = read_toml(path := Path(name), _MOST_BYTES, memory=memory_budget(arguments))
    return signatures.signature_in(read, path)


def read_measurement(arguments: usage.Arguments, name: str) -> signatures.Measurement:
    """What a run measured, in a file."""
    read = read_json(path := Path(name), _MOST_BYTES, memory=memory_budget(arguments))
    return signatures.measurement_in(read, path)


def measured(
    arguments: usage.Arguments,
    signature: signatures.Signature,
    words: Sequence[str],
    *,
    to_end: bool = False,
) -> signatures.Measurement:
    """What a program's processes took, up to the cut of a signature or to their end."""
    patience = arguments.patience
    return record.measured(
        signature,
        words,
        patience_s=None if patience is None else selection.parse_time(patience) / 1e9,
        mpi=arguments.mpi,
        to_end=to_end,
        stdout=sys.stderr if arguments.format != "table" else None,
    )
