"""However a program gets at MPI: its calls are recorded, or it is told why they are not."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

CALLS = """
#include <mpi.h>
int run(void) {
    int error = MPI_Init(0, 0);
    for (int k = 0; k < 3; ++k) error |= MPI_Barrier(MPI_COMM_WORLD);
    return error | MPI_Finalize();
}
"""
LOADING = """
#include <dlfcn.h>
int main(void) {
    void *module = dlopen("./module.so", RTLD_NOW | RTLD_LOCAL);
    return module == 0 ? 3 : ((int (*)(void))dlsym(module, "run"))();
}
"""
ASKING = """
#define _GNU_SOURCE
#include <dlfcn.h>
int main(void) {
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_GLOBAL);
    if (library == 0) return 3;
    ((int (*)(void *, void *))dlsym(FROM, "MPI_Init"))(0, 0);
    return ((int (*)(void))dlsym(FROM, "MPI_Finalize"))();
}
"""
CTYPES = """
import ctypes
library = ctypes.CDLL({library!r}, ctypes.RTLD_GLOBAL)
asked = {asked}
asked.MPI_Init(None, None)
asked.MPI_Finalize()
"""
RENAMED = {b"libmpich.so.12": b"libcrmpi.so.12"}
"""A library of MPICH's interface under a name of its own, as sites and vendors have."""


class Loading:
    """Ways to load a library, in a folder."""

    def __init__(self, site):
        self.site = site
        site.build(f"{CALLS}int main(void) {{ return run(); }}")
        linked = subprocess.check_output(["ldd", "app"], cwd=site.folder, text=True)
        (self.library,) = re.findall(r"libmpi(?:ch)?\.so\.\d+ => (\S+)", linked)

    def renamed(self, name, changes):
        """Give a program or module other names for what it is linked with."""
        data = (self.site.folder / name).read_bytes()
        for before, after in changes.items():
            data = data.replace(before, after)
        (self.site.folder / name).write_bytes(data)

    def other_library(self):
        (self.site.folder / "libcrmpi.so.12").write_bytes(Path(self.library).read_bytes())
        self.renamed("libcrmpi.so.12", RENAMED)
        self.site.settings = self.site.settings | {"LD_LIBRARY_PATH": str(self.site.folder)}

    def linked(self):
        return ["./app"]

    def linked_by_another_name(self):
        self.other_library()
        self.renamed("app", RENAMED)
        return ["./app"]

    def in_a_module_of_its_own(self):
        self.site.build(CALLS, "-shared", "-fPIC", name="module")
        (self.site.folder / "module").rename(self.site.folder / "module.so")
        (self.site.folder / "loading.c").write_text(LOADING)
        words = ["cc", "-o", "loading", "loading.c", "-ldl"]
        subprocess.run(words, check=True, cwd=self.site.folder)
        return ["./loading"]

    def in_a_module_by_another_name(self):
        words = self.in_a_module_of_its_own()
        self.other_library()
        self.renamed("module.so", RENAMED)
        return words

    def without_a_profiling_interface(self):
        words = self.linked_by_another_name()
        self.renamed("libcrmpi.so.12", {b"\0PMPI_": b"\0QMPI_"})
        return words

    def asked_by_dlsym(self, whom="library"):
        (self.site.folder / "asking.c").write_text(ASKING)
        defined = [f'-DLIBRARY="{self.library}"', f"-DFROM={whom}"]
        words = ["cc", "-w", *defined, "-o", "asking", "asking.c", "-ldl"]
        subprocess.run(words, check=True, cwd=self.site.folder)
        return ["./asking"]

    def asked_by_dlsym_of_all(self):
        return self.asked_by_dlsym("RTLD_DEFAULT")

    def asked_by_ctypes(self, asked="library"):
        text = CTYPES.format(library=self.library, asked=asked)
        (self.site.folder / "asking.py").write_text(text)
        return [sys.executable, "asking.py"]

    def asked_by_ctypes_of_all(self):
        return self.asked_by_ctypes("ctypes.CDLL(None)")


OF_ALL = [
    "linked", "in_a_module_of_its_own", "asked_by_dlsym", "asked_by_dlsym_of_all",
    "asked_by_ctypes", "asked_by_ctypes_of_all",
]  # fmt: skip
OF_MPICH = [
    "linked_by_another_name", "in_a_module_by_another_name", "without_a_profiling_interface",
]  # fmt: skip


@pytest.mark.parametrize(
    ("site", "way"),
    [(mpi, way) for mpi in ("open_mpi", "mpich") for way in OF_ALL]
    + [("mpich", way) for way in OF_MPICH],
    indirect=["site"],
)
def test_every_way_to_mpi_is_recorded_or_told(site, way):
    words = getattr(Loading(site), way)()

    code, _, said = site.record("-o", "app.store", "--", *site.ranks(2), *words)

    if way in {"asked_by_dlsym", "asked_by_ctypes"}:
        assert code == 5, said
        assert "looks its functions up by dlsym" in said
        return
    assert code == 0, said
    operations = site.trace("app.store").calls["operation"].to_pylist()
    asked = "asked" in way
    assert sorted(operations) == sorted(
        2 * ["MPI_Init", "MPI_Finalize"] + ([] if asked else 6 * ["MPI_Barrier"])
    )
