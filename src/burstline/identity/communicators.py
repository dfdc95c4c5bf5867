"""The names of communicators, as their source has them and the same in any run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import reduce
from hashlib import blake2s
from operator import or_
from typing import Final

import numpy as np

from burstline.columns import Integers
from burstline.model import Trace

_LONGEST: Final = 64
_DIGEST_BYTES: Final = 6
_ALONE: Final = ("world", "self")


def communicator_names(trace: Trace) -> list[str]:
    """The name of each communicator of a trace as its source has it: its kind, or its id."""
    rows = (trace.communicators[name].to_pylist() for name in ("kind", "source_id"))
    return [kind if kind in _ALONE else str(source) for kind, source in zip(*rows, strict=True)]


def splits_of(trace: Trace) -> Integers:
    """For each communicator the first of those it parts all ranks with, else itself.

    Each is of the first split in which no other has one of its ranks.
    """
    rows = (trace.communicators[name].to_pylist() for name in ("application", "kind"))
    members = trace.communicators["members"]
    ranks_of = _ranks_of_applications(trace)
    used: dict[tuple[int, int], int] = {}  # the splits that a rank is in, as bits
    splits: dict[tuple[int, int], list[int]] = {}
    for number, (application, kind) in enumerate(zip(*rows, strict=True)):
        if kind != "group" or len(members[number]) > len(ranks_of[application]):
            continue
        own = [(application, rank) for rank in members[number].as_py()]
        taken = reduce(or_, (used.get(each, 0) for each in own), 0)
        free = ~taken & (taken + 1)
        used |= {each: used.get(each, 0) | free for each in own}
        splits.setdefault((application, free), []).append(number)
    first = np.arange(len(members))
    for (application, _), split in splits.items():
        if sum(len(members[number]) for number in split) == len(ranks_of[application]):
            first[split] = split[0]
    return first


def _ranks_of_applications(trace: Trace) -> dict[int, set[int]]:
    ranks: dict[int, set[int]] = defaultdict(set)
    columns = (column.tolist() for column in trace.arrays("locations", "application", "rank"))
    for application, rank in zip(*columns, strict=True):
        ranks[application].add(rank)
    return ranks


def communicator_labels(trace: Trace) -> list[str]:
    """The label of each communicator, alike in all runs: ``world``, ``self`` or its ranks."""
    table = trace.communicators
    labels = []  # those of equal members are numbered
    met: dict[tuple[int, str], int] = {}
    rows = (table[name].to_pylist() for name in ("application", "kind", "members"))
    for application, kind, members in zip(*rows, strict=True):
        label = kind if kind in _ALONE else _members(members or [])
        if kind in {"inter", "unknown"}:
            label = f"{kind} {label}".rstrip()
        if kind != "self":  # every rank's own has this label
            met[application, label] = met.get((application, label), 0) + 1
            # in the order of the trace: that of their creation, if the recorder knows it
            if met[application, label] > 1:
                label = f"{label} #{met[application, label]}"
        labels.append(label)
    return labels


def _members(ranks: Sequence[int]) -> str:
    stretches: list[list[int]] = []
    for rank in ranks:
        if stretches and rank == stretches[-1][1] + 1:
            stretches[-1][1] = rank
        else:
            stretches.append([rank, rank])
    text = ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in stretches)
    if len(text) <= _LONGEST:
        return text
    digest = blake2s(text.encode(), digest_size=_DIGEST_BYTES).hexdigest()
    return f"{text[: text.rindex(',', 0, _LONGEST // 2)]},… ({len(ranks)} ranks, {digest})"
