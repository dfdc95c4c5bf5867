"""What children measure of matching runs: each function prepares, and returns the work."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from burstline import Trace
from burstline.identity import Tokens

Task = Callable[[], dict[str, Any]]
Integers = npt.NDArray[np.int64]

__all__ = ["match_by_difflib", "match_equal", "match_stores", "match_tokens", "write_runs"]

_FIXED: Final = 36
_COMPLETIONS: Final = 24
_STEP: Final = _FIXED + _COMPLETIONS
_LABELS: Final = 200
_STEPS_OF_REGION: Final = 50
_CHANGED: Final = 0.01


def match_by_difflib(bursts: int) -> Task:
    """Match two threads as the standard library matches lines of text."""
    ours, theirs = (thread(0, run, bursts)[0].tolist() for run in (1, 2))

    def run() -> dict[str, Any]:
        blocks = difflib.SequenceMatcher(None, ours, theirs, autojunk=False)
        matched = sum(block.size for block in blocks.get_matching_blocks())
        return {"bursts": len(ours) + len(theirs), "matched": matched}

    return run


def match_tokens(runs: int, threads: int, bursts: int, method: str) -> Task:
    """Match runs whose bursts are named already, and are as many on every thread."""
    from burstline.executor import threads_allowed  # noqa: PLC0415
    from burstline.merge import (  # noqa: PLC0415
        Alignment,
        Published,
        matching,
    )
    from burstline.merge.published import match_published  # noqa: PLC0415
    from burstline.progress import SILENCE  # noqa: PLC0415

    tokens = [tokens_of_run(run, threads, bursts) for run in range(runs)]
    lanes = [np.stack([one.offsets[:-1], one.offsets[1:]], axis=1) for one in tokens]

    def run() -> dict[str, Any]:
        if method == "align":
            members, _ = matching._aligned_rows(  # noqa: SLF001
                tokens, lanes, Alignment(), threads_allowed(), SILENCE
            )
        else:
            members, _ = match_published(tokens, lanes, Published())
        shared = int(np.count_nonzero((members >= 0).all(axis=1)))
        return {"bursts": sum(len(one.label) for one in tokens), "matched": shared}

    return run


def match_equal(bursts: int, method: str) -> Task:
    """Match two runs of one thread all of whose bursts are alike; one has a few less."""
    from burstline.executor import threads_allowed  # noqa: PLC0415
    from burstline.merge import (  # noqa: PLC0415
        Alignment,
        Published,
        matching,
    )
    from burstline.merge.published import match_published  # noqa: PLC0415
    from burstline.progress import SILENCE  # noqa: PLC0415

    tokens = [
        named(np.zeros(count, np.int32), np.full(count, -1), np.array([0, count]), count)
        for count in (bursts, bursts - bursts // 500)
    ]
    lanes = [np.stack([one.offsets[:-1], one.offsets[1:]], axis=1) for one in tokens]

    def run() -> dict[str, Any]:
        if method == "align":
            members, _ = matching._aligned_rows(  # noqa: SLF001
                tokens, lanes, Alignment(), threads_allowed(), SILENCE
            )
        else:
            members, _ = match_published(tokens, lanes, Published())
        shared = int(np.count_nonzero((members >= 0).all(axis=1)))
        return {"bursts": sum(len(one.label) for one in tokens), "matched": shared}

    return run


def thread(number: int, run: int, bursts: int) -> tuple[Integers, Integers]:
    """Give labels of a thread in a run, and which neighbours no program orders.

    Steps of sends and receives in a fixed order, and of completions in another order in each
    run; in each run 1 % of the bursts are missing, and 1 % are there twice.
    """
    steps = -(-bursts // _STEP)
    base, varied = np.random.default_rng(number), np.random.default_rng((run, number))
    completed = varied.permuted(base.integers(0, _LABELS, (steps, _COMPLETIONS)), axis=1)
    fixed = np.tile(np.arange(_FIXED), (steps, 1))
    half = _FIXED // 2
    label = np.concatenate([fixed[:, :half], completed + _FIXED, fixed[:, half:]], axis=1)
    step = np.tile(np.arange(steps)[:, None], (1, _STEP))
    unordered = np.where(label >= _FIXED, step, -1)
    drawn = varied.random(label.size)
    times = 1 - (drawn < _CHANGED) + (drawn > 1 - _CHANGED)
    rows = np.repeat(np.arange(label.size), times)[:bursts]
    return label.ravel()[rows], unordered.ravel()[rows]


def tokens_of_run(run: int, threads: int, bursts: int) -> Tokens:
    """Give the tokens of a run, thread after thread."""
    made = [thread(number, run, bursts) for number in range(threads)]
    ends = np.cumsum([len(label) for label, _ in made])
    label, unordered = (np.concatenate(part) for part in zip(*made, strict=True))
    offsets = np.concatenate([[0], ends])
    return named(label.astype(np.int32), unordered, offsets, _STEPS_OF_REGION * _STEP)


def named(
    label: npt.NDArray[np.int32], unordered: Integers, offsets: Integers, region: int
) -> Tokens:
    """Give tokens of labels: of no size, evenly in regions of some length."""
    from burstline.identity import Tokens  # noqa: PLC0415 -- in the child

    zeros, none = np.zeros(len(label)), np.full(len(label), -1, np.int32)
    places = [np.arange(count) % region / region for count in np.diff(offsets)]
    return Tokens(
        offsets=offsets.astype(np.int64),
        label=label,
        kind=label,
        matter=label,
        sends=np.zeros(len(label), bool),
        pattern=(label * 7 % 128).astype(np.int32),
        span=np.concatenate([np.arange(count) // region for count in np.diff(offsets)]),
        place=np.concatenate(places),
        sizes=(zeros, zeros),
        partners=(none, none),
        divides=np.zeros(len(label), bool),
        unordered=unordered.astype(np.int64),
    )


def write_runs(folder: str, runs: int, ranks: int, iterations: int) -> Task:
    """Write stores of runs in each of which other bursts are missing or twice."""
    from pathlib import Path  # noqa: PLC0415 -- in the child

    import burstline  # noqa: PLC0415
    from benchmarks.burst_table_tasks import whole  # noqa: PLC0415

    source = whole(ranks, iterations)

    def run() -> dict[str, Any]:
        for number in range(1, runs + 1):
            target = Path(folder) / f"conjugate_run{number}.store"
            burstline.write(changed(source, number), target)
        return {"bursts": source.rows("bursts")}

    return run


def changed(source: Trace, run: int) -> Trace:
    """Leave out 1 % of the calls of a trace, and do 1 % twice, in the time of one."""
    import pyarrow as pa  # noqa: PLC0415 -- in the child

    from burstline import Trace  # noqa: PLC0415
    from burstline.model import bursts_of  # noqa: PLC0415

    calls = source.table("calls")
    drawn = np.random.default_rng(run).random(len(calls))
    first = source.offsets("calls")
    drawn[np.unique(np.concatenate([first[:-1], first[1:] - 1]))] = 0.5
    rows = np.repeat(
        np.arange(len(calls)), 1 - (drawn < _CHANGED) + (drawn > 1 - _CHANGED).astype(int)
    )
    (location,) = source.arrays("calls", "location")
    begins = np.searchsorted(location[rows], location[rows])
    ordinal = (np.arange(len(rows)) - begins).astype(np.int32)
    table = calls.take(pa.array(rows))
    enter_ns, leave_ns = (table[name].to_numpy().copy() for name in ("enter_ns", "leave_ns"))
    second = np.flatnonzero(np.diff(rows) == 0) + 1
    enter_ns[second] = leave_ns[second - 1] = (enter_ns[second] + leave_ns[second]) // 2
    for name, column in (("call", ordinal), ("enter_ns", enter_ns), ("leave_ns", leave_ns)):
        index = table.column_names.index(name)
        table = table.set_column(index, table.schema.field(name), pa.array(column))
    tables = {name: source.table(name) for name in ("locations", "call_paths")}
    tables |= {"calls": table, "bursts": bursts_of(tables | {"calls": table})}
    return Trace(tables)


def match_stores(paths: list[str], method: str) -> Task:
    """Open stores, and match them."""
    import burstline  # noqa: PLC0415 -- in the child
    from burstline.merge import match  # noqa: PLC0415

    def run() -> dict[str, Any]:
        found = match([burstline.read(path) for path in paths], method=method)
        rates = [float(share) for share in found.match_rate]
        return {"bursts": int(found.bursts.sum()), "rates": rates}

    return run
