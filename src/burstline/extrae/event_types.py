"""The event types of Extrae and ours: number, class, label and writer.

Types of five digits are of the newer OpenMP library, ``OMP_`` is the older one. Ours lie in
ranges that no version of Extrae uses, but those of counters among Extrae's.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from burstline._core import EventClass


class RegionKind(NamedTuple):
    """One of the schema's paradigms, and one of the roles of regions."""

    paradigm: str
    role: str


class EventType(NamedTuple):
    """Class, label and region of a type, without the labels of a trace."""

    event_class: EventClass
    label: str
    region: RegionKind | None


TABLE: Final[dict[int, EventType]] = {}
"""All types but those in ranges, whose numbers are made: from names, or in order."""

REGION_LINES: Final[dict[int, int]] = {}
"""Types of regions, and the type that says the source line of one."""


def _enter(
    number: int,
    event_class: EventClass = EventClass.OTHER,
    label: str = "",
    region: RegionKind | None = None,
) -> int:
    TABLE[number] = EventType(event_class, label, region)
    return number


def _enter_region(number: int, paradigm: str, role: str, label: str = "") -> int:
    event_class = EventClass.LOCK if role in {"lock", "ordered"} else EventClass.REGION
    return _enter(number, event_class, label, RegionKind(paradigm, role))


def _enter_lines(region: int, number: int) -> None:
    REGION_LINES[region] = number
    _enter(number, EventClass.REGION_LINE)


def _enter_each(numbers: range, event_class: EventClass, label: str) -> range:
    for level, number in enumerate(numbers):
        _enter(number, event_class, label.format(level))
    return numbers


# Samples: what was executed, and behind it the functions that called it.
SAMPLED_FUNCTIONS: Final = _enter_each(
    range(30_000_000, 30_000_100), EventClass.SAMPLE_FUNCTION, "Sampled functions (depth {})"
)
SAMPLED_LINES: Final = _enter_each(
    range(30_000_100, 30_000_200), EventClass.SAMPLE_LINE, "Sampled lines functions (depth {})"
)

# The process and its tracer.
APPLICATION: Final = _enter(40_000_001, EventClass.APPLICATION, "Application")
FLUSH: Final = _enter(40_000_003, EventClass.FLUSH, "Flushing Traces")
TRACING: Final = _enter(40_000_012, EventClass.TRACING, "Tracing")
TRACING_MODE: Final = _enter(40_000_018)

# Calls of the system.
YIELD: Final = _enter_region(40_000_000, "other", "call")
FILE_CALL: Final = _enter_region(40_000_004, "io", "call")
PROCESS_CALL: Final = _enter_region(40_000_027, "other", "call")
MEMORY_CALL: Final = _enter_region(40_000_040, "memory", "call")
_enter_region(52_000_000, "other", "call")
_enter_region(69_000_000, "other", "call")

# Hardware counters: each million holds differences, or, if it is odd, absolute values.
COUNTER_SET: Final = _enter(41_999_999, EventClass.COUNTER_SET, "Active hardware counter set")
OLD_COUNTER_SET: Final = _enter(42_009_999)
"""Which counter set is active, before mid-2012; a counter's type if its label says so."""

COUNTER_TYPES: Final = range(42_000_000, 50_000_000)
"""Preset, native, uncore and PMAPI counters."""

RESOURCE_TYPES: Final = range(45_000_000, 45_000_016)
HEAP_TYPES: Final = range(46_000_000, 46_000_005)
JAVA_TYPES: Final = range(48_000_001, 48_000_005)

NATIVE_TYPES: Final = range(44_100_000, 45_000_000)
"""Native and software counters of our recorder: a hash of the name."""

CPU_TIME: Final = _enter(48_500_001, EventClass.COUNTER)
"""The thread's time on a processor."""

WORK_TYPES: Final = range(48_510_000, 48_520_000)
"""Work counters, which compiled code keeps: each the number of its PAPI kin."""

MERGED_TYPES: Final = range(48_600_000, 48_700_000)
"""Counters of other runs whose own type means something else in the trace."""

