"""Programs made of loops, run by hand: what they call is known, and so is their structure.

`Program(seed)` draws one; tests/witnesses.py gives it as the nodes that detection should find.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, replace

from burstline.testing import trace_of

WORK_NS, CALL_NS = 100, 10


class Turn(int):
    """The number of an iteration, from 0, that knows its loop: how many it has, and where."""

    total: int
    rank: int
    around: Turn | None

    @classmethod
    def of(cls, number, total, rank, around=None):
        turn = cls(number)
        turn.total, turn.rank, turn.around = total, rank, around
        return turn


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
    """A loop; `times` is a number, a list of how often at each entry, or told by the turn."""

    times: object
    body: tuple


@dataclass(frozen=True)
class If:
    """A part of a body that some iterations execute; `when` tells by the turn."""

    when: object
    body: tuple


def loop(times, *body):
    return For(times, body)


def turns(program, rank, entries=None, turn=None, within=()):
    """Give the steps of a rank in order, and (entry, iteration) of each loop around them."""
    entries = {} if entries is None else entries
    turn = Turn.of(0, 1, rank) if turn is None else turn
    for step in program:
        if isinstance(step, For):
            visit = entries[id(step)] = entries.get(id(step), -1) + 1
            times = step.times(turn) if callable(step.times) else step.times
            times = times if isinstance(times, int) else times[visit]
            for k in range(times):
                inner = Turn.of(k, times, rank, turn)
                yield from turns(step.body, rank, entries, inner, (*within, (visit, k)))
        elif isinstance(step, If):
            if step.when(turn):
                yield from turns(step.body, rank, entries, turn, within)
        elif (step.ranks is None or rank in step.ranks) and (
            step.when is None or step.when(turn)
        ):
            yield step, within


def executed(program, rank):
    """Give the steps of a rank, in order, by walking through the program."""
    return (step for step, _ in turns(program, rank))


def lines(program, rank=0):
    """Give the source lines of the calls of a rank, in order."""
    return [step.line for step in executed(program, rank)]


def run(*program, **how):
    """Give the trace of a program; call path k is line k of main in a.c."""
    return trace_of(text(*program, **how))


def text(*program, ranks=2, counters=False, paths=True, peer_step=1, application=0):
    """Give the text form of the trace of a program."""
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
    return "\n".join([*declared, *told])


MOST_CALLS = 3000
_LOOPED = ("Send", "Recv", "Isend", "Irecv", "Wait", "Barrier", "Allreduce", "Bcast")


class Program:
    """A program drawn at random, always the same for one seed."""

    def __init__(self, seed):
        self.seed = seed
        draw = random.Random(seed)  # noqa: S311 -- no secret
        self.ranks = draw.randint(1, 4)
        while True:
            self._line = itertools.count(10)
            steps = _in_order(self._body(draw, draw.randint(1, 3), inside=False), {})
            most = max(sum(1 for _ in self._up_to(steps, rank)) for rank in range(self.ranks))
            if 0 < most <= MOST_CALLS:
                break
        self.steps = (Do("Init", 1), *steps, Do("Finalize", 999))

    def _up_to(self, steps, rank):
        return itertools.islice(turns(steps, rank), MOST_CALLS + 1)

    def run(self, rank):
        """Give the calls of a rank, in order."""
        return executed(self.steps, rank)

    def text(self, *, paths=True):
        """Give the text form of its trace."""
        return text(*self.steps[1:-1], ranks=self.ranks, paths=paths)

    def trace(self, *, paths=True):
        return trace_of(self.text(paths=paths))

    def _body(self, draw, depth, *, inside=True):
        steps = []
        for _ in range(draw.randint(1, 4)):
            kind = draw.random()
            if depth and kind < 0.4:
                steps.append(loop(self._times(draw, inside), *self._body(draw, depth - 1)))
            elif inside and kind < 0.6:
                steps.append(self._condition(draw, depth))
            else:
                steps += self._calls(draw)
        if inside and len(steps) > 1 and draw.random() < 0.12:  # continue
            at = draw.randint(1, len(steps) - 1)
            steps[at:] = [If(_rule(draw), tuple(steps[at:]))]
        return tuple(steps)

    def _calls(self, draw):
        ranks = None
        if self.ranks > 1 and draw.random() < 0.1:
            ranks = sorted(draw.sample(range(self.ranks), draw.randint(1, self.ranks - 1)))
        line = next(self._line)
        names = draw.sample(_LOOPED, 2 if draw.random() < 0.1 else 1)  # several on one line
        several = [Do(name, line, ranks=ranks) for name in names]
        while draw.random() < 0.35:
            several.append(Do(draw.choice(_LOOPED), next(self._line), ranks=ranks))
        return several

    def _condition(self, draw, depth):
        steps = self._calls(draw)
        if draw.random() < 0.25:
            steps.insert(draw.randint(0, len(steps)), If(_rule(draw), tuple(self._calls(draw))))
        elif depth and draw.random() < 0.25:
            steps.append(loop(self._times(draw, inside=True), *self._body(draw, depth - 1)))
        return If(_rule(draw), tuple(steps))

    def _times(self, draw, inside):
        few, kind = draw.randint(2, 9), draw.random()
        if kind < 0.15:
            return lambda turn: few + turn.rank
        if kind < 0.18:
            return 0
        if inside and kind < 0.35:
            step = draw.randint(1, 2)
            return lambda turn: few + step * turn
        if inside and kind < 0.42:  # none in some iterations
            every = draw.randint(2, 4)
            return lambda turn: few if turn % every else 0
        return few if draw.random() < 0.8 else 3 * few


def _in_order(steps, lines):
    """Give the steps with lines in the order in which they stand."""
    return tuple(
        replace(step, line=lines.setdefault(step.line, 10 + len(lines)))
        if isinstance(step, Do)
        else replace(step, body=_in_order(step.body, lines))
        for step in steps
    )


def _rule(draw):
    """Draw when a condition holds."""
    every, first = draw.randint(2, 4), draw.randint(0, 1)
    some = set(draw.sample(range(8), draw.randint(1, 3)))
    return draw.choice(
        [
            lambda turn: turn == 0,
            lambda turn: turn > 0,
            lambda turn: turn == turn.total - 1,
            lambda turn: turn < turn.total - 1,
            lambda turn: turn % every == every - 1,
            lambda turn: turn % every == first,
            lambda turn: turn in some,
            lambda turn: turn not in some,
        ]
    )


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
