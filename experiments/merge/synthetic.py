"""Counters that nobody counted: work that repeats exactly, with noise of known size.

::

    runs of one program  --with_synthetic-->  the same runs, with more counters

A burst's work depends on what the call before it did, so it is the same in all runs; each
run multiplies it by noise of its own. All names begin with ``synthetic``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from burstline import Trace
from burstline.identity import tokens_of
from burstline.merge import loops_of
from burstline.model import schema

_LEAST: Final = 1e4
_SPREAD: Final = 2.0


@dataclass(frozen=True, slots=True)
class Noise:
    """How a counter varies from run to run.

    Attributes
    ----------
    name : str
        What it stands for.
    share : float
        Standard deviation, relative to the value, of every burst's factor.
    heavy : float
        Standard deviation of the logarithm of a second factor, for caches: a few bursts
        count many times as much.
    """

    name: str
    share: float
    heavy: float = 0.0


NOISES: Final = (
    Noise("synthetic instructions, 0 %", 0.0),
    Noise("synthetic loads, 1 %", 0.01),
    Noise("synthetic cycles, 5 %", 0.05),
    Noise("synthetic L1 misses, 5 % and heavy 0.2", 0.05, 0.2),
    Noise("synthetic L3 misses, 5 % and heavy 1", 0.05, 1.0),
)


def with_synthetic(runs: Sequence[Trace], noises: Sequence[Noise] = NOISES) -> list[Trace]:
    """Give runs of one program further counters.

    Parameters
    ----------
    runs : sequence of Trace
        The runs.
    noises : sequence of Noise
        A counter each.

    Returns
    -------
    list of Trace
        The runs; no other table than bursts and counters changes.
    """
    tokens = tokens_of(runs, [loops_of(trace) for trace in runs]).tokens
    labels = 1 + max(int(one.label.max(initial=0)) for one in tokens)
    found = []
    for number, (trace, own) in enumerate(zip(runs, tokens, strict=True)):
        bursts, counters = trace.table("bursts"), trace.table("counters").to_pylist()
        for kind, noise in enumerate(noises):
            work = _LEAST * np.random.default_rng(kind).lognormal(0, _SPREAD, labels)[own.label]
            rng = np.random.default_rng((kind, number + 1))
            work *= np.maximum(rng.normal(1, noise.share, len(work)), 0)
            work *= rng.lognormal(0, noise.heavy, len(work))
            values = pa.array(work.round().astype(np.int64))
            bursts = bursts.append_column(pa.field(noise.name, pa.int64()), values)
            counters.append(
                {"name": noise.name, "unit": "", "mode": "delta", "source_type": -1 - kind}
            )
        target = schema.arrow_schema("counters")
        tables = {name: trace.table(name) for name in schema.TABLES if name in trace}
        tables |= {"bursts": bursts, "counters": pa.Table.from_pylist(counters, schema=target)}
        found.append(Trace(tables))
    return found