# MPI: calls, and attributes of a call, which follow its entry.
MPI_POINT_TO_POINT: Final = _enter(50_000_001, EventClass.MPI_CALL, "MPI Point-to-point")
MPI_COLLECTIVE: Final = _enter(50_000_002, EventClass.MPI_CALL, "MPI Collective Comm")
MPI_OTHER: Final = _enter(50_000_003, EventClass.MPI_CALL, "MPI Other")
MPI_ONE_SIDED: Final = _enter(50_000_004, EventClass.MPI_CALL, "MPI One-sided")
MPI_FILE: Final = _enter(50_000_005, EventClass.MPI_CALL, "MPI I/O")
FILE_SIZE: Final = _enter(50_000_110, EventClass.IO_SIZE, "MPI-IO size in bytes")
_enter(50_000_300, EventClass.POLL_COUNT)
_enter(50_000_301, EventClass.POLL_TIME)
_enter(50_000_302, EventClass.POLL_COUNT)
_enter(50_000_303, EventClass.POLL_TIME)
TEST_MISSES: Final = _enter(50_000_304, EventClass.POLL_COUNT, "MPI_Test misses")
TEST_TIME: Final = _enter(50_000_305, EventClass.POLL_TIME, "Elapsed time in MPI_Test")
_enter(50_000_306, EventClass.POLL_COUNT)
_enter(50_000_307, EventClass.POLL_TIME)
RMA_SIZE: Final = _enter(50_001_000, EventClass.RMA_SIZE, "One-sided MPI size")
_enter(50_001_001, EventClass.RMA_TARGET)
SENT_SIZE: Final = _enter(50_100_001, EventClass.COLLECTIVE_SENT, "Send Size in MPI Global OP")
RECEIVED_SIZE: Final = _enter(
    50_100_002, EventClass.COLLECTIVE_RECEIVED, "Recv Size in MPI Global OP"
)
ROOT: Final = _enter(50_100_003, EventClass.COLLECTIVE_ROOT, "Root in MPI Global OP")
COMMUNICATOR: Final = _enter(
    50_100_004, EventClass.COLLECTIVE_COMMUNICATOR, "Communicator in MPI Global OP"
)

# OpenMP, the newer library. Phases of ordered sections and task groups, 60007 and 60008, are
# no stack, and the spans of OPENMP_SYNCHRONISATION are the same.
OPENMP_CALL: Final = _enter_region(60_000, "openmp", "call", "OpenMP RT Call")
OPENMP_PARALLEL: Final = _enter_region(60_002, "openmp", "parallel", "OpenMP Parallel")
OPENMP_WORKSHARING: Final = _enter_region(60_003, "openmp", "loop", "OpenMP Worksharing")
OPENMP_SYNCHRONISATION: Final = _enter_region(
    60_004, "openmp", "barrier", "OpenMP Synchronization"
)
LOCK_STATUS: Final = _enter_region(60_005, "openmp", "lock", "OpenMP Lock Status")
LOCK_ADDRESS: Final = _enter(60_006, EventClass.LOCK_ADDRESS, "OpenMP Lock Address")
OPENMP_TASKING: Final = _enter_region(60_009, "openmp", "task", "OpenMP Tasking")
_enter_region(60_010, "openmp", "target")
_enter_lines(_enter_region(60_012, "openmp", "outlined", "OpenMP Outlined function"), 60_013)
_enter_lines(_enter_region(60_015, "openmp", "function"), 60_016)
_enter_lines(_enter_region(60_018, "openmp", "function"), 60_019)

# OpenMP, the older library; user functions, threads.
_enter_region(60_000_001, "openmp", "parallel", "Parallel (OMP)")
OMP_WORKSHARING: Final = _enter_region(60_000_002, "openmp", "loop", "Worksharing (OMP)")
_enter_region(60_000_005, "openmp", "barrier", "OpenMP barrier")
_enter_region(60_000_006, "openmp", "lock", "OpenMP named-Lock")
_enter_region(60_000_007, "openmp", "lock", "OpenMP unnamed-Lock")
_enter_region(60_000_011, "openmp", "dispatch")
OMP_JOIN: Final = _enter_region(60_000_016, "openmp", "implicit_barrier")
_enter_region(60_000_018, "openmp", "outlined", "Executed OpenMP parallel function")
USER_FUNCTION: Final = _enter_region(60_000_019, "user", "function", "User function")
_enter_region(60_000_020, "pthread", "function")
_enter_region(60_000_021, "openmp", "task")
_enter_region(60_000_022, "openmp", "taskwait", "OMP taskwait")
_enter_region(60_000_023, "openmp", "task", "Executed OpenMP task function")
_enter_region(60_000_024, "openmp", "task_create")
_enter_region(60_000_025, "openmp", "call")
_enter_region(60_000_027, "openmp", "taskgroup")
OMP_TASKLOOP: Final = _enter_region(60_000_029, "openmp", "taskloop", "OMP taskloop")
_enter_region(60_000_030, "openmp", "call")
_enter_region(60_000_031, "openmp", "call")
_enter(60_000_032, EventClass.LOCK_ADDRESS)
_enter_region(60_000_033, "openmp", "ordered")
_enter_region(60_000_034, "openmp", "target")
_enter_region(60_000_035, "openmp", "taskyield")
for _function in (60_000_018, 60_000_019, 60_000_020, 60_000_023, 60_000_024):
    _enter_lines(_function, _function + 100)
