"""Kinds of work that compiled programs can count, and the counters of each."""

from __future__ import annotations

from typing import Final

from burstline.errors import ParameterError, printable

ALL: Final = "all"
KINDS: Final[dict[str, tuple[str, ...]]] = {
    "blocks": ("IR_BB",),
    "statements": ("IR_TOT_INS",),
    "memory": ("IR_LD_INS", "IR_SR_INS"),
    "branches": ("IR_BR_INS",),
    "flops": ("IR_FP_INS", "IR_SP_OPS", "IR_DP_OPS"),
    "vectors": ("IR_VEC_INS", "IR_VEC_SP", "IR_VEC_DP"),
    "calls": ("IR_CALLS",),
    "iterations": ("IR_LOOP_ITER",),
}
"""Kinds of work, and the counters of each; as ``KINDS`` in ``pass/tally.cpp``."""


def kinds_of(text: str) -> tuple[str, ...]:
    """The kinds of work in a list with commas, or all, in the order of :data:`KINDS`."""
    names = [word.strip() for word in text.split(",") if word.strip()]
    wrong = [name for name in names if name not in KINDS and name != ALL]
    if wrong or not names:
        given = printable(wrong[0]) if wrong else "nothing"
        raise ParameterError(
            f"--count: {given} is no kind of work. There are {', '.join(KINDS)}, and {ALL}"
        )
    return tuple(name for name in KINDS if name in names or ALL in names)
