"""What is said of modules without names: of the program's own alone."""

from __future__ import annotations

import pytest

from burstline.record.symbols.resolution import Problem, unnamed

BARE = "it was compiled without -g"
OTHERS = [
    "/srv/me/env/lib/python3.11/site-packages/mpi4py/MPI.cpython-311-x86_64-linux-gnu.so",
    "/usr/lib/python3/dist-packages/yaml/_yaml.so",
    "/usr/lib/x86_64-linux-gnu/libfftw3.so.3",
    "/lib64/ld-linux-x86-64.so.2",
    "/usr/lib/python3.11/lib-dynload/_ctypes.so",
    "/srv/me/env/bin/python3.11",
    "/usr/bin/lmp",
]


@pytest.mark.parametrize("own", ["/srv/me/bin/app", "/srv/me/lib/libown.so", "/opt/app/run"])
def test_only_what_is_the_users_own_is_named(own):
    said = unnamed(Problem(module, BARE) for module in [*OTHERS, own])

    assert said == f"some calls have no source lines. {own.rpartition('/')[2]}: {BARE}"


RUNTIMES = ["/usr/lib/libomp.so.5", "/opt/mpi/lib/libmpi.so.40"]


@pytest.mark.parametrize("module", OTHERS + RUNTIMES)
def test_what_nobody_compiles_is_never_named(module):
    assert unnamed([Problem(module, BARE)]) is unnamed([]) is None


@pytest.mark.parametrize("sign", ["pyvenv.cfg", "conda-meta"])
def test_libraries_of_an_environment_are_installed(tmp_path, sign):
    (tmp_path / sign).touch()

    assert unnamed([Problem(f"{tmp_path}/lib/mpich/lib/libucm.so.0", BARE)]) is None