PTHREAD_CALL: Final = _enter_region(61_000_000, "pthread", "call")

# Accelerators: calls, kernels, activities of devices.
CUDA_CALL: Final = _enter_region(63_000_000, "gpu", "call")
CUDA_ACTIVITY: Final = _enter_region(63_100_000, "gpu", "call")
HIP_CALL: Final = _enter_region(63_500_000, "gpu", "call")
HIP_ACTIVITY: Final = _enter_region(63_510_000, "gpu", "call")
for _function in (63_000_006, 63_000_009, 63_500_006, 63_500_009):
    _enter_lines(_enter_region(_function, "gpu", "function"), _function + 1)
for _call in (64_000_000, 64_100_000, 66_000_000, 66_000_001, 66_000_002):
    _enter_region(_call, "gpu", "call")

# The calling stack; the distance from the first is the level.
CALLER_FUNCTIONS: Final = _enter_each(
    range(70_000_000, 70_000_101), EventClass.CALLER_FUNCTION, "Caller at level {}"
)
CALLER_LINES: Final = _enter_each(
    range(80_000_000, 80_000_101), EventClass.CALLER_LINE, "Caller line at level {}"
)

# Loops, and events of the program that may not keep their type.
OWN_TYPES: Final = range(77_200_000, 77_800_000)
"""All types of loops and programs that have a meaning of ours, now or later."""

LOOP_OF_CALL: Final = _enter(77_200_000, EventClass.OTHER, "Loop of the call")
"""Label of a call: its value is the innermost loop around the MPI call, 0 for none."""

ITERATION: Final = _enter(77_200_001, EventClass.OTHER, "Iteration of a loop")
"""Iteration of a labelled loop: its value is which."""

POLL_WAITING: Final = _enter(
    77_200_002, EventClass.POLL_WAITING, "Elapsed time waiting from poll to poll"
)
"""Time in failed polls and in short stretches from one to the next, as the recorder saw it."""

INTERRUPTED_PARTNER: Final = _enter(
    77_200_003, EventClass.RMA_TARGET, "Partner of an interrupted call"
)
"""Rank of the partner of a call that nobody left, so that no message tells it."""

CONSTRUCT_PATH: Final = _enter(77_200_004, EventClass.REGION_LINE, "Call path of the construct")
"""Where a construct of OpenMP is: its value is a frame, whose label names the one around it."""

SAMPLE_PERIODS: Final = _enter(
    77_200_005, EventClass.SAMPLE_PERIODS, "Periods that a sample stands for"
)
"""How many periods of the sampling found no moment before it, and its own."""

MOVED_TYPES: Final = range(77_210_000, 77_300_000)
"""Event types of a program that are taken, in the order of their numbers."""

STRUCTURE: Final = range(77_700_000, 77_700_200)
"""Loops that were found: the innermost, the one at each nesting depth, and its iteration."""

FOUND_ITERATION: Final = 77_700_101
"""Iteration of the loops that were found and are in no other; deeper ones follow."""

WAIT_STATE, WAIT_LENGTH, WAIT_CAUSE = range(77_700_201, 77_700_204)
"""What a thread waits for, for how many ns, and the rank that causes it, from 1."""

MARKED: Final = range(77_700_000, 77_700_300)
"""Types that annotating a trace replaces: of loops and of waits."""

RESERVED: Final = range(77_700_000, 77_800_000)
"""All types of results, now or later."""

# What no other table has: numbered in alphabetical order of the names.
PARAMETER_TYPES: Final = range(78_000_000, 78_500_000)
ATTRIBUTE_TYPES: Final = range(78_500_000, 79_000_000)


def types_of(event_class: EventClass) -> frozenset[int]:
    """The types of the table that are of a class."""
    return frozenset(number for number, row in TABLE.items() if row.event_class is event_class)


KNOWN_TYPES: Final = frozenset(TABLE) - types_of(EventClass.OTHER)
"""Types whose class needs no label; counters are known by their range."""
