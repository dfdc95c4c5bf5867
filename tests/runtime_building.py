"""The recorder's runtime, built with the compiler of the system and without any MPI."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
NATIVE = ROOT / "src" / "burstline" / "record" / "native"
SOURCES = [
    *(
        "settings",
        "process",
        "memory",
        "library",
        "signals",
        "rules",
        "pool",
        "output",
        "profile",
        "perf",
        "papi",
    ),
    *(
        "python",
        "counters",
        "walk",
        "modules",
        "stack",
        "processors",
        "samples",
        "runtime",
        "leaving",
        "threads",
        "user",
        "work",
    ),
]
STRICT = ("-std=c11", "-O2", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", NATIVE)


def build(target, *more):
    """Compile the runtime, and what else is given, into a program or a shared object."""
    sources = [NATIVE / f"{name}.c" for name in SOURCES]
    subprocess.run(
        ["cc", *STRICT, *sources, *more, "-o", target, "-lpthread", "-ldl"], check=True
    )
    return target
