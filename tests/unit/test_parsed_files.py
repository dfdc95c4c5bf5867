"""Every command that reads TOML or JSON opens and measures it as traces are, by one reader."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from command import burstline

COMMANDS = {
    "predict-signature": ("predict", "FILE", "other.json"),
    "signature-run": ("signature", "run", "FILE", "--", "true"),
    "clocks-model": (
        "retime", "run.txt", "-o", "out.prv", "--clock", "lt_hwctr", "--effort-model", "FILE",
    ),
    "record-sets": ("record", "--counters-set", "FILE", "-o", "out.prv", "--", "true"),
    "record-functions": ("record", "--functions", "FILE", "-o", "out.prv", "--", "true"),
    "predict-measurement": ("predict", "run.sig", "FILE"),
    "learn-quality": ("learn", "bursts.parquet", "--quality", "FILE"),
}  # fmt: skip
TOML = ("predict-signature", "signature-run", "clocks-model", "record-sets")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a command with a file in its place, beside a sound trace and a sound signature."""
    monkeypatch.chdir(tmp_path)
    steps = "".join(f" | {9 * k + 5} enter MPI_Barrier | {9 * k + 9} leave" for k in range(40))
    Path("run.txt").write_text(
        f"ranks 1\n0 | 0 enter MPI_Init | 1 leave{steps} | 900 enter MPI_Finalize | 901 leave\n"
    )
    done = burstline("signature", "build", "run.txt", "-o", "run.sig")
    assert done.returncode == 0, done.stderr

    def with_file(name, file):
        return burstline(*(str(file) if word == "FILE" else word for word in COMMANDS[name]))

    return with_file


@pytest.mark.parametrize("name", COMMANDS)
def test_a_pipe_or_an_endless_device_is_exit_3(run, tmp_path, name):
    os.mkfifo(pipe := tmp_path / "pipe")
    for file, kind in ((pipe, "a pipe"), (Path("/dev/zero"), "a device")):
        done = run(name, file)
        assert done.returncode == 3, done.stderr
        assert f"{file}: expected a plain file, found '{kind}'" in done.stderr


CHOKING_TOML = [
    (".".join(["a"] * 20_000) + " = 1\n", "keys of at most"),
    ("[" + ".".join(["facts"] * 2_000) + "]\n", "keys of at most"),
    ("a = " + "7" * 5_000 + "\n", "digits"),
    ("a = " + "[" * 5_000 + "]" * 5_000 + "\n", "brackets"),
]
CHOKING_JSON = ["[" * 5_000, '{"version": Infinity}', '{"version": 1e999}', "[" + "7" * 5_000]
CHOKING = [(name, *text) for name in TOML for text in CHOKING_TOML]
CHOKING += [
    (name, text, "")
    for name in ("predict-measurement", "learn-quality")
    for text in CHOKING_JSON
]


@pytest.mark.parametrize(("name", "text", "said"), CHOKING)
def test_what_a_parser_chokes_on_is_exit_3(run, tmp_path, name, text, said):
    (file := tmp_path / "file").write_text(text)
    done = run(name, file)
    assert done.returncode == 3, done.stderr
    assert f"{file}: expected" in done.stderr
    assert said in done.stderr


def test_a_document_that_would_take_more_memory_than_allowed_is_exit_5(tmp_path):
    (file := tmp_path / "file").write_text("\n".join(f"[{n}]" for n in range(300_000)))
    words = ("signature", "run", str(file), "--memory", "256M", "--", "true")
    done = burstline(*words)
    assert done.returncode == 5, done.stderr
    assert str(file) in done.stderr


def test_a_set_whose_name_no_file_can_have_is_refused_before_anything_runs(tmp_path):
    (sets := tmp_path / "sets.toml").write_text(f'[sets]\n{"a" * 5_000} = ["X"]\nb = ["X"]\n')
    ran = tmp_path / "ran"
    words = ("record", "--counters-set", str(sets), "--each-set", "--", "touch", str(ran))
    done = burstline(*words)
    assert done.returncode == 3, done.stderr
    assert f"{sets}: expected" in done.stderr
    assert not ran.exists()


def test_a_name_that_no_file_can_have_is_a_wrong_argument(tmp_path):
    (trace := tmp_path / "run.txt").write_text("ranks 1\n0 | 0 enter MPI_Barrier | 5 leave\n")
    (loop := tmp_path / "loop.store").symlink_to(loop)
    long = tmp_path / ("a" * 5_000 + ".store")
    read = [
        words
        for name in (long, loop)
        for words in (("info", name), ("convert", name, "x.store"))
    ]
    for words in (*read, ("convert", trace, long)):
        assert burstline(*words).returncode == 2
