"""What every test may rely on: folders given from outside, and how hard to search."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from left_out import COUNTS, SENT, fixtures_of, leave_out, sentence

collect_ignore_glob = [
    "fuzz/*",  # needs atheris; see .ci/fuzz
    "record/python/*",  # programs that tests record
]
FOLDERS = {"real_traces": "BURSTLINE_TRACES", "spec_folder": "BURSTLINE_SPEC"}
TOOLS = {
    "open_mpi": ("mpicc.openmpi", "mpirun.openmpi"),
    "mpich": ("mpicc.mpich", "mpiexec.mpich"),
    "gfortran": ("gfortran",),
    "otf2_print_tool": ("otf2-print",),
    "work_compiler": ("clang", "clang++", "llvm-config"),
    "chromium": ("chromium",),
    "node": ("node",),
    "one_node_slurm": ("sbatch", "munged"),
}

MEMORY = "/dev/shm"  # noqa: S108 -- pytest makes a folder of the user there
ROOM = 4 << 30

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # as below nohup
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# No machine goes down while tests run, so that they need not wait for its disk.
os.fsync = os.fstat

# Or each process that imports NumPy has a thread per processor that waits for work, and spins.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Tests write to memory where programs may run from it: a disk's file system takes long.
if "TMPDIR" not in os.environ and Path(MEMORY).is_dir():
    there = os.statvfs(MEMORY)
    if there.f_bavail * there.f_frsize > ROOM and not there.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = tempfile.tempdir = MEMORY

gc.disable()  # until all tests are collected, of which nothing becomes garbage

# The same examples for everybody: what passes where a change is made passes elsewhere.
hypothesis.settings.register_profile(
    "quick", max_examples=25, deadline=None, derandomize=True, print_blob=True
)
hypothesis.settings.register_profile("thorough", max_examples=5000, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


def _folder(fixture: str) -> Path:
    if FOLDERS[fixture] not in os.environ:
        pytest.fail(f'mark the test: @pytest.mark.needs("{fixture}")', pytrace=False)
    folder = Path(os.environ[FOLDERS[fixture]]).resolve()
    if not folder.is_dir():
        pytest.fail(f"{FOLDERS[fixture]} is no folder: {folder}", pytrace=False)
    return folder


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where a folder of a run may be made."""
    return tmp_path / "run"


def _given(name: str) -> Any:
    """Make the fixture of a folder from outside, or of the programs of a tool."""

    @pytest.fixture(scope="session", name=name)
    def given() -> Path | tuple[str, ...]:
        return TOOLS.get(name) or _folder(name)

    return given


real_traces, spec_folder = _given("real_traces"), _given("spec_folder")
open_mpi, mpich = _given("open_mpi"), _given("mpich")  # compiler and launcher
gfortran, work_compiler = _given("gfortran"), _given("work_compiler")
otf2_print_tool, chromium, node = map(_given, ("otf2_print_tool", "chromium", "node"))


@pytest.fixture(scope="module")
def few_trees() -> Iterator[None]:
    """Let forests have a quarter of their trees: small tables need no more, and time does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("burstline.studies.scoring._TREES", 25)
        patch.setattr("burstline.studies.scoring._ROUNDS", 50)
        patch.setattr("burstline.studies.feature_analysis._TREES", 25)
        yield


@pytest.fixture(scope="session")
def built_once(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Folder in which recorders and plug-ins are built once, whatever process runs a test.

    It outlasts a run, with pytest's cache: what is built is named by what it is built of.
    """
    cache = getattr(request.config, "cache", None)  # unless pytest runs without
    folder = cache.mkdir("built_once") if cache else None
    if folder is None or not {" ", ":"}.isdisjoint(str(folder)):  # nothing is preloaded there
        base = tmp_path_factory.getbasetemp()
        folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "built_once"
        folder.mkdir(exist_ok=True)
    return Path(folder)


def pytest_configure(config: pytest.Config) -> None:
    """Declare marks; let scikit-learn, an oracle, wonder about machines without ``lscpu``."""
    config.addinivalue_line("markers", "needs(*fixtures): asks for them when it runs")
    config.addinivalue_line("markers", "given: needs a folder that is given from outside")
    config.addinivalue_line(
        "filterwarnings", "ignore:Could not find the number of physical cores"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what needs a folder from outside: ``-m given`` runs these tests alone."""
    if fixtures_of(item) & set(FOLDERS):
        item.add_marker("given")


@pytest.hookimpl(trylast=True)  # so that only tests that were chosen count
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests whose folder or tools are missing."""
    missing = {
        name: variable for name, variable in FOLDERS.items() if not os.environ.get(variable)
    }
    for name, tools in TOOLS.items():
        absent = [tool for tool in tools if not shutil.which(tool)]
        if absent:
            missing[name] = " and ".join(absent)
    if os.geteuid():
        missing.setdefault("one_node_slurm", "root")
    leave_out(config, items, missing)


def pytest_collection_finish() -> None:
    """Look for garbage from now on, and never among what was collected."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(100_000, 20, 20)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a worker of pytest-xdist left out; all of them collect the same."""
    counts = getattr(node, "workeroutput", {}).get(SENT)
    if counts is not None:
        node.config.stash[COUNTS] = Counter(counts)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say how many tests were left out, and why."""
    counts = config.stash.get(COUNTS, Counter())
    if counts:
        terminalreporter.write_line(sentence(counts))
