"""Write a large, believable Paraver trace of a made-up MPI program.

::

    python -m benchmarks.generate --ranks 1024 --size 20G --out big.prv

The program exchanges halos on a ring and reduces, iteration after iteration. The lines
are those Extrae writes: states, events with three counters and three or four callers,
messages right after their sender's exit. Equal arguments give equal bytes.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from benchmarks import labels
from benchmarks.simulation import CALLS
from benchmarks.template import COUNTERS, RUNNING, Template, lay_out

_BLOCK_BYTES: Final = 2_000_000
_BYTES_PER_RANK_AND_ITERATION: Final = 2_200
_VARIANTS: Final = 3
_SECOND_NS: Final = 1_000_000_000
_UNITS: Final = {"K": 10**3, "M": 10**6, "G": 10**9}


@dataclass(frozen=True, slots=True)
class Plan:
    """How a trace of the size asked for is put together.

    Attributes
    ----------
    ranks, iterations, blocks : int
        Ranks; iterations in a block; blocks.
    digits : int
        Width of every time between the start and the end of the iterations.
    start_ns, block_ns : int
        When the iterations start, and how long a block lasts.
    templates : list of Template
        The variants of a block.
    """

    ranks: int
    iterations: int
    blocks: int
    digits: int
    start_ns: int
    block_ns: int
    templates: list[Template]

    @property
    def end_ns(self) -> int:
        """When the last block is over."""
        return self.start_ns + self.blocks * self.block_ns


def make_plan(ranks: int, size: int, rng: np.random.Generator) -> Plan:
    """Choose how many iterations of how many ranks make a trace of `size` bytes.

    Parameters
    ----------
    ranks : int
        Ranks, at least 2.
    size : int
        Bytes wanted; the trace has a little more.
    rng : numpy.random.Generator
        Where all noise comes from.

    Returns
    -------
    Plan
        With its templates laid out.
    """
    block = min(_BLOCK_BYTES, max(size // 8, 1))
    iterations = max(1, block // (ranks * _BYTES_PER_RANK_AND_ITERATION))
    digits = 10
    while True:
        templates = [lay_out(ranks, iterations, digits, rng) for _ in range(_VARIANTS)]
        blocks = -(-size // min(len(template.text) for template in templates))
        longest_ns = max(1.5 * template.gaps_ns.sum() for template in templates)
        block_ns = int(longest_ns) + len(templates[0].gaps_ns)
        start_ns = 10 ** (digits - 1)
        if start_ns + blocks * block_ns < 9 * start_ns:
            return Plan(ranks, iterations, blocks, digits, start_ns, block_ns, templates)
        digits += 2


def generate(path: Path, *, ranks: int, size: int, seed: int = 0) -> dict[str, object]:
    """Write a trace with its .pcf and .row.

    Parameters
    ----------
    path : Path
        The .prv to write.
    ranks : int
        Ranks, at least 2.
    size : int
        Bytes wanted.
    seed : int
        Names the trace among those of the same ranks and size.

    Returns
    -------
    dict
        What a reader must find: `lines` after the first, records (`states`, `events`,
        `communications`), `pairs` of type and value, `value_sum` modulo 2^64, `calls`
        by operation, `messages`, `collectives`, `bursts`, `duration_ns`, `bytes`, `ranks`.
    """
    rng = np.random.default_rng(seed)
    plan = make_plan(ranks, size, rng)
    finalize_ns = plan.end_ns + 1000 * np.arange(ranks)
    tail = _after(finalize_ns.tolist())
    end_ns = max(int(line.split(":")[5]) for line in tail)
    variants = rng.integers(_VARIANTS, size=plan.blocks).tolist()
    sizes = [_Count().add_text(template.text.tobytes()) for template in plan.templates]
    with path.open("wb") as out:
        out.write(labels.header(ranks, end_ns).encode())
        stamps, first = _stretch(plan, 0, variants[0], rng)
        head = "".join(_before(plan, first.tolist())).encode()
        out.write(head)
        found = _Count().add_text(head)
        for block, variant in enumerate(variants, start=1):
            coming, following = stamps, finalize_ns
            if block < plan.blocks:
                coming, following = _stretch(plan, block, variants[block], rng)
            template = plan.templates[variant]
            low_digits = rng.integers(10_000, size=len(template.counters) // 4)
            out.write(template.fill(stamps, following, low_digits))
            found.add(sizes[variant], int(low_digits.sum()))
            stamps = coming
        end = "".join(tail).encode()
        out.write(end)
        found.add_text(end)
        written = out.tell()
    path.with_suffix(".pcf").write_text(labels.pcf())
    path.with_suffix(".row").write_text(labels.row(ranks))
    return _expected(plan, found, end_ns, written)


def _stretch(
    plan: Plan, block: int, variant: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Give the times of a block's stamps, each gap longer or shorter, and each rank's first."""
    template = plan.templates[variant]
    noisy = template.gaps_ns * rng.uniform(0.5, 1.5, size=len(template.gaps_ns))
    start_ns = plan.start_ns + block * plan.block_ns
    stamps = start_ns + np.cumsum(np.maximum(noisy.astype(np.int64), 1))
    return stamps, stamps[template.first]


