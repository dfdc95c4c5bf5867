"""A compiler with an OpenMP runtime that tells tools what it does: LLVM's."""

from __future__ import annotations

import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from left_out import leave_out

PROBE = "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n"
COMPILERS = ("clang", *(f"clang-{version}" for version in range(21, 13, -1)))


@functools.cache
def compiler():
    """Return the first compiler whose OpenMP programs run; None without any."""
    for name in filter(shutil.which, COMPILERS):
        with tempfile.TemporaryDirectory() as folder:
            source, program = Path(folder) / "probe.c", Path(folder) / "probe"
            source.write_text(PROBE)
            built = subprocess.run(
                [name, "-fopenmp", source, "-o", program], capture_output=True, check=False
            )
            if built.returncode == 0 and subprocess.run([program], check=False).returncode == 0:
                return name
    return None


@pytest.fixture(scope="session")
def llvm_openmp():
    """Give a compiler that builds programs with LLVM's OpenMP runtime."""
    return compiler()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Leave out the tests of a runtime that is not there."""
    wanted = any("llvm_openmp" in getattr(item, "fixturenames", ()) for item in items)
    if wanted and compiler() is None:
        leave_out(config, items, {"llvm_openmp": "clang with OpenMP"})
