"""Where the programs begin in a launcher's command line, and which MPI it is."""

from __future__ import annotations

import subprocess

import pytest

from burstline.errors import ParameterError, UnsupportedRecordError
from burstline.record.launching import checks, mpi
from burstline.record.launching.command_line import (
    parse_command,
    program_name,
    with_environment,
)

LINES = {
    "mpirun -n 2 /bin/ls -l": [["/bin/ls", "-l"]],
    "mpirun --oversubscribe --bind-to core -np 2 ls": [["ls"]],
    "mpirun.openmpi --mca btl self,vader -x A=B --map-by slot ls x": [["ls", "x"]],
    "mpirun -host a:2,b:2 -n 4 ls : -n 2 cat y": [["ls"], ["cat", "y"]],
    "mpirun -n 2 -- ls -- x": [["ls", "--", "x"]],
    "mpiexec -genv A B -ppn 4 -l -n 8 ls": [["ls"]],
    "mpiexec.hydra -hosts=a,b -n 2 ls": [["ls"]],
    "srun -n4 -N 2 --mpi=pmix --cpu-bind cores ls -n 3": [["ls", "-n", "3"]],
    "srun --unbuffered ls": [["ls"]],
    "aprun -n 4 -cc cpu ls": [["ls"]],
    "timeout 60 mpirun -n 2 ls": [["ls"]],
    "mpirun --nobody-knows-me 3 ls": [["ls"]],
    "mpirun --nobody-knows-me ls 3": [["ls", "3"]],
    "ls -n 2 : x": [["ls", "-n", "2", ":", "x"]],
    "mpirun -n 2 numactl -N 0 ./app": [["numactl", "-N", "0", "./app"]],
    "mpirun -n 2 ./not-there x": [["./not-there", "x"]],
    "mpirun --app schema": [],
    "srun --multi-prog conf": [],
}


@pytest.mark.parametrize("line", LINES)
def test_programs_begin_behind_the_options_of_their_launcher(line):
    command = parse_command(line.split())

    assert [list(program) for program in command.programs()] == LINES[line]


@pytest.mark.parametrize(
    "line", ["mpirun", "mpirun -n 2", "mpirun -n 2 ls : -n 3", "srun -n", ""]
)
def test_a_launcher_without_a_program_is_refused_and_nothing_with_an_example(line):
    words = "is given no program" if line else r"mpirun -n 4 \./app"
    with pytest.raises(ParameterError, match=words):
        parse_command(line.split())


def test_a_program_whose_path_looks_like_a_variable_is_started(tmp_path):
    program = script(tmp_path / "a=b", "echo $A $1")

    words = with_environment(parse_command([str(program), "x y"]), {"A": "1"}, None)

    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "1 x y\n"


def test_each_program_gets_the_environment_by_itself():
    command = parse_command(["mpirun", "-n", "1", "ls", ":", "-n", "2", "cat", "x"])

    words = with_environment(command, {"A": "1", "B": "x y"}, mpi.OPEN_MPI)

    expected = "mpirun -n 1 env A=1 B=x\0y ls : -n 2 env A=1 B=x\0y cat x"
    assert words == [word.replace("\0", " ") for word in expected.split(" ")]


@pytest.mark.parametrize(
    ("line", "abi", "expected"),
    [
        ("mpirun --app f", mpi.OPEN_MPI, "mpirun --mca mca_base_env_list A=1 --app f"),
        ("mpiexec -configfile f", mpi.MPICH, "mpiexec -genv A 1 -configfile f"),
        ("srun --multi-prog f", None, "env A=1 srun --multi-prog f"),
        ("./app x", None, "env A=1 ./app x"),
    ],
)
def test_where_a_file_names_the_programs_the_launcher_passes_it_on(line, abi, expected):
    assert with_environment(parse_command(line.split()), {"A": "1"}, abi) == expected.split()


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("./bin/lulesh2.0 -i 3", "lulesh2.0"), ("python3.11 -u ring.py", "ring"),
        ("python -m mpi4py app.py", "mpi4py"), ("bash", "bash"), ("./..", "run"),
        ("./a b.x", "a"),
    ],
)  # fmt: skip
def test_a_trace_is_called_like_its_program(line, name):
    assert program_name(line.split()) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("libmpi.so.40 => /lib/libmpi.so.40 (0x1)", "openmpi"),
        ("libmpi.so.12 => not found", "mpich"),
        ("\tlibmpich.so.12 => /lib/libmpich.so.12", "mpich"),
        ("7f00-7f01 r-xp 0 08:01 7 /opt/lib/libmpi_abi.so.1", "abi"),
        ("libmpi_cxx.so.40 => /lib/libmpi_cxx.so.40", None),
        ("libmpi.so.400", None),
        ("not a dynamic executable", None),
    ],
)
def test_the_name_of_the_library_tells_the_mpi(text, name):
    abi = mpi.abi_of_libraries(text)

    assert (abi and abi.name) == name


