"""Intrinsic and extrinsic waits of pairs of runs, of which one has a sleep or more work.

Two ranks do the same in each step. In one run of a pair a rank sleeps for 1.2 s, or has half as
much work again; all of them are recorded on a machine as quiet as it is, and on one on which as
many loops as there are cores burn it beside.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import burstline
from burstline.model import FINALIZES, INITS
from burstline.waits import WAITS
from experiments.clocks.runs import Configuration, Mode, Site

_STEPS: Final = 20
_SLEEP_MS: Final = 1200
_PLANS: Final = {
    "as planned": (1.0, 0),
    "a rank sleeps for 1.2 s": (1.0, _SLEEP_MS),
    "a rank has 1.5 of the work": (1.5, 0),
    "both": (1.5, _SLEEP_MS),
}
_BURN: Final = "while True: pass"
_SIZES: Final = ((2, 1), (2, 2))


def report(site: Site, repetitions: int, say: Callable[[str], None]) -> Iterator[str]:
    """Waits of each run, in ms, as Markdown."""
    yield f"{os.cpu_count()} cores, load {os.getloadavg()[2]:.1f}, {repetitions} repetitions."
    yield ""
    yield "|  | machine | run | recorded, ms | intrinsic | extrinsic | excess |"
    yield "| --- " * 7 + "|"
    for ranks, threads in _SIZES:
        for machine, burners in (("quiet", 0), ("busy", os.cpu_count() or 1)):
            for plan, (factor, sleep_ms) in _PLANS.items():
                say(f"{ranks} x {threads}, {machine}: {plan}")
                words = str(_STEPS), str(factor), str(sleep_ms)
                name = f"planned.{ranks}x{threads}"
                configuration = Configuration(name, "planned", words, ranks, threads)
                with burning(burners):
                    runs = [_waits(site, configuration) for _ in range(repetitions)]
                cells = (
                    " / ".join(f"{each / 1e6:.0f}" for each in column)
                    for column in zip(*runs, strict=True)
                )
                yield f"| {ranks} x {threads} | {machine} | {plan} | {' | '.join(cells)} |"
    yield ""


def _waits(site: Site, configuration: Configuration) -> tuple[int, int, int, int]:
    """Recorded, intrinsic and extrinsic waits outside of MPI_Init and MPI_Finalize, excess."""
    _, store = site.record(configuration, Mode("clocks", "clocks"))
    waits = burstline.wait_states(burstline.read(store, raw=False), intrinsic=True)
    intrinsic, profile = waits.intrinsic, waits.profile
    if intrinsic is None:
        return 0, 0, 0, 0
    paths = range(profile.call_paths.num_rows)
    counts = [row for row in paths if not {*profile.path(row)} & {*INITS, *FINALIZES}]
    names = [name for name in WAITS if name in intrinsic.extrinsic]
    recorded, ours, theirs = (
        sum(int(of(name)[counts].sum()) for name in names if name in profile.stored)
        for of in (profile.exclusive, intrinsic.waits, intrinsic.extrinsic.__getitem__)
    )
    return recorded, ours, theirs, ours + theirs - recorded


@contextmanager
def burning(count: int) -> Iterator[None]:
    """Loops that burn cores beside what is run meanwhile."""
    loops = [subprocess.Popen([sys.executable, "-c", _BURN]) for _ in range(count)]  # noqa: S603 -- our own words
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
