"""Plans for signature runs of programs whose calls are known, with the recorder's hash."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.signature.ending import STEP

from burstline.model import CODES
from burstline.record import Plan, RankPlan

PROGRAMS = Path(__file__).parent / "record"
TOKENS = (1 << 64) - 1


def token(operation: str, offset: int = 0, size: int = 0) -> int:
    """What is hashed of a call."""
    return CODES[operation] << 48 | offset << 24 | size


def hashes(tokens: list[int]) -> list[int]:
    """The hash before each call and after the last, as the design says it."""
    found = [0]
    for count, word in enumerate(tokens, 1):
        mixed = word + count * 0x9E3779B97F4A7C15 & TOKENS
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & TOKENS
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & TOKENS
        found.append(found[-1] + (mixed ^ mixed >> 31) & TOKENS)
    return found


def rank_plan(operations: Sequence[str], *counts: int, cuts: bool = True) -> RankPlan:
    """The plan of a rank that makes these calls."""
    known = hashes([token(name) for name in operations])
    return RankPlan(counts, tuple(known[k] for k in counts), counts[-1] if cuts else None)


def ring_plan(before: Sequence[str], steps: int = 25, ranks: int = 2) -> Plan:
    """A plan for a ring of ending.c or ending.f90, that is cut after so many steps."""
    end = len(before) + steps * len(STEP)
    plan = rank_plan([*before, *STEP * steps], 0, len(before) + 4, end)
    return Plan((plan,) * ranks, full=False)