def _before(plan: Plan, first: list[int]) -> list[str]:
    """Lines of every rank's start and MPI_Init, in order of time."""
    zeros = "".join(f":{counter}:0" for counter in COUNTERS)
    some = "".join(f":{counter}:4711" for counter in COUNTERS)
    lines = []
    for rank in range(plan.ranks):
        who = f"{rank + 1}:1:{rank + 1}:1"
        born = plan.start_ns - 900_000_000 + 20_000 * rank
        entry, leave = born + 5_000_000, born + 100_000_000
        clock, core = born + 10**12, rank % labels.RANKS_PER_NODE + 1
        birth = (
            f"2:{who}:{born}:40000001:1:40000050:{clock}:40000033:{core}:40000133:0\n"
            f"1:{who}:{born}:{entry}:{RUNNING}\n"
            f"2:{who}:{born}:40000018:1:41999999:1{zeros}\n"
        )
        lines += [
            (0, f"1:{who}:0:{born}:2\n"),
            (born, birth),
            (entry, f"1:{who}:{entry}:{leave}:15\n2:{who}:{entry}:50000003:31{some}\n"),
            (
                leave,
                f"1:{who}:{leave}:{first[rank]}:{RUNNING}\n2:{who}:{leave}:50000003:0{some}\n",
            ),
        ]
    return [line for _, line in sorted(lines, key=lambda stamped: stamped[0])]


def _after(finalize: list[int]) -> list[str]:
    """Lines of every rank's MPI_Finalize, flush and end, in order of time."""
    some = "".join(f":{counter}:4711" for counter in COUNTERS)
    callers = ":70000001:5:80000001:8:70000002:6:80000002:9"
    lines = []
    for rank, entry in enumerate(finalize):
        who = f"{rank + 1}:1:{rank + 1}:1"
        leave, flush = entry + 3_000_000, entry + 5_000_000
        flushed, end = entry + 6_000_000, entry + 6_010_000
        call = f"1:{who}:{entry}:{leave}:15\n2:{who}:{entry}:50000003:32{some}{callers}\n"
        lines += [
            (entry, call),
            (leave, f"1:{who}:{leave}:{flush}:{RUNNING}\n2:{who}:{leave}:50000003:0{some}\n"),
            (flush, f"1:{who}:{flush}:{flushed}:12\n2:{who}:{flush}:40000003:1{some}\n"),
            (
                flushed,
                f"1:{who}:{flushed}:{end}:{RUNNING}\n2:{who}:{flushed}:40000003:0{some}\n",
            ),
            (end, f"2:{who}:{end}:40000001:0:40000050:{end + 10**12}\n"),
        ]
    return [line for _, line in sorted(lines, key=lambda stamped: stamped[0])]


class _Count:
    """Counts of what was written."""

    def __init__(self) -> None:
        self.states = self.events = self.pairs = self.communications = 0
        self.value_sum = 0

    def add_text(self, text: bytes) -> _Count:
        lines = text.splitlines()
        self.states += sum(line.startswith(b"1:") for line in lines)
        self.communications += sum(line.startswith(b"3:") for line in lines)
        events = [line for line in lines if line.startswith(b"2:")]
        self.events += len(events)
        self.pairs += sum((line.count(b":") - 5) // 2 for line in events)
        values = (line.replace(b"@", b"0").split(b":")[7::2] for line in events)
        self.value_sum += sum(sum(map(int, group)) for group in values)
        return self

    def add(self, other: _Count, more_value: int) -> None:
        self.states += other.states
        self.events += other.events
        self.pairs += other.pairs
        self.communications += other.communications
        self.value_sum += other.value_sum + more_value


def _expected(plan: Plan, found: _Count, duration_ns: int, written: int) -> dict[str, object]:
    iterations = plan.blocks * plan.iterations
    calls = {"MPI_Init": plan.ranks, "MPI_Finalize": plan.ranks}
    for call in CALLS:
        name = f"MPI_{call}"
        calls[name] = calls.get(name, 0) + iterations * plan.ranks
    return {
        "ranks": plan.ranks,
        "bytes": written,
        "lines": found.states + found.events + found.communications + plan.ranks + 1,
        "states": found.states,
        "events": found.events,
        "pairs": found.pairs,
        "communications": found.communications,
        "value_sum": found.value_sum % (1 << 64),
        "calls": calls,
        "messages": 2 * plan.ranks * iterations,
        "collectives": iterations,
        "bursts": sum(calls.values()) - plan.ranks,
        "duration_ns": duration_ns,
    }


def size_in_bytes(text: str) -> int:
    """Read a size such as ``500M`` or ``20G``; units are powers of ten.

    Examples
    --------
    >>> size_in_bytes("1.5K")
    1500
    """
    unit = _UNITS.get(text[-1:].upper(), 1)
    return int(float(text[:-1] if unit > 1 else text) * unit)


def main() -> None:
    """Generate what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.generate", description=__doc__)
    parser.add_argument("--ranks", type=int, default=64, metavar="N")
    parser.add_argument("--size", type=size_in_bytes, default="100M", metavar="BYTES")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.prv")
    parser.add_argument("--check", action="store_true", help="print what a reader must find")
    wanted = parser.parse_args()
    start = time.perf_counter()
    expected = generate(wanted.out, ranks=wanted.ranks, size=wanted.size, seed=wanted.seed)
    if wanted.check:
        print(json.dumps(expected, indent=2))
    seconds = time.perf_counter() - start
    print(f"{wanted.out}: {expected['bytes']} bytes, {seconds:.1f} s")


if __name__ == "__main__":
    main()
