"""Programs made of loops, run by hand: what they call is known, and so is their structure."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from burstline.testing import trace_of

WORK_NS, CALL_NS = 100, 10


@dataclass(frozen=True)
class Do:
    """An MPI call on a line; in some iterations of its loop, or on some ranks, only."""

    operation: str
    line: int
    when: object = None
    ranks: object = None
    work_ns: int = WORK_NS


@dataclass(frozen=True)
class For:
    """A loop; `times` is a number, or a list of how often at each entry."""

    times: object
    body: tuple


def loop(times, *body):
    return For(times, body)


def executed(program, rank, entries=None, iteration=0):
    """Give the steps of a rank, in order, by walking through the program."""
    entries = {} if entries is None else entries
    for step in program:
        if isinstance(step, For):
            visit = entries[id(step)] = entries.get(id(step), -1) + 1
            times = step.times if isinstance(step.times, int) else step.times[visit]
            for k in range(times):
                yield from executed(step.body, rank, entries, k)
        elif (step.ranks is None or rank in step.ranks) and (
            step.when is None or step.when(iteration)
        ):
            yield step


def lines(program, rank=0):
    """Give the source lines of the calls of a rank, in order."""
    return [step.line for step in executed(program, rank)]


def run(*program, ranks=2, counters=False, paths=True, peer_step=1, application=0):
    """Give the trace of a program; call path k is line k of main in a.c."""
    begin, end = Do("Init", 1), Do("Finalize", 999)
    numbers, told = {}, []
    for rank in range(ranks):
        now = 0
        told.append(f"{application}/{rank}")
        for call, step in enumerate(itertools.chain([begin], executed(program, rank), [end])):
            now += step.work_ns if call else 0
            path = numbers.setdefault(step.line, len(numbers))
            words = [f"{now} enter MPI_{step.operation}"]
            if step.operation == "Send":
                words.append(f"peer {(rank + peer_step) % ranks} sent {8 * step.line}")
            if paths:
                words.append(f"path {path}")
            if counters:
                words.append(f"ins={step.work_ns}")
            now += CALL_NS
            told += [" ".join(words), f"{now} leave" + " ins=0" * counters]
    declared = [
        f"application {k} ranks {ranks if k == application else 0}"
        for k in range(application + 1)
    ]
    declared += ["counter ins"] * counters
    declared += [f"path {k} main file a.c line {line}" for line, k in numbers.items()]
    return trace_of("\n".join([*declared, *told]))


def shape(items):
    """Give the nesting of a structure: (iterations, body) per loop, a line per call."""
    from burstline.structure import Loop

    return [
        (round(item.iterations, 3), shape(item.items))
        if isinstance(item, Loop)
        else item.caller.line
        for item in items
    ]


def reduced_calls(trace):
    """Give the unique calls of a trace."""
    from burstline.identity import sites_of
    from burstline.structure.calls import Calls
    from burstline.structure.reduction import reduce_to_sites

    calls = Calls(trace, None)
    return reduce_to_sites(trace, calls, sites_of(trace, calls.row, calls.world_size))
