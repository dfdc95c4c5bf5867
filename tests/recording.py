"""A folder in which MPI programs are built and recorded, with an MPI's tools at hand."""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import burstline
import warm

_SESSIONS = tempfile.TemporaryDirectory(prefix="sessions-")
_BUILT = tempfile.TemporaryDirectory(prefix="built-")
SETTINGS = {
    # Launchers that start at the same moment fail if both make the folder of their sessions.
    "OMPI_MCA_orte_tmpdir_base": _SESSIONS.name,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    # One machine needs no other ways for messages, which take half of what it takes to start.
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "self,vader,tcp",
    "UCX_TLS": "self,posix",
}
MPIS = [pytest.param(name, marks=pytest.mark.needs(name)) for name in ("open_mpi", "mpich")]


def environment(cache):
    """Give what the children find in their environment; recorders are built in a cache."""
    path = os.pathsep.join(map(os.path.abspath, sys.path))
    return os.environ | SETTINGS | {"XDG_CACHE_HOME": str(cache), "PYTHONPATH": path}


@functools.cache
def patient():
    """Give the words by which ranks that wait sleep: for programs that are not sampled."""
    source = Path(__file__).parent / "record" / "patient.c"
    library = Path(_BUILT.name, "patient.so")
    words = ["cc", "-std=c11", "-O2", "-shared", "-fPIC", source, "-o", library, "-ldl"]
    subprocess.run(words, check=True)
    return ["-Wl,--push-state,--no-as-needed", str(library), "-Wl,--pop-state"]


@functools.cache
def _built_once(words, sources):
    folder = Path(tempfile.mkdtemp(dir=_BUILT.name))
    for name, text in sources:
        (folder / name).write_text(text)
    subprocess.run([*words, "-o", "program"], check=True, cwd=folder)
    return folder / "program"


class Site:
    """A folder with an MPI's compiler and launcher at hand."""

    def __init__(self, tools, folder, settings):
        (self.compiler, self.launcher), self.folder = tools, folder
        self.settings = settings

    @property
    def kind(self):
        """Ending of the names of this MPI's tools."""
        return self.compiler.partition(".")[2]

    def build(self, source, *options, name="app"):
        """Build a program of a text in C, or copy it from where another test had it built."""
        source_file = self.folder / f"{name}.c"
        source_file.write_text(source)
        words = ("mpicc", source_file.name, "-pthread", *options)
        return self._built(words, name, {source_file.name: source})

    def compile(self, compiler, *words, name="app"):
        """Build a program of files; of those that no test made it is built once for all."""
        return self._built((compiler, *map(str, words)), name, {})

    def _built(self, words, name, sources):
        words = (f"{words[0]}.{self.kind}", "-g", *words[1:])
        if all(word[0] in "-/" or word in sources for word in words[1:]):
            shutil.copy(_built_once(words, tuple(sources.items())), self.folder / name)
        else:
            subprocess.run([*words, "-o", name], check=True, cwd=self.folder)
        return f"./{name}"

    def mpi_words(self, what):
        """Give the words that the MPI's compiler adds to compile or to link."""
        words = [self.compiler, f"--showme:{what}"]
        return shlex.split(
            subprocess.run(words, capture_output=True, text=True, check=True).stdout
        )

    def start(self, *words, before=(), command="record"):
        return subprocess.Popen(
            [*before, sys.executable, "-m", "burstline", command, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env=self.settings,
        )

    def record(self, *words, before=()):
        if not before:
            return warm.run(["record", *words], self.folder, self.settings)
        process = self.start(*words, before=before)
        try:
            printed, said = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            process.terminate()
            raise
        return process.returncode, printed, said

    def burstline(self, *words):
        return warm.run(words, self.folder, self.settings)

    def printed_by(self, *words):
        """What a command prints that ends well."""
        code, printed, said = self.burstline(*words)
        assert code == 0, said
        return printed

    def document_of(self, *words):
        """What it prints as JSON."""
        return json.loads(self.printed_by(*words, "--format", "json"))

    def verdict_of(self, trace):
        """What ``burstline waits`` says of a trace, by question, in its order."""
        told = self.document_of("waits", trace, "--quiet")["verdict"]
        return {each["question"]: each["sentence"] for each in told}

    def recorded(self, output, *words):
        """The trace of a program that is recorded and ends well."""
        code, _, said = self.record("-o", output, *words)
        assert code == 0, said
        return self.trace(output)

    def ranks(self, count):
        return [self.launcher, "-n", str(count)]

    def trace(self, name="app.prv"):
        return burstline.read(self.folder / name)


def for_mpi4py(program, folder):
    """Give the variables by which mpi4py loads the MPI that a program in a folder has."""
    linked = subprocess.check_output(["ldd", program], cwd=folder, text=True)
    (library,) = re.findall(r"libmpi(?:ch)?\.so\.\d+ => (\S+)", linked)
    # Debian gives MPICH's a name of its own
    (folder / "libmpi.so.12").symlink_to(library)
    return {
        "MPI4PY_LIBMPI": library,
        "MPI4PY_MPIABI": "openmpi" if library.endswith(".40") else "mpich",
        "LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}",
    }


def line_of(text, source):
    """Give the number of the only line of a source that a text stands in."""
    (number,) = (row for row, line in enumerate(source.splitlines(), 1) if text in line)
    return number


def wait_until(condition):
    """Wait until a condition holds, a minute at most."""
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("it never happened")
