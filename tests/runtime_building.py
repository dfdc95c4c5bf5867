"""The recorder's runtime, built with the compiler of the system and without any MPI."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
NATIVE = ROOT / "src" / "burstline" / "record" / "native"
SOURCES = [
    *(
        "settings", "process", "memory", "library", "signals", "rules", "pool", "output",
        "profile", "perf", "papi",
    ),
    *(
        "python", "counters", "walk", "modules", "stack", "processors", "samples", "runtime",
        "leaving", "threads", "user", "work",
    ),
]  # fmt: skip
STRICT = ("-std=c11", "-O2", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", NATIVE)


def build(built_once, target, *more):
    """Link the runtime, and what else is given, into a program or a shared object."""
    options = [word for word in more if str(word).startswith("-f")]
    objects = _objects(built_once, options).glob("*.o")
    subprocess.run(
        ["cc", *STRICT, *more, *objects, "-o", target, "-lpthread", "-ldl"], check=True
    )
    return target


def _objects(built_once, options):
    """Give a folder with the runtime's objects, whatever test compiled them first."""
    version = subprocess.run(["cc", "--version"], capture_output=True, check=True).stdout
    told = [version, repr([STRICT, options]).encode()]
    told += [path.read_bytes() for path in sorted(NATIVE.iterdir()) if path.is_file()]
    found = hashlib.sha256(b"\0".join(told)).hexdigest()[:16]
    objects = built_once / "runtime" / found
    if not objects.is_dir():
        objects.parent.mkdir(exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=objects.parent))
        sources = [NATIVE / f"{name}.c" for name in SOURCES]
        subprocess.run(["cc", *STRICT, *options, "-c", *sources], check=True, cwd=made)
        try:
            made.rename(objects)
        except OSError:  # another process was faster
            shutil.rmtree(made)
    return objects
