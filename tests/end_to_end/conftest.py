"""Compilers, for the tests that need one that is made of LLVM."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

VERSIONS = tuple(range(14, 20))


def clangs():
    """Compilers found here whose version has LLVM's headers, too."""
    return [
        f"clang-{version}"
        for version in VERSIONS
        if shutil.which(f"clang-{version}") and shutil.which(f"llvm-config-{version}")
    ]


def pytest_generate_tests(metafunc):
    """Run a test that takes ``clang`` with each version there is."""
    if "clang" in metafunc.fixturenames:
        metafunc.parametrize("clang", clangs() or ["clang"])


def pytest_collection_modifyitems(config, items):
    """Leave out the tests of a compiler where there is none: deselected, and counted so."""
    if clangs():
        return
    left_out = [item for item in items if "clang" in getattr(item, "fixturenames", ())]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def openmp():
    """Give the options for OpenMP: the runtime may be of another version than the compiler."""

    def options(clang):
        version = clang.partition("-")[2]
        folders = [f"/usr/lib/llvm-{one}/lib" for one in (version, *VERSIONS)]
        (libraries,) = [one for one in folders if Path(one, "libomp.so").exists()][:1]
        (header,) = sorted(Path("/usr/lib").glob("llvm-*/lib/clang/*/include/omp.h"))[:1]
        return [
            "-fopenmp",
            f"-idirafter{header.parent}",
            f"-L{libraries}",
            f"-Wl,-rpath,{libraries}",
        ]

    return options


@pytest.fixture(scope="session")
def pass_cache(tmp_path_factory):
    """Folder in which plug-ins are built once for all tests."""
    return tmp_path_factory.mktemp("cache")
