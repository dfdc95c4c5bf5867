"""Regions other than MPI: their event types, roles and names.

A nonzero value opens a region and 0 closes the last open one of the same type. Regions of
different types need not nest.
"""

from __future__ import annotations

from typing import Final

from burstline._core import EventClass, LockStep
from burstline.extrae import event_types as types
from burstline.extrae.event_types import RegionKind
from burstline.extrae.labels import read_function

# ``parallel`` is the fork and join on the thread that forks; ``team`` and ``outlined`` are what
# each thread of the team does in between: the construct, and its function. ``task_create`` is
# where a task is made, ``task`` where it runs. ``implicit_barrier`` ends work sharing, ``join``
# ends it without waiting. ``function`` names code, ``call`` is any other call of a library.
_ROLES_BY_VALUE = {
    types.OPENMP_PARALLEL: {2: "team", 4: "team", 6: "team", 8: "team"},
    types.OPENMP_WORKSHARING: {9: "dispatch", 23: "sections", 24: "single", 25: "master"},
    types.OPENMP_SYNCHRONISATION: {
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
    types.OPENMP_TASKING: {47: "task_create", 49: "task_create"},
    types.OMP_WORKSHARING: {5: "sections", 6: "single"},
    types.OMP_JOIN: {2: "join"},
    types.CUDA_ACTIVITY: {1: "kernel"},
    types.HIP_ACTIVITY: {1: "kernel"},
}

_VAGUE = frozenset(["call", "function", "outlined", "kernel"])
_CUDA_CALLS = """Launch ConfigureCall Memcpy DeviceSynchronize StreamSynchronize StreamCreate
MemcpyAsync DeviceReset ThreadExit StreamDestroy Malloc MallocPitch Free MallocArray FreeArray
MallocHost FreeHost HostAlloc"""


def _named(text: str, prefix: str = "") -> dict[int, str]:
    return {value: prefix + name for value, name in enumerate(text.split(), start=1)}


_NAMES = {
    types.YIELD: _named("sched_yield"),
    types.FILE_CALL: _named(
        "read write fread fwrite pread pwrite readv writev preadv pwritev open fopen ioctl "
        "close fclose"
    ),
    types.PROCESS_CALL: _named("fork wait waitpid exec system"),
    types.MEMORY_CALL: _named(
        "malloc free realloc calloc posix_memalign memkind_malloc memkind_calloc "
        "memkind_realloc memkind_posix_memalign memkind_free kmpc_malloc kmpc_free "
        "kmpc_realloc kmpc_calloc kmpc_aligned_malloc"
    ),
    types.PTHREAD_CALL: _named(
        "exit create join detach rwlock_wrlock rwlock_rdlock rwlock_unlock mutex_lock "
        "mutex_unlock cond_signal cond_broadcast cond_wait barrier_wait",
        "pthread_",
    ),
    types.CUDA_CALL: _named(_CUDA_CALLS, "cuda"),
    types.HIP_CALL: _named(_CUDA_CALLS, "hip"),
}

REGION_TYPES: Final = types.types_of(EventClass.REGION)
"""Event types whose nonzero values open regions."""

LOCK_TYPES: Final = types.types_of(EventClass.LOCK)
"""Types with the steps of a lock, or of an ordered section."""

LOCK_STEPS: Final = {
    0: LockStep.RELEASED,
    3: LockStep.REQUESTED,
    5: LockStep.RELEASING,
    6: LockStep.ACQUIRED,
    38: LockStep.REQUESTED,
    39: LockStep.ACQUIRED,
    40: LockStep.RELEASING,
}
"""Meaning of the values of :data:`LOCK_TYPES`, in either library."""


def region_kind(type: int, value: int, label: str | None = None) -> RegionKind:  # noqa: A002 -- the format's word
    """The kind of region that a nonzero value opens; a call for an unknown type."""
    row = types.TABLE.get(type)
    kind = (row and row.region) or RegionKind("other", "call")
    role = _ROLES_BY_VALUE.get(type, {}).get(value, kind.role)
    if kind == ("gpu", "call") and label and "kernel" in label.lower():
        role = "kernel" if type % 1_000_000 else role
    return RegionKind(kind.paradigm, role)


def region_name(type: int, value: int, label: str | None = None) -> str:  # noqa: A002 -- the format's word
    """The name of the region that a value opens; never empty."""
    is_function = type in types.REGION_LINES
    if label and label.strip():
        if not is_function:
            return label.strip()
        if function := read_function(label):
            return function
    if name := _NAMES.get(type, {}).get(value):
        return name
    role = region_kind(type, value).role
    says_it = type in REGION_TYPES and not is_function and role not in _VAGUE
    return role if says_it else f"{type}:{value}"


RECORDED_REGIONS: Final = {
    "parallel": (types.OPENMP_PARALLEL, 1),
    "team": (types.OPENMP_PARALLEL, 2),
    "loop": (types.OPENMP_WORKSHARING, 10),
    "sections": (types.OPENMP_WORKSHARING, 23),
    "single": (types.OPENMP_WORKSHARING, 24),
    "master": (types.OPENMP_WORKSHARING, 25),
    "taskloop": (types.OMP_TASKLOOP, 1),
    "call": (types.OPENMP_CALL, 81),
    "barrier": (types.OPENMP_SYNCHRONISATION, 26),
    "implicit_barrier": (types.OPENMP_SYNCHRONISATION, 27),
    "taskwait": (types.OPENMP_SYNCHRONISATION, 34),
    "taskgroup": (types.OPENMP_SYNCHRONISATION, 33),
    "lock": (types.LOCK_STATUS, 38),
    "critical": (types.OPENMP_SYNCHRONISATION, 30),
    "atomic": (types.OPENMP_SYNCHRONISATION, 29),
    "ordered": (types.OPENMP_SYNCHRONISATION, 32),
    "task": (types.OPENMP_TASKING, 48),
}
"""Event type and value of each role in OpenMP."""
