"""The witness of a program: itself as nodes of a structure, in the form that traces can show.

What never runs is dropped, iterations without a call too. A loop of one iteration and a
condition that always holds vanish; a loop whose only element is a loop multiplies with it;
neighbours that run in the same executions of a body are one condition.

A call at the edge of a body, in the first iteration or the last one alone, cannot be told from
one beside the loop: peeled, it stands there, where that is not longer. In every n-th iteration
alone, it cannot be told from one beside a loop of n in that loop, and stands there. Of all ways
to write neighbouring conditions in each other, peeled witnesses have the shortest, of several
the one of the fewest branches, the plainest rules, the fewest letters, and the flattest. A loop
that only a loop stands in is one with it; without lists, it stays where rules would be long
lists in the one, which tell less than both loops.

Iterations that run on into each other cannot be told from one, nor a loop in another from one
that makes the calls of both: no witness is written in each of these forms. A reading that is
better than its witness, by the order in which readings are chosen, is the program in another
form, no less true: it is shorter, or leaves less open, or is as long and of fewer or plainer
conditions. Rules and trip counts of a witness are looked for in the smallest parts that make
the same calls in both, but where the reading of a part is better.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import numpy as np

from burstline.identity import Frame
from burstline.structure import Call, Condition, Loop, description_length, walk
from burstline.structure.exact.method import rank_of
from burstline.structure.program.length import length_of
from burstline.structure.program.rules import Around, Conditions, chains, rule, weight_of_rules
from burstline.structure.program.runs import Runs
from loop_programs import Do, For, turns
from oracles.conditions import list_length

_MOST_TOGETHER = 6
_ANY_CALL = Do("Send", 1)
_NUMBERS = itertools.count(), itertools.count()


@dataclass
class _Part:
    """A step that ran: per rank, in which executions of the body around, and its own trips."""

    step: object
    when: list
    trips: list | None = None
    parts: list | None = None


def witness(program, *, paths=True, peeled=False, without_lists=False):
    """Give the items of the structure that a program should be read as."""
    ran = {}
    for rank in range(program.ranks):
        for step, within in turns(program.steps, rank):
            places = ran.setdefault(id(step), [[] for _ in range(program.ranks)])
            places[rank].append(within)
    ran = {key: [dict.fromkeys(each) for each in places] for key, places in ran.items()}
    once = [[()] for _ in range(program.ranks)]
    steps = _parts(program.steps, ran, once, 0)

    def written(whole, nested=frozenset()):
        done.clear()
        parts = _simple(steps, [1] * program.ranks, _Peeling(whole, done, nested, multiplied))
        parts = parts if whole is None else _rewritten(parts)
        numbers = itertools.count(), itertools.count(1)
        return _nodes(parts, [1] * program.ranks, numbers, None, paths=paths)

    done, multiplied = {}, {}
    if not peeled:
        return written(None)
    whole, tried = frozenset(), set()
    items = written(whole)
    while untried := [loop for loop in done if loop not in tried]:
        tried.add(untried[0])
        other = written(whole | {untried[0]})
        if description_length(other) < description_length(items):
            items, whole = other, whole | {untried[0]}
        else:
            written(whole)
    nested = frozenset()
    for loop in [*multiplied] if without_lists else []:
        other = written(whole, nested | {loop})
        if _rank_with_lists(other) < _rank_with_lists(items):
            items, nested = other, nested | {loop}
    return items


def _rank_with_lists(items):
    """Give what is less for the better of two forms, long lists counted in full."""
    left_open, length, weight = rank_of(items)
    lists = sum(_lists(items, Around()))
    return left_open + lists, length + lists, weight


def _lists(items, around):
    """Give what the rules in a body cost that are long lists, beside other rules."""
    for chain in chains(items, around):
        for item in chain:
            if isinstance(item, Call):
                continue
            if isinstance(item, Condition) and (len(chain) == 1 or item is not chain[-1]):
                trips = around.loop and around.loop.trips
                is_again = trips and _is_again(trips)
                yield list_length(rule(item, around) or "", is_again=is_again)
            yield from _lists(item.items, around.inner(item))


def _is_again(trips):
    """Whether some rank enters a loop more than once for several iterations."""
    return any((trips.values(lane) > 1).sum() > 1 for lane in range(len(trips.counts)))


def found_in(witness, items, *, by_part):
    """Give how many rules of a witness are printed, of how many, and of constant trip counts.

    Nothing is looked for in parts that are read better yet, or else in such programs.
    """
    if by_part:
        wanted = [*_wanted(witness, items, Around(), Around())]
    else:
        wanted = [*_told(witness, Around())] if rank_of(witness) <= rank_of(items) else []
    there = [*_told(items, Around())]
    printed = [
        any(calls & others and told == other for others, other in there if calls & others)
        if isinstance(told, str)
        else (calls, told) in there
        for calls, told in wanted
    ]
    return tuple(
        (sum(own), len(own))
        for kind in (str, int)
        for own in [
            [
                is_there
                for is_there, (_, told) in zip(printed, wanted, strict=True)
                if isinstance(told, kind)
            ]
        ]
    )


def _wanted(own, items, around, other):
    """Give what a witness tells, as `_told` does, but for parts that are read better."""
    for part, read in _same_calls([*chains(own, around)], [*chains(items, other)]):
        if _are_alike(part, read):
            (node,), (same,) = part, read
            yield from _of_node(node, around)
            yield from _wanted(node.items, same.items, around.inner(node), other.inner(same))
        elif rank_of(part, around) <= rank_of(read, other):
            yield from _told(part, around)


def _same_calls(own, items):
    """Give the smallest parts of two bodies, told chain by chain, that make the same calls."""
    bodies = [list(itertools.accumulate(map(list, body))) for body in (own, items)]
    ends = [{frozenset().union(*map(_sites, each)): each for each in body} for body in bodies]
    before = 0, 0
    for calls, upto in ends[0].items():
        if calls in ends[1]:
            yield upto[before[0] :], ends[1][calls][before[1] :]
            before = len(upto), len(ends[1][calls])


def _are_alike(part, read):
    """Whether both are one loop, or one condition, of the same executions."""
    keys = [
        [
            (type(node), node.when.key(), isinstance(node, Loop) and node.trips.key())
            for node in each
        ]
        for each in (part, read)
    ]
    return len(part) == 1 and not isinstance(part[0], Call) and keys[0] == keys[1]


def _told(items, around):
    """Give the rules and constant trip counts of some items, with the calls they are of."""
    for item in items:
        yield from _of_node(item, around)
        if not isinstance(item, Call):
            yield from _told(item.items, around.inner(item))


def _of_node(item, around):
    """Give the rule of a condition, or the constant trip count of a loop, if it has one."""
    if isinstance(item, Condition) and (text := rule(item, around)):
        yield _sites(item), text
    if isinstance(item, Loop):
        lanes = range(len(item.executions))
        trips = {n for lane in lanes for n in item.trips.values(lane).tolist()}
        if len(trips) == 1:
            yield _sites(item), trips.pop()


def _sites(item):
    return frozenset((c.operation, c.caller) for c, _ in walk([item]) if isinstance(c, Call))


def _leaves(step):
    return [step] if isinstance(step, Do) else [x for s in step.body for x in _leaves(s)]


def _parts(steps, ran, around, depth):
    """Give the steps of a body that ran, by the executions `around` of the body, per rank."""
    found = []
    for step in steps:
        own = [ran[id(leaf)] for leaf in _leaves(step) if id(leaf) in ran]
        places = [
            sorted({place[: depth + 1] for leaf in own for place in leaf[rank]})
            for rank in range(len(around))
        ]
        if not any(places):
            continue
        held = [sorted({place[:depth] for place in each}) for each in places]
        number = [{place: k for k, place in enumerate(each)} for each in around]
        part = _Part(step, [[number[r][p] for p in each] for r, each in enumerate(held)])
        if isinstance(step, For):
            part.trips = [
                [len(list(group)) for _, group in itertools.groupby(each, lambda p: p[:depth])]
                for each in places
            ]
            part.parts = _parts(step.body, ran, places, depth + 1)
        elif not isinstance(step, Do):
            part.parts = _parts(step.body, ran, held, depth)
        found.append(part)
    return found


@dataclass
class _Peeling:
    """Which loops are left as they are, None for all, and which have been peeled, or not."""

    whole: frozenset | None
    done: dict
    nested: frozenset  # loops in which a loop stands alone and is not multiplied
    multiplied: dict  # those that are

    def multiplies(self, loop):
        """Tell whether a loop multiplies with the only one in it."""
        if id(loop.step) in self.nested:
            return False
        self.multiplied[id(loop.step)] = None
        return True

    def of(self, loop, inner):
        """Give the loop peeled, or None."""
        if self.whole is None or id(loop.step) in self.whole:
            return None
        if peeled := _peeled(loop, inner):
            self.done[id(loop.step)] = None
        return peeled


def _simple(parts, times, peeling):
    """Give parts of a body executed so many times per rank, in normal form."""
    flat = []
    for part in parts:
        if part.parts is None:
            flat.append(part)
            continue
        if part.trips is not None and {n for each in part.trips for n in each} != {1}:
            inner = _simple(part.parts, list(map(sum, part.trips)), peeling)
            is_alone = len(inner) == 1 and inner[0].trips is not None
            if is_alone and peeling.multiplies(part):
                ends = [list(itertools.accumulate(each, initial=0)) for each in part.trips]
                trips = [
                    [sum(own[a:b]) for a, b in itertools.pairwise(bounds)]
                    for own, bounds in zip(inner[0].trips, ends, strict=True)
                ]
                flat.append(replace(part, trips=trips, parts=inner[0].parts))
            elif peeled := peeling.of(part, inner):
                flat += _simple(peeled, times, peeling)
            else:
                flat.append(replace(part, parts=inner))
            continue
        inner = _simple(part.parts, list(map(len, part.when)), peeling)
        if _is_condition(part.when, times):
            flat.append(replace(part, trips=None, parts=inner))
        else:
            flat += [replace(each, when=_out_of(each.when, part.when)) for each in inner]
    return _together(flat, times)


def _peeled(loop, inner):
    """Give what a loop of some parts is beside those that its ends alone execute, or None.

    What the first iteration of each entry begins with stands before the loop, what the last
    one ends with behind it.
    """
    ends = [list(itertools.accumulate(each)) for each in loop.trips]
    first = [
        [end - n for end, n in zip(*each, strict=True)]
        for each in zip(ends, loop.trips, strict=True)
    ]
    last = [[end - 1 for end in each] for each in ends]
    for at, wanted in ((0, first), (-1, last)):
        edge, rest = _without_edge(inner, at, wanted)
        if edge:
            always = [list(range(len(each))) for each in loop.when]
            when = [own if any(p.when[r] for p in edge) else [] for r, own in enumerate(always)]
            outside = _Part(None, when, None, edge)
            left = [] if not rest else [_with_calls(replace(loop, when=always), rest)]
            parts = [outside, *left] if at == 0 else [*left, outside]
            return [_Part(None, loop.when, None, parts)]
    return _folded(loop, inner)


def _folded(loop, inner):
    """Give a loop of what only every n-th iteration begins or ends with and a loop of n."""
    for at in (0, -1):
        for n in range(2, max(n for each in loop.trips for n in each)):
            if any(own % n for each in loop.trips for own in each):
                continue
            totals = list(map(sum, loop.trips))
            wanted = [list(range(at % n, total, n)) for total in totals]
            edge, rest = _without_edge(inner, at, wanted)
            if not edge:
                continue
            if _executions_of(rest, len(totals)) != [list(range(total)) for total in totals]:
                continue
            every = [list(range(total // n)) for total in totals]
            of_n = _Part(loop.step, every, [[n] * len(each) for each in every], rest)
            made = [own if any(p.when[r] for p in edge) else [] for r, own in enumerate(every)]
            outside = _Part(None, made, None, edge)
            body = [outside, of_n] if at == 0 else [of_n, outside]
            trips = [[own // n for own in each] for each in loop.trips]
            return [replace(loop, trips=trips, parts=body)]
    return None


def _rewritten(parts, trips=None):
    """Give the parts of a body with neighbouring conditions in the fewest words."""
    parts = [
        part
        if part.parts is None
        else replace(part, parts=_rewritten(part.parts, None if _is_if(part) else part.trips))
        for part in parts
    ]
    if trips is None:
        return parts
    totals = [list(range(sum(each))) for each in trips]
    around = Around(SimpleNamespace(trips=Runs.of(trips)), np.array(list(map(len, totals))))
    written = []
    for depends, group in itertools.groupby(parts, lambda p: _depends(p.when, totals)):
        run = list(group)
        alike = [
            list(same) for _, same in itertools.groupby(_leaf_parts(run), lambda p: p.when)
        ]
        few = depends and len(alike) <= _MOST_TOGETHER
        written += _Writing(alike, around).best(0, len(alike), totals) if few else run
    return written


def _leaf_parts(parts):
    """Give the calls and loops of a body, by the executions of the body."""
    for part in parts:
        if _is_if(part):
            for inner in _leaf_parts(part.parts):
                yield replace(inner, when=_out_of(inner.when, part.when))
        else:
            yield part


def _depends(when, among):
    return _is_condition(when, list(map(len, among)))


@dataclass
class _Writing:
    """All ways to write neighbours that depend on conditions, tried one by one."""

    alike: list  # parts that run in the same executions, together
    around: Around
    known: dict = field(default_factory=dict)

    def best(self, begin, end, among):
        """Give some neighbours as parts of a body that is executed in some iterations."""
        key = begin, end, str(among)
        if key not in self.known:
            held = list(map(len, among))
            ways = (_together(parts, held) for parts in self._ways(begin, end, among))
            self.known[key] = min(ways, key=lambda parts: self._key(parts, among))
        return self.known[key]

    def _ways(self, begin, end, among):
        if begin == end:
            yield []
            return
        for split in range(begin + 1, end + 1):
            union = [
                sorted({k for same in self.alike[begin:split] for k in same[0].when[rank]})
                for rank in range(len(among))
            ]
            if split - begin > 1 and not _depends(union, among):
                continue
            always = [list(range(len(own))) for own in union]
            inside = [replace(part, when=always) for part in self.alike[begin]]
            if split - begin > 1:
                inside = self.best(begin, split, union)
            number = [{k: n for n, k in enumerate(each)} for each in among]
            when = [[n[k] for k in own] for n, own in zip(number, union, strict=True)]
            is_condition = _depends(union, among)
            some = [replace(part, when=when) for part in inside]
            some = [_Part(None, when, None, inside)] if is_condition else some
            for rest in self._ways(split, end, among):
                yield [*some, *rest]

    def _key(self, parts, among):
        """Give what is less for the better way to write a body."""
        held = Around(self.around.loop, np.array(list(map(len, among))), Runs.of(among))
        nodes = _nodes(_bare(parts), list(map(len, among)), _NUMBERS, None, paths=False)
        unexplained = Conditions.of(nodes, held).unexplained
        length = length_of(nodes, held)
        branches = sum(isinstance(item, Condition) for item, _ in walk(nodes))
        return length + 2 * unexplained, length, branches, weight_of_rules(nodes, held)


def _bare(parts):
    """Give parts with a call for each that is none or a condition."""
    return [
        replace(part, parts=_bare(part.parts)) if _is_if(part) else _Part(_ANY_CALL, part.when)
        for part in parts
    ]


def _without_edge(parts, at, wanted):
    """Give what stands at an end of parts and runs in wanted executions alone, and the rest."""
    part = parts[at]
    if not _is_if(part):
        return [], parts
    others = parts[1:] if at == 0 else parts[:-1]
    if all(not own or own == want for own, want in zip(part.when, wanted, strict=True)):
        return part.parts, others
    number = [{place: k for k, place in enumerate(each)} for each in part.when]
    inside = [[n.get(place) for place in each] for n, each in zip(number, wanted, strict=True)]
    edge, rest = _without_edge(part.parts, at, inside)
    if not edge:
        return [], parts
    kept = [_with_executions(part, rest)] if rest else []
    return edge, [*kept, *others] if at == 0 else [*others, *kept]


def _with_executions(condition, parts):
    """Give a condition on fewer parts, that holds where one of these runs."""
    ran = _executions_of(parts, len(condition.when))
    return replace(condition, when=_out_of(ran, condition.when), parts=_renumbered(parts, ran))


def _with_calls(loop, parts):
    """Give a loop of fewer parts, without iterations and entries in which none runs."""
    ran = _executions_of(parts, len(loop.when))
    when, trips = [], []
    for own, entered, each in zip(ran, loop.when, loop.trips, strict=True):
        ends = list(itertools.accumulate(each, initial=0))
        counts = [sum(a <= k < b for k in own) for a, b in itertools.pairwise(ends)]
        when.append([e for e, n in zip(entered, counts, strict=True) if n])
        trips.append([n for n in counts if n])
    return replace(loop, when=when, trips=trips, parts=_renumbered(parts, ran))


def _executions_of(parts, ranks):
    """Give in which executions of the body around any of its parts runs, per rank."""
    return [sorted({k for part in parts for k in part.when[rank]}) for rank in range(ranks)]


def _renumbered(parts, ran):
    """Give parts by the number of the execution among those in which anything runs."""
    number = [{place: k for k, place in enumerate(each)} for each in ran]
    return [
        replace(
            part, when=[[n[k] for k in own] for n, own in zip(number, part.when, strict=True)]
        )
        for part in parts
    ]


def _together(parts, times):
    """Give the parts with neighbours that are one condition as one."""
    joined = []
    for part in parts:
        last = joined[-1] if joined else None
        if not _is_condition(part.when, times):
            joined.append(part)
            continue
        always = [list(range(len(each))) for each in part.when]
        inner = part.parts if _is_if(part) else [replace(part, when=always)]
        if last is not None and _is_if(last) and last.when == part.when:
            held = list(map(len, part.when))
            joined[-1] = replace(last, parts=_together([*last.parts, *inner], held))
        else:
            joined.append(_Part(None, part.when, None, inner))
    return joined


def _is_if(part):
    return part.parts is not None and part.trips is None


def _is_condition(when, times):
    return any(0 < len(each) < total for each, total in zip(when, times, strict=True))


def _out_of(inner, outer):
    return [[o[k] for k in i] for i, o in zip(inner, outer, strict=True)]


def _nodes(parts, times, numbers, parent, *, paths):
    """Give the nodes of parts in normal form."""
    sites, loops = numbers
    nodes = []
    for part in parts:
        held = np.array(list(map(len, part.when)))
        common = {
            "ranks": tuple(np.flatnonzero(held).tolist()),
            "when": Runs.of(part.when),
            "probability": float(held.sum() / np.array(times)[held > 0].sum()),
        }
        if part.parts is None:
            nodes.append(_call(part.step, next(sites), paths, executions=held, **common))
        elif part.trips is None:
            items = _nodes(part.parts, held, numbers, parent, paths=paths)
            nodes.append(Condition(executions=held, items=items, **common))
        else:
            number, total = next(loops), np.array(list(map(sum, part.trips)))
            none = np.zeros(len(held))
            nodes.append(
                Loop(
                    id=number, parent=parent, executions=total, entered=held,
                    iterations=float(total.sum() / held.sum()), lane_mean_ns=none, mean_ns=0.0,
                    inside_ns=none, share=0.0, trips=Runs.of(part.trips),
                    items=_nodes(part.parts, total, numbers, number, paths=paths), **common,
                )
            )  # fmt: skip
    return tuple(nodes)


def _call(step, site, paths, **common):
    path = (Frame("main", "a.c", step.line),) if paths else ()
    return Call(
        site=site, operation=f"MPI_{step.operation}", path=path, time_ns=0.0,
        time_spread_ns=0.0, size_bytes=None, size_spread_bytes=None, burst_ns=None,
        counters={}, iteration_counters={}, **common,
    )  # fmt: skip
