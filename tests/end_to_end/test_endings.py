"""However a command ends, nothing half-written stays, or it is named the next time."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from burstline.formats import atomic
from command import burstline as run
from otf2_archives import archive
from paraver_text import write_example
from recording import environment, wait_until

OUTPUTS = (
    *("run.prv", "run.prv.gz", "run.store", "run.csv", "run.parquet", "run.otf2"),
    *("run.perfetto.json", "run.perfetto.json.gz"),
)
KILLED = """\
import os, signal, sys
from burstline.cli import main
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
main(sys.argv[1:])
"""
HANGS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void hang(const char* name) {
    const char* const ending = getenv("HANG");
    const size_t length = strlen(name);
    if (length < 4 || strcmp(name + length - 4, ending) != 0) return;
    char text[32];
    const int file = open(getenv("HANGS"), O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (file < 0) return;
    const ssize_t wrote = write(file, text, snprintf(text, sizeof text, "%d", getpid()));
    for (;;) pause();
}
FILE* fopen(const char* name, const char* mode) {
    hang(name);
    return ((FILE * (*)(const char*, const char*)) dlsym(RTLD_NEXT, "fopen"))(name, mode);
}
FILE* fopen64(const char* name, const char* mode) {
    hang(name);
    return ((FILE * (*)(const char*, const char*)) dlsym(RTLD_NEXT, "fopen64"))(name, mode);
}
"""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def example(tmp_path):
    (folder := tmp_path / "source").mkdir()
    return write_example(folder)


@pytest.fixture
def place(tmp_path):
    (folder := tmp_path / "place").mkdir()
    return folder


def at_the_end(monkeypatch, action):
    """Do something when everything is written, and nothing has its name."""

    def acted(*_):
        action()

    monkeypatch.setattr(os, "fsync", acted)
    monkeypatch.setattr("burstline.formats.otf2.writing.archive._move_files", acted)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("output", OUTPUTS)
def test_who_is_terminated_leaves_nothing(monkeypatch, example, place, output, ending):
    at_the_end(monkeypatch, lambda: os.kill(os.getpid(), ending))

    done = run("convert", example, place / output)

    assert done.returncode == 128 + ending
    assert done.stderr == "terminated\n"
    assert names(place) == []
    assert signal.getsignal(ending) is signal.SIG_DFL


@pytest.mark.parametrize("file", [".def", ".evt"])
@pytest.mark.parametrize("ranks", [1, 3])
def test_who_is_terminated_ends_the_child_that_reads_an_archive(tmp_path, file, ranks):
    (tmp_path / "hang.c").write_text(HANGS)
    hang = tmp_path / "hang.so"
    words = ["gcc", "-shared", "-fPIC", "-o", hang, tmp_path / "hang.c", "-ldl"]
    subprocess.run(words, check=True)
    with archive(tmp_path / "run", ranks=ranks) as made:
        for rank in range(ranks):
            made.thread(rank).region("MPI_Init", 0, 1)
    settings = environment(tmp_path) | {"LD_PRELOAD": str(hang), "HANG": file}
    settings |= {"HANGS": str(tmp_path / "hangs")}
    command = [sys.executable, "-m", "burstline", "info", str(tmp_path / "run")]
    with subprocess.Popen(command, env=settings, stderr=subprocess.PIPE) as process:
        number = tmp_path / "hangs"
        wait_until(lambda: number.exists() and number.read_text())
        child = int(number.read_text())
        process.send_signal(signal.SIGTERM)
        try:
            _, said = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            os.kill(child, signal.SIGKILL)
            process.kill()
            raise

    assert (process.returncode, said) == (128 + signal.SIGTERM, b"terminated\n")
    assert not Path(f"/proc/{child}").exists()


@pytest.mark.parametrize("output", ["run.prv", "run.store"])
def test_what_a_killed_command_leaves_is_named_the_next_time(example, place, output):
    words = [sys.executable, "-c", KILLED, "convert", str(example), str(place / output)]
    killed = subprocess.run(words, check=False)
    left = {name for name in names(place) if name.startswith(f".{output}.")}

    done = run("convert", example, place / output)

    assert killed.returncode == -signal.SIGKILL
    assert done.returncode == 0
    assert left
    (line,) = [line for line in done.stderr.splitlines() if f"/.{output}." in line]
    assert "is left of a run that was killed" in line
    subprocess.run(line.partition("Delete it: ")[2], shell=True, check=True)  # noqa: S602
    assert not any(name.startswith(f".{output}.") for name in names(place))


def test_records_of_a_killed_run_are_named_with_the_way_to_a_trace(example, place):
    (folder := place / ".run.prv.0123abcd.raw").mkdir()

    done = run("convert", example, place / "run.prv")

    assert f"become a trace: burstline convert {folder} OUTPUT" in done.stderr


