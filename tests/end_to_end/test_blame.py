"""Programs of a known answer, recorded by us: the verdict names the rank and place to blame.

What is to be said of each stands here, and was written before it ran; the programs are in
``tests/record/blame``. Their work is a timed wait, so that it is as long on a busy machine.
"""

from __future__ import annotations

import functools
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from recording import Site, environment, line_of, patient

SOURCES = Path(__file__).parents[1] / "record" / "blame"
STEPS = 6


class Answer(NamedTuple):
    """What is said of a program by its calls alone, and with events of its functions."""

    calls: str
    functions: str
    ranks: int = 2


def line(text: str, file: str = "main.c") -> str:
    """The place of a text that stands in one line of a source."""
    return f"{file}:{line_of(text, (SOURCES / file).read_text())}"


def pattern(*pieces: str) -> re.Pattern[str]:
    """A sentence of which only these pieces are known, and their order."""
    return re.compile(".*".join(map(re.escape, pieces)))


LOOP = f"in main, {line('kinds[kind].step()')}, or what it calls:"
ABSENT = "it reads files, sleeps, or waits for a processor, and computes nothing."
"""What is said of work that is a timed wait: by its CPU time, nobody computes there."""
OFF = "it is off the processor"
IRECV, WAITALL = (f"{call}, {line(call, 'halo.c')}" for call in ("MPI_Irecv", "MPI_Waitall"))
SEND, RECV = (f"{call}, {line(call + '(table')}" for call in ("MPI_Send", "MPI_Recv"))
RELAX = "relax (relax.c:3)"
ALONE = "one thread works alone"
FORTRAN = "imbalance.f90"
SENDRECV = f"MPI_Sendrecv_replace, {line('call MPI_Sendrecv_replace', FORTRAN)}"
FUNCTIONS = frozenset(
    re.findall(
        r"^(?:static )?void (\w+)\(",
        "".join(path.read_text() for path in SOURCES.glob("*.c")),
        re.MULTILINE,
    )
) | {"exchange"}
"""All that could be named, of the innocent ones, too."""
TRANSFER = pattern(
    "transfer dominates",
    f"MPI_Sendrecv called by large_messages at {line('MPI_Sendrecv(')}",
    "No rank is to blame: look whether ranks share processors",
)
ANSWERS = {
    "imbalance": Answer(
        pattern("Rank 1 causes", f"{OFF} from {WAITALL}", f"to {IRECV}, {LOOP} {ABSENT}"),
        pattern("Rank 1 causes", f"{OFF} in {RELAX} called by imbalance", ABSENT),
    ),
    "late_sender": Answer(
        pattern("Rank 0 causes", f"{OFF} from {SEND}", f"to {SEND}, {LOOP} {ABSENT}"),
        pattern(
            "Rank 0 causes", f"{OFF} in compute_table (table.c:3) called by late_sender", ABSENT
        ),
    ),
    "both": Answer(
        pattern("Rank 1 causes", f"{OFF} from {RECV}", f"to {IRECV}, {LOOP} {ABSENT}"),
        pattern("Rank 1 causes", f"{OFF} in {RELAX} called by both", ABSENT),
    ),
    "serial": Answer(
        pattern("Rank 0 causes", f"{ALONE} computing", "in main"),
        pattern("Rank 0 causes", f"{ALONE} in assemble (threads.c:3) called by serial"),
        ranks=1,
    ),
    "other_rank": Answer(
        pattern("Rank 1 causes", f"{ALONE} computing", "other ranks wait for it in MPI"),
        pattern(
            "Rank 1 causes",
            f"{ALONE} in {RELAX} called by other_rank",
            "other ranks wait for it in MPI",
        ),
    ),
    "large_messages": Answer(TRANSFER, TRANSFER),
    "fortran": Answer(
        pattern("Rank 1 causes", f"{OFF} from {SENDRECV}", f"to {SENDRECV}, in main, ", ABSENT),
        pattern(
            "Rank 1 causes",
            f"{OFF} in work_and_wait::relax (imbalance.f90:",
            "called by MAIN__",
            ABSENT,
        ),
    ),
}


MPIS = ("open_mpi", "mpich")
COMPILED = ("calls", "functions")
# Each two of program, compilation and MPI meet; all three of each would be twice as long.
RUNS = [
    (MPIS[(number + turn) % 2], kind, compiled)
    for number, kind in enumerate([*ANSWERS, "sound"])
    for turn, compiled in enumerate(COMPILED)
]


@pytest.fixture(scope="module")
def site_of(request, clang, openmp, built_once, tmp_path_factory):
    """Give the folder for an MPI, in which the programs are built once."""
    return functools.cache(
        lambda mpi: built(
            request.getfixturevalue(mpi), clang, openmp, built_once, tmp_path_factory
        )
    )


def built(tools, clang, openmp, built_once, tmp_path_factory):
    """Folder with the programs, compiled with ``-g``, and with events of functions, too."""
    passive = {"KMP_BLOCKTIME": "0", "OMP_WAIT_POLICY": "passive"}
    compilers = {"OMPI_CC": clang, "MPICH_CC": clang}
    site = Site(
        tools, tmp_path_factory.mktemp("blame"), environment(built_once) | passive | compilers
    )
    for name, options in (("calls", ()), ("functions", ("-finstrument-functions",))):
        words = ["-g", "-O1", *options, "-o"]
        c = [f"mpicc.{site.kind}", *words, f"blame.{name}", *sorted(SOURCES.glob("*.c"))]
        fortran = [f"mpif90.{site.kind}", *words, f"fortran.{name}", SOURCES / FORTRAN]
        for command in ([*c, *openmp(clang)], fortran):
            words = [*map(str, command), *patient()]
            subprocess.run(words, check=True, cwd=site.folder, env=site.settings)
    return site


@pytest.mark.parametrize(
    ("mpi", "kind", "compiled"), [run for run in RUNS if "sound" not in run]
)
@pytest.mark.needs("open_mpi", "mpich", "gfortran")
def test_the_verdict_names_who_is_to_blame_and_nothing_innocent(site_of, mpi, kind, compiled):
    answer = ANSWERS[kind]
    expected = getattr(answer, compiled)

    told = verdict(site_of(mpi), kind, compiled, answer.ranks)

    assert expected.search(" ".join(told.values())), told
    assert named(told["cause"]) <= named(expected.pattern), told
    first = next(question for question in told if question != "judged")
    assert (first == "cause") is bool(re.match(r"Rank \d+ causes", told["cause"])), told


@pytest.mark.parametrize(("mpi", "kind", "compiled"), [run for run in RUNS if "sound" in run])
@pytest.mark.needs("open_mpi", "mpich", "gfortran")
def test_of_a_sound_program_nobody_is_blamed(site_of, mpi, kind, compiled):
    said = " ".join(verdict(site_of(mpi), kind, compiled).values())

    assert not re.search(r"Rank \d+ causes|Look there first", said), said


def verdict(site: Site, kind: str, compiled: str, ranks: int = 2) -> dict[str, str]:
    """What ``burstline waits`` says of a recorded program."""
    words = ["./fortran"] if kind == "fortran" else ["./blame", kind, str(STEPS)]
    words[0] += f".{compiled}"
    options = ["--force", "--sample=0"]  # calls and events of functions alone
    site.recorded("a.prv", *options, "--", *site.ranks(ranks), *words)
    return site.verdict_of("a.prv")


def named(sentence: str) -> set[str]:
    """The functions of the programs that a sentence names."""
    return {name for name in FUNCTIONS if re.search(rf"\b{name}\b", sentence)}
