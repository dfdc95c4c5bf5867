"""The recorder's runtime, built with the compiler of the system and without any MPI."""

from __future__ import annotations

import hashlib
import os
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


PLAIN = {
    "BURSTLINE_BLOCK": "8192", "BURSTLINE_STACK_DEPTH": "0", "BURSTLINE_COUNTERS": "none",
    "BURSTLINE_SAMPLE": "0",  # they come when they will
}  # fmt: skip
"""Settings by which calls alone are recorded, through small windows."""


def recorded(program, folder, *words, **settings):
    """Run a program whose runtime records into a folder; give how it ended."""
    return subprocess.run(
        [program, *map(str, words)],
        env=os.environ | PLAIN | {"BURSTLINE_DIR": str(folder)} | settings,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


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
