"""Regions that are no MPI: which event types open and close them, and what they are.

A region's nonzero value opens it and 0 closes the last one that is open of the same type.
Regions of different types need not nest: the runtime call that starts a loop is left while
the loop is still open. OpenMP has two families of types, by the library that was preloaded
and not by the compiler; both are known.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from burstline._core import LockStep
from burstline.extrae.labels import read_function

ROLES: Final = (
    "parallel",
    "team",
    "outlined",
    "loop",
    "sections",
    "single",
    "master",
    "dispatch",
    "barrier",
    "implicit_barrier",
    "join",
    "task_create",
    "task",
    "taskloop",
    "taskwait",
    "taskgroup",
    "taskyield",
    "ordered",
    "critical",
    "atomic",
    "lock",
    "target",
    "kernel",
    "function",
    "call",
)
"""What a region can be.

``parallel`` is the fork and join on the thread that forks; ``team`` and ``outlined`` are what
each thread of the team does in between: the construct, and its function. ``task_create`` is
where a task is made, ``task`` where it runs. ``implicit_barrier`` ends work sharing, ``join``
ends it without waiting. ``function`` names code, ``call`` is any other call of a library.
"""


class RegionKind(NamedTuple):
    """What a region is.

    Attributes
    ----------
    paradigm : str
        One of :data:`burstline.schema.PARADIGMS`.
    role : str
        One of :data:`ROLES`.
    """

    paradigm: str
    role: str


_KINDS = {
    40000000: RegionKind("other", "call"),
    40000004: RegionKind("io", "call"),
    40000027: RegionKind("other", "call"),
    40000040: RegionKind("memory", "call"),
    52000000: RegionKind("other", "call"),
    60000: RegionKind("openmp", "call"),
    60002: RegionKind("openmp", "parallel"),
    60003: RegionKind("openmp", "loop"),
    60004: RegionKind("openmp", "barrier"),
    60009: RegionKind("openmp", "task"),
    60010: RegionKind("openmp", "target"),
    60012: RegionKind("openmp", "outlined"),
    60015: RegionKind("openmp", "function"),
    60018: RegionKind("openmp", "function"),
    60000001: RegionKind("openmp", "parallel"),
    60000002: RegionKind("openmp", "loop"),
    60000005: RegionKind("openmp", "barrier"),
    60000011: RegionKind("openmp", "dispatch"),
    60000016: RegionKind("openmp", "implicit_barrier"),
    60000018: RegionKind("openmp", "outlined"),
    60000019: RegionKind("user", "function"),
    60000020: RegionKind("pthread", "function"),
    60000021: RegionKind("openmp", "task"),
    60000022: RegionKind("openmp", "taskwait"),
    60000023: RegionKind("openmp", "task"),
    60000024: RegionKind("openmp", "task_create"),
    60000025: RegionKind("openmp", "call"),
    60000027: RegionKind("openmp", "taskgroup"),
    60000029: RegionKind("openmp", "taskloop"),
    60000030: RegionKind("openmp", "call"),
    60000031: RegionKind("openmp", "call"),
    60000034: RegionKind("openmp", "target"),
    60000035: RegionKind("openmp", "taskyield"),
    61000000: RegionKind("pthread", "call"),
    63000000: RegionKind("gpu", "call"),
    63000006: RegionKind("gpu", "function"),
    63000009: RegionKind("gpu", "function"),
    63100000: RegionKind("gpu", "call"),
    63500000: RegionKind("gpu", "call"),
    63500006: RegionKind("gpu", "function"),
    63500009: RegionKind("gpu", "function"),
    63510000: RegionKind("gpu", "call"),
    64000000: RegionKind("gpu", "call"),
    64100000: RegionKind("gpu", "call"),
    66000000: RegionKind("gpu", "call"),
    66000001: RegionKind("gpu", "call"),
    66000002: RegionKind("gpu", "call"),
    69000000: RegionKind("other", "call"),
}

_WAITS = dict.fromkeys((60005, 60000006, 60000007), RegionKind("openmp", "lock"))
_WAITS[60000033] = RegionKind("openmp", "ordered")

_ROLES_BY_VALUE = {
    60002: {2: "team", 4: "team", 6: "team", 8: "team"},
    60003: {9: "dispatch", 23: "sections", 24: "single", 25: "master"},
    60004: {
        27: "implicit_barrier",
        28: "join",
        29: "atomic",
        30: "critical",
        31: "critical",
        32: "ordered",
        33: "taskgroup",
        34: "taskwait",
        35: "taskyield",
        36: "ordered",
        37: "ordered",
    },
    60009: {47: "task_create", 49: "task_create"},
    60000002: {5: "sections", 6: "single"},
    60000016: {2: "join"},
    63100000: {1: "kernel"},
    63510000: {1: "kernel"},
}

_CUDA_CALLS = """Launch ConfigureCall Memcpy DeviceSynchronize StreamSynchronize StreamCreate
MemcpyAsync DeviceReset ThreadExit StreamDestroy Malloc MallocPitch Free MallocArray FreeArray
MallocHost FreeHost HostAlloc"""


def _named(text: str, prefix: str = "") -> dict[int, str]:
    return {value: prefix + name for value, name in enumerate(text.split(), start=1)}


_NAMES = {
    40000000: _named("sched_yield"),
    40000004: _named(
        "read write fread fwrite pread pwrite readv writev preadv pwritev open fopen ioctl "
        "close fclose"
    ),
    40000027: _named("fork wait waitpid exec system"),
    40000040: _named(
        "malloc free realloc calloc posix_memalign memkind_malloc memkind_calloc "
        "memkind_realloc memkind_posix_memalign memkind_free kmpc_malloc kmpc_free "
        "kmpc_realloc kmpc_calloc kmpc_aligned_malloc"
    ),
    61000000: _named(
        "exit create join detach rwlock_wrlock rwlock_rdlock rwlock_unlock mutex_lock "
        "mutex_unlock cond_signal cond_broadcast cond_wait barrier_wait",
        "pthread_",
    ),
    63000000: _named(_CUDA_CALLS, "cuda"),
    63500000: _named(_CUDA_CALLS, "hip"),
}

REGION_TYPES: Final = frozenset(_KINDS)
"""Event types whose nonzero values open regions."""

REGION_LINES: Final = {
    60013: 60012,
    60016: 60015,
    60019: 60018,
    60000118: 60000018,
    60000119: 60000019,
    60000120: 60000020,
    60000123: 60000023,
    60000124: 60000024,
    63000007: 63000006,
    63000010: 63000009,
    63500007: 63500006,
    63500010: 63500009,
}
"""Types that tell the source line of a region, and the type of that region."""

FUNCTION_TYPES: Final = frozenset(REGION_LINES.values())
"""Region types whose values are functions."""

LOCK_TYPES: Final = frozenset([60005, 60000006, 60000007, 60000033])
"""Types that follow a lock step by step; an ordered section of 60000033 is one."""

LOCK_ADDRESS_TYPES: Final = frozenset([60006, 60000032])
"""Types that tell the address of a named lock."""

LOCK_STEPS = {
    0: LockStep.RELEASED,
    3: LockStep.REQUESTED,
    5: LockStep.RELEASING,
    6: LockStep.ACQUIRED,
    38: LockStep.REQUESTED,
    39: LockStep.ACQUIRED,
    40: LockStep.RELEASING,
}


def region_kind(type: int, value: int, label: str | None = None) -> RegionKind:  # noqa: A002 -- the format's word
    """Tell what the region is that a value opens.

    Parameters
    ----------
    type, value : int
        A type of :data:`REGION_TYPES`, and its nonzero value.
    label : str or None
        The value's label; a device activity labelled as a kernel is one in any version.

    Returns
    -------
    RegionKind
        ``("other", "call")`` for a type that is unknown.

    Examples
    --------
    >>> region_kind(60000002, 6), region_kind(60004, 27).role
    (RegionKind(paradigm='openmp', role='single'), 'implicit_barrier')
    """
    kind = _KINDS.get(type) or _WAITS.get(type, RegionKind("other", "call"))
    role = _ROLES_BY_VALUE.get(type, {}).get(value, kind.role)
    if kind == ("gpu", "call") and label and "kernel" in label.lower():
        role = "kernel" if type % 1_000_000 else role
    return RegionKind(kind.paradigm, role)


def region_name(type: int, value: int, label: str | None = None) -> str:  # noqa: A002 -- the format's word
    """Give the name of the region that a value opens.

    Parameters
    ----------
    type, value : int
        A type of :data:`REGION_TYPES`, and its nonzero value.
    label : str or None
        The value's label, if it has one.

    Returns
    -------
    str
        The function for types whose values are functions, else the label; without a label
        what Extrae calls it, the role, or at last ``type:value``. Never empty.

    Examples
    --------
    >>> region_name(60000018, 2, "Calc [Calc(int) [clone ._omp_fn.0]]")
    'Calc._omp_fn.0'
    >>> region_name(40000004, 2), region_name(60000005, 1), region_name(60000018, 9)
    ('write', 'barrier', '60000018:9')
    """
    if label and label.strip():
        if type not in FUNCTION_TYPES:
            return label.strip()
        if function := read_function(label):
            return function
    known = _NAMES.get(type, {}).get(value)
    role = region_kind(type, value).role
    vague = {"call", "function", "outlined", "kernel"}
    if known is None and type in _KINDS and type not in FUNCTION_TYPES and role not in vague:
        return role
    return known or f"{type}:{value}"


def lock_step(value: int) -> LockStep | None:
    """Tell what a value of a type of :data:`LOCK_TYPES` means, in either family.

    Returns
    -------
    LockStep or None
        None for a value that Extrae never writes.

    Examples
    --------
    >>> lock_step(3).name, lock_step(39).name
    ('REQUESTED', 'ACQUIRED')
    """
    return LOCK_STEPS.get(value)