@pytest.mark.parametrize(
    ("library", "symbols", "name"),
    [
        ("libmpi_cray.so.12", b"MPI_Init", "mpich"),
        ("libmpi_gnu_123.so.12", b"PMPI_Init", "mpich"),
        ("libmpi_abi.so.0", b"PMPI_Init", "abi"),
        ("libsite-mpi.so.3", b"PMPI_Init\0ompi_mpi_comm_world", "openmpi"),
        ("libmpi.so.80", b"MPI_Init\0ompi_mpi_comm_world", "openmpi"),
        ("libmpifort.so.12", b"mpi_init_", None),
    ],
)
def test_an_mpi_is_known_by_its_symbols_whatever_it_is_called(tmp_path, library, symbols, name):
    (tmp_path / library).write_bytes(b"\x7fELF\0" + symbols + b"\0")

    abi = mpi.abi_of_libraries(f"\t{library} => {tmp_path / library} (0x7f)\n\tlibc.so.6")

    assert (abi and abi.name) == name


def test_mpi4py_of_another_mpi_than_the_launchers_is_refused(tmp_path):
    launcher = script(tmp_path / "mpirun", "echo HYDRA")
    (tmp_path / "ring.py").write_text("from mpi4py import MPI\n")
    (tmp_path / "libmpi.so.40").write_bytes(b"\0MPI_Init\0ompi_mpi_comm_world\0")
    maps = script(tmp_path / "python3", f"echo {tmp_path}/libmpi.so.40")
    words = [str(launcher), "-n", "2", "env", "A=b", str(maps), f"{tmp_path}/ring.py"]

    with pytest.raises(ParameterError, match=r"uses Open MPI, but .* launcher of MPICH"):
        checks.choose_abi(parse_command(words), None)
    (tmp_path / "ring.py").write_text("import lammps\n")
    assert checks.choose_abi(parse_command(words), None) is mpi.MPICH


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("mpirun (Open MPI) 4.1.4", "openmpi"),
        ("HYDRA build details:\n    Version: 4.0.2", "mpich"),
        ("Intel(R) MPI Library for Linux* OS, Version 2021.9", "mpich"),
        ("slurm 23.02", None),
    ],
)
def test_a_launcher_tells_the_mpi_by_its_version(text, name):
    abi = mpi.abi_of_version(text)

    assert (abi and abi.name) == name


def script(path, text="exit 0", mode=0o755):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(mode)
    return path


@pytest.mark.parametrize(
    ("name", "message"),
    [("nothing", "there is no program"), ("plain", "chmod"), ("folder", "is a folder")],
)
def test_what_cannot_be_run_is_refused_before_the_run(tmp_path, name, message):
    script(tmp_path / "plain", mode=0o644)
    (tmp_path / "folder").mkdir()

    with pytest.raises(ParameterError, match=message):
        checks.check_programs(parse_command([str(tmp_path / name)]))


def test_a_launcher_that_is_not_installed_is_refused(monkeypatch):
    monkeypatch.setenv("PATH", "/bin")

    with pytest.raises(ParameterError, match="there is no program mpirun-nowhere on PATH"):
        checks.check_programs(parse_command(["mpirun-nowhere", "-n", "2", "ls"]))


def test_programs_of_another_folder_are_left_to_the_launcher(tmp_path):
    launcher = script(tmp_path / "mpirun")

    checks.check_programs(parse_command([str(launcher), "-wdir", "/elsewhere", "./app"]))


def test_a_program_in_this_folder_is_named_so_that_env_finds_it(tmp_path, monkeypatch):
    script(tmp_path / "app")
    monkeypatch.chdir(tmp_path)

    command = checks.with_local_paths(parse_command(["mpirun", "-n", "2", "app"]))

    assert command.words == ("mpirun", "-n", "2", "./app")


def test_the_launcher_tells_the_mpi_of_a_script_unless_the_user_does(tmp_path):
    launcher = str(script(tmp_path / "mpirun", "echo 'mpirun (Open MPI) 5.0.1'"))
    program = str(script(tmp_path / "app"))
    command = parse_command([launcher, "-n", "2", program])

    assert checks.choose_abi(command, None) is mpi.OPEN_MPI
    assert checks.choose_abi(command, "mpich") is mpi.MPICH
    with pytest.raises(ParameterError, match=r"nothing tells which MPI .* `mpi=openmpi`"):
        checks.choose_abi(parse_command([program]), None)


def test_programs_of_another_mpi_than_the_launchers_or_of_several_are_refused(
    tmp_path, monkeypatch
):
    launcher = script(tmp_path / "mpirun", "echo HYDRA")
    both = {"ls": mpi.OPEN_MPI, "cat": mpi.MPICH}
    monkeypatch.setattr(mpi, "abi_of_program", lambda path: both[path.name])

    with pytest.raises(ParameterError, match=r"uses Open MPI, but .* launcher of MPICH"):
        checks.choose_abi(parse_command([str(launcher), "-n", "2", "ls"]), None)
    with pytest.raises(ParameterError, match="ranks of one run share one MPI"):
        checks.choose_abi(parse_command(["srun", "-n", "1", "ls", ":", "-n", "1", "cat"]), None)


def test_mpi_within_the_program_itself_is_refused(tmp_path):
    program = tmp_path / "app"
    program.write_bytes(b"\x7fELF" + bytes(60) + b"\0MPI_Init\0PMPI_Init\0")
    program.chmod(0o755)

    with pytest.raises(UnsupportedRecordError, match="MPI linked into the program itself"):
        checks.choose_abi(parse_command([str(program)]), None)
