# ruff: noqa: RUF001 -- lengths of a grid have a sign of multiplication between them
"""Slow, obvious twin of partner laws: a law is read as text, and messages are counted."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import product
from math import prod


def share(text, messages, world):
    """Give the share of messages, (caller, partner) in order, for which a law is true."""
    turn = defaultdict(list)
    held = 0
    for caller, partner in messages:
        expected = partners(text, caller, world, len(turn[caller]))
        done = turn[caller]
        since = len(done) // len(expected) * len(expected) if expected else 0
        held += partner in expected and partner not in done[since:]
        done.append(partner)
    return held / len(messages)


def partners(text, rank, world, turn):  # noqa: PLR0911 -- a law after the other
    """Give the set of ranks that a law names, for one rank and execution."""
    if text == "all others":
        return set(range(world)) - {rank}
    if found := re.fullmatch(r"root (\d+)", text):
        return {int(found[1])}
    if re.fullmatch(r"\(?rank[+-]\d+(\)%\d+)?|rank|rank xor \d+|\d+-rank", text):
        return {value(text, rank)}
    if found := re.fullmatch(r"\(?rank±(\d+)\)?(%\d+)?", text):
        both = {rank - int(found[1]), rank + int(found[1])}
        if found[2]:
            return {each % world for each in both}
        return {each for each in both if 0 <= each < world}
    if found := re.fullmatch(r"(.*(?:2\^i|k).*), ([ik]) = (.*)", text):
        formula, letter, run = found.groups()
        values = run_of(run)
        now = values[turn % len(values)]
        said = formula.replace("2^i", str(2**now)) if letter == "i" else formula
        return {value(re.sub(r"(?<!ran)k", str(now), said), rank)}
    return in_grid(text, rank)


def run_of(text):
    if ".." in text:
        first, last = map(int, text.split(".."))
        return (
            list(range(first, last + 1)) if first < last else list(range(first, last - 1, -1))
        )
    return [int(each) for each in text.split(", ")]


def value(formula, rank):
    """Give what a formula of the rank is, without eval."""
    if found := re.fullmatch(r"rank xor (\d+)", formula):
        return rank ^ int(found[1])
    if found := re.fullmatch(r"(\d+)-rank", formula):
        return int(found[1]) - rank
    found = re.fullmatch(r"\(?rank([+-]\d+)?\)?(?:%(\d+))?", formula)
    ahead = rank + int(found[1] or 0)
    return ahead % int(found[2]) if found[2] else ahead


def in_grid(text, rank):
    shape = [int(each) for each in re.search(r"\d+(?: × \d+)+", text)[0].split(" × ")]
    if text.startswith("transpose"):
        block = 2 if text.endswith("pairs") else 1
        row, column = divmod(rank // block, shape[1])
        return {(column * shape[0] + row) * block + rank % block}
    here = at(rank, shape)
    if text.startswith("("):
        steps = [tuple(map(int, text[1 : text.index(")")].split(", ")))]
    else:
        steps = [
            step
            for step in product((-1, 0, 1), repeat=len(shape))
            if any(step) and ("diagonals" in text or sum(map(abs, step)) == 1)
        ]
    found = set()
    for step in steps:
        there = [a + b for a, b in zip(here, step, strict=True)]
        if "periodic" in text:
            there = [a % n for a, n in zip(there, shape, strict=True)]
        if all(0 <= a < n for a, n in zip(there, shape, strict=True)):
            found.add(sum(a * prod(shape[k + 1 :]) for k, a in enumerate(there)))
    return found - {rank} if len(steps) > 1 else found


def at(rank, shape):
    place = []
    for length in reversed(shape):
        rank, coordinate = divmod(rank, length)
        place.insert(0, coordinate)
    return place


def split(text, world, nodes=()):
    """Give the sets of ranks that a law of a split keeps together."""
    parts = defaultdict(set)
    for rank in range(world):
        parts[_part(text, rank, world, nodes)].add(rank)
    return sorted(map(sorted, parts.values()))


def _part(text, rank, world, nodes):
    if text == "all ranks":
        return 0
    if text == "same node":
        return nodes[rank]
    if text == "same half":
        return rank < world / 2
    if found := re.fullmatch(r"same rank (mod|div) (\d+)", text):
        return rank % int(found[2]) if found[1] == "mod" else rank // int(found[2])
    said, sizes = re.fullmatch(r"same (.+) of ([\d ×]+)", text).groups()
    here = at(rank, [int(each) for each in sizes.split(" × ")])
    letters = {"row": "i", "column": "j"}.get(said, said)
    return tuple(here["ijkl".index(letter)] for letter in letters.split(", "))