@pytest.mark.parametrize("output", OUTPUTS)
def test_the_second_of_two_writers_is_told(example, place, output):
    is_folder = output.endswith((".store", ".csv", ".parquet"))
    first = atomic.folder if is_folder else atomic.output

    with (
        first(place / output)
        if output != "run.otf2"
        else atomic.scratch(place / output, "part")
    ):
        before = names(place)
        done = run("convert", example, place / output)
        assert names(place) == before

    assert done.returncode == 2
    assert f"{output} is being written by another process" in done.stderr
    assert "left of a run" not in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "closed", "unbuffered"),
    [
        (["info"], 0, ["stdout"], "1"),
        (["info"], 0, ["stdout", "stderr"], ""),
        (["table", "--format", "csv"], 0, ["stdout"], ""),
        (["table", "--format", "csv"], 0, ["stdout", "stderr"], "1"),
        (["info", "--top", "-1"], 2, ["stdout"], "1"),
        (["info", "--top", "-1"], 2, ["stdout", "stderr"], ""),
    ],
)
def test_a_closed_pipe_never_ends_with_1(example, words, code, *, closed, unbuffered, tmp_path):
    ends = {}
    for stream in closed:
        reading, ends[stream] = os.pipe()
        os.close(reading)

    command = [sys.executable, "-m", "burstline", *words, str(example)]
    settings = environment(tmp_path) | {"PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(command, **ends, env=settings, check=False)

    for end in ends.values():
        os.close(end)
    assert done.returncode == code


@pytest.mark.parametrize("words", [["--help"], ["info", "--help"], ["--version"]])
def test_help_that_cannot_be_written_ends_with_1_and_names_the_cause(words, tmp_path):
    command = [sys.executable, "-m", "burstline", *words]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, env=environment(tmp_path), check=False
        )

    assert done.returncode == 1
    assert done.stderr == b"error: standard output: no space left on device\n"


@pytest.mark.parametrize(
    ("words", "code", "closed"),
    [
        (["--help"], 1, ">&-"),
        (["--help"], 1, "<&- >&- 2>&-"),
        (["--version"], 1, ">&- <&-"),
        (["info", "RUN"], 1, ">&-"),
        (["info", "RUN"], 1, ">&- 2>&-"),
        (["convert", "RUN", "OUT"], 0, ">&- 2>&-"),
        (["convert", "RUN", "OUT"], 0, "<&- >&- 2>&-"),
    ],
)
def test_what_cannot_be_printed_as_nobody_listens_ends_with_1(
    example, tmp_path, words, code, closed
):
    names = {"RUN": str(example), "OUT": str(tmp_path / "x.store")}
    command = [sys.executable, "-m", "burstline", *(names.get(word, word) for word in words)]
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *command],
        stderr=subprocess.PIPE,
        env=environment(tmp_path),
        check=False,
    )

    assert done.returncode == code
    assert code == 0 or "2>" in closed or done.stderr == b"error: standard output is closed\n"
    if code == 0:
        assert run("info", tmp_path / "x.store").returncode == 0


@pytest.mark.parametrize("output", [*OUTPUTS, "run.txt"])
def test_a_name_that_is_not_utf8_is_a_name(tmp_path, output):
    place = tmp_path / os.fsdecode(b"na\xefve")
    place.mkdir()
    (tmp_path / "run.txt").write_text("ranks 1 | 0 | 5 enter MPI_Barrier | 9 leave")
    path = place / output
    if output == "run.txt":
        path.write_bytes((tmp_path / output).read_bytes())
    else:
        done = run("convert", tmp_path / "run.txt", path)
        if output == "run.otf2":  # its library cannot
            assert (done.returncode, list(place.iterdir())) == (2, [])
            assert "takes only names that are UTF-8" in done.stderr
            return
        assert done.returncode == 0, done.stderr
        assert f"na\\xefve/{output}: 1 call," in done.stderr

    if ".perfetto" not in output:
        told = run("info", path, "--format", "json")
        assert told.returncode == 0, told.stderr
        assert json.loads(told.stdout)["calls"]["MPI_Barrier"]["count"] == 1
        assert run("info", path).returncode == 0
        assert run("structure", path).returncode in {0, 5}


def sizes(folder):
    return {path: path.stat().st_size for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("output", OUTPUTS)
def test_wherever_a_write_fails_nothing_stays_and_the_output_is_named(example, place, output):
    run("convert", example, place / output)
    whole = sizes(place)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    limits = sorted({part for size in whole.values() for part in (0, size // 2, size - 1)})

    for limit in {*limits[:: len(limits) // 6 + 1], limits[-1]}:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        try:
            done = run("convert", example, place / output, "--force")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

        assert done.returncode == 1, (limit, done.stderr)
        assert done.stderr.startswith(f"error: {place / 'run'}"), (limit, done.stderr)
        assert done.stderr.endswith("file too large\n"), (limit, done.stderr)
        assert sizes(place) == whole, limit


@pytest.mark.parametrize("output", sorted({*OUTPUTS} - {"run.otf2"}))
def test_whichever_fsync_fails_nothing_stays_and_the_output_is_named(
    monkeypatch, example, place, output
):
    run("convert", example, place / output)
    whole = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    sync, synced, left = os.fsync, [], []

    def fail(descriptor):
        synced.append(descriptor)
        if left and left.pop() == 0:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", fail)
    assert run("convert", example, place / output, "--force").returncode == 0
    count = len(synced)
    for number in {1, 2, count // 2, count - 1, count} & {*range(1, count + 1)}:
        left[:] = range(number)
        done = run("convert", example, place / output, "--force")

        assert done.returncode == 1, done.stderr
        assert done.stderr.startswith(f"error: {place / 'run'}"), done.stderr
        assert done.stderr.endswith("input/output error\n")
        assert {p: p.read_bytes() for p in place.rglob("*") if p.is_file()} == whole
    assert count >= 1
