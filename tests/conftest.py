"""What every test may rely on: folders given from outside, and how hard to search."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import hypothesis
import pytest

collect_ignore_glob = ["fuzz/*"]  # needs atheris; see .ci/fuzz
FOLDERS = {"real_traces": "BURSTLINE_TRACES", "spec_folder": "BURSTLINE_SPEC"}
TOOLS = {
    "open_mpi": ("mpicc.openmpi", "mpirun.openmpi"),
    "mpich": ("mpicc.mpich", "mpiexec.mpich"),
    "gfortran": ("gfortran",),
    "otf2_print_tool": ("otf2-print",),
}

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background
    signal.signal(signal.SIGINT, signal.default_int_handler)

hypothesis.settings.register_profile("quick", max_examples=50, deadline=None)
hypothesis.settings.register_profile(
    "ci", max_examples=100, deadline=None, derandomize=True, print_blob=True
)
hypothesis.settings.register_profile("thorough", max_examples=5000, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


def _folder(fixture: str) -> Path:
    folder = Path(os.environ[FOLDERS[fixture]]).resolve()
    if not folder.is_dir():
        pytest.fail(f"{FOLDERS[fixture]} is no folder: {folder}", pytrace=False)
    return folder


@pytest.fixture(scope="session")
def real_traces() -> Path:
    """Folder of real traces, given by ``BURSTLINE_TRACES``."""
    return _folder("real_traces")


@pytest.fixture(scope="session")
def spec_folder() -> Path:
    """Folder of the specifications' reference data, given by ``BURSTLINE_SPEC``."""
    return _folder("spec_folder")


@pytest.fixture(scope="session")
def open_mpi() -> tuple[str, str]:
    """Compiler and launcher of Open MPI."""
    return TOOLS["open_mpi"]


@pytest.fixture(scope="session")
def mpich() -> tuple[str, str]:
    """Compiler and launcher of MPICH."""
    return TOOLS["mpich"]


@pytest.fixture(scope="session")
def gfortran() -> tuple[str, ...]:
    """Give the Fortran compiler, behind those of each MPI."""
    return TOOLS["gfortran"]


@pytest.fixture(scope="session")
def otf2_print_tool() -> tuple[str, ...]:
    """Give the tool that prints OTF2 archives."""
    return TOOLS["otf2_print_tool"]


def pytest_configure(config: pytest.Config) -> None:
    """Let scikit-learn, an oracle here, wonder about machines without ``lscpu``."""
    config.addinivalue_line(
        "filterwarnings", "ignore:Could not find the number of physical cores"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests whose folder or tools are missing: deselected, and counted so."""
    missing = {name for name, variable in FOLDERS.items() if not os.environ.get(variable)}
    missing |= {name for name, tools in TOOLS.items() if not all(map(shutil.which, tools))}
    left_out = [
        item for item in items if missing.intersection(getattr(item, "fixturenames", ()))
    ]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
