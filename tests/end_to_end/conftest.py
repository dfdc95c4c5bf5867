"""Compilers made of LLVM, and folders with an MPI, for the tests that need one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from burstline.record.building.recorder import shared_object
from burstline.record.launching.mpi import MPICH, OPEN_MPI
from left_out import leave_out
from recording import MPIS, Site, environment
from runtime_building import ROOT, build
from wheels import Installed, can_be_installed, installed

collect_ignore_glob = ["languages/*"]  # programs that tests record
VERSIONS = tuple(range(14, 20))
PROGRAMS = ROOT / "tests" / "record"


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
        metafunc.parametrize("clang", clangs() or ["clang"], scope="session")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Leave out the tests of what is not there."""
    wanted = {name for item in items for name in getattr(item, "fixturenames", ())}
    missing = {
        name: what
        for name, (what, is_there) in NEEDS.items()
        if name in wanted and not is_there()
    }
    leave_out(config, items, missing)


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
def recorder(built_once):
    """Give the recorder for the MPI of a compiler wrapper: the one that commands use, too."""

    def of(compiler):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_CACHE_HOME", str(built_once))
            return shared_object(OPEN_MPI if compiler.endswith("openmpi") else MPICH)

    return of


@pytest.fixture
def on_open_mpi(open_mpi, built_once, tmp_path):
    """Folder in which programs are built and run with Open MPI."""
    return Site(open_mpi, tmp_path, environment(built_once))


@pytest.fixture
def on_mpich(mpich, built_once, tmp_path):
    """Folder in which programs are built and run with MPICH."""
    return Site(mpich, tmp_path, environment(built_once))


@pytest.fixture(params=MPIS)
def site(request):
    """Folder in which programs are built and run, with each MPI."""
    return request.getfixturevalue(f"on_{request.param}")


@pytest.fixture
def of_pip(request, built_once, tmp_path):
    """Folder in which programs run with mpi4py and an MPI that pip installed."""
    return Installed(installed(request.param, built_once), tmp_path, environment(built_once))


@pytest.fixture(scope="session")
def runtime_program(built_once, tmp_path_factory):
    """A program that uses the recorder's runtime in the place of MPI wrappers."""
    target = tmp_path_factory.mktemp("runtime") / "recorded"
    return build(built_once, target, PROGRAMS / "runtime_program.c", "-rdynamic")


@pytest.fixture
def one_processor():
    """Keep programs where they are: a thread that moves adds a record of where it ran."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    yield
    os.sched_setaffinity(0, allowed)


@pytest.fixture(scope="session")
def refused(tmp_path_factory):
    """What refuses, for programs into which it is loaded."""
    library = tmp_path_factory.mktemp("refused") / "refused.so"
    words = ["cc", "-std=c11", "-O2", "-shared", "-fPIC", PROGRAMS / "refused.c", "-ldl"]
    subprocess.run([*words, "-o", library], check=True)
    return library


def _in_namespace(*words):
    """Run a command as the master of a mount namespace of its own."""
    return ["unshare", "--user", "--map-root-user", "--mount", "sh", "-ec", *words]


def may_mount():
    """Tell whether users may make file systems of their own here."""
    try:
        done = subprocess.run(
            _in_namespace("mount -t tmpfs none /mnt"), capture_output=True, check=False
        )
    except OSError:
        return False
    return done.returncode == 0


@pytest.fixture(scope="session")
def small_disk():
    """Give what makes a folder a disk of some size for the command that follows."""

    def words(folder, size):
        script = f'mount -t tmpfs -o size={size} none "$1"; shift; exec "$@"'
        return _in_namespace(script, "sh", str(folder))

    return words


NEEDS = {
    "clang": ("clang with llvm-config", clangs),
    "small_disk": ("the right to mount", may_mount),
    "of_pip": ("an index of packages that pip reaches", can_be_installed),
}


@pytest.fixture(scope="module")
def browser():
    """A browser that shows pages."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        made = started.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        yield made
        made.close()
