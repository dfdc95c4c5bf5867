"""Counters by what they count, whatever their source calls them."""

from __future__ import annotations

from typing import Final

from burstline.columns import Integers, Mask
from burstline.model.trace import Trace

IPC: Final = "IPC"
"""Instructions by cycles, as a counter is named."""
OF_IPC: Final = (("PAPI_TOT_INS", "PAPI_TOT_CYC"), ("instructions", "cycles"))
"""Names of instructions and cycles: PAPI's and the kernel's, which our recorder has from it."""
INSTRUCTIONS: Final = (*(name for name, _ in OF_IPC), "IR_TOT_INS")
"""Names of instructions, those that our compiler counts last."""
_CLOCKS_OF_PROCESSORS: Final = ("cpu", "cpu-clock", "task-clock")


def is_processor_clock(name: str) -> bool:
    """Whether a counter is called like the time on a processor."""
    return name.lower().endswith(_CLOCKS_OF_PROCESSORS)


def processor_clock(trace: Trace) -> str | None:
    """The counter of the time on a processor, in ns; None if there is none."""
    for row in trace.table("counters").to_pylist():
        if is_processor_clock(row["name"]) and row["unit"] == "ns" and row["mode"] == "delta":
            name: str = row["name"]
            return name
    return None


def instructions_and_cycles(trace: Trace) -> tuple[str, str] | None:
    """The counters of instructions and of cycles; None if the trace has not both."""
    names = set(trace.counter_names)
    return next((each for each in OF_IPC if names.issuperset(each)), None)


_LONG_NS: Final = 1_000_000
_LEAST_COMPUTED: Final = 8
"""Of so much time of a long stretch, one part at least is computing, or it is none."""


def is_off_processor(elapsed_ns: Integers, counted_ns: Integers) -> Mask:
    """Which stretches are long but did not compute: time on a processor is that counted.

    Ranks that share processors are off theirs for a part of each stretch; files, sleep, or many
    others before it in the queue keep a thread off for nearly all of it.
    """
    is_long = elapsed_ns >= _LONG_NS
    return is_long & (counted_ns >= 0) & (counted_ns <= elapsed_ns // _LEAST_COMPUTED)
