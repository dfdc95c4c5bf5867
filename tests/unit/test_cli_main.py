"""Whatever goes wrong, the user gets one line that helps, and scripts get an exit code."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from burstline import cli, errors

PATH = Path("run.prv")


def fail_with(monkeypatch, error):
    def run(_):
        raise error

    monkeypatch.setattr("burstline.cli.commands.info.run", run)


def outcome(capsys, *words):
    with pytest.raises(SystemExit) as stop:
        cli.main(words)
    return stop.value.code, capsys.readouterr()


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.BurstlineError("ours"), 1),
        (errors.ParameterError("wrong"), 2),
        (errors.FormatError(PATH, 3, expected="a number", found="x"), 3),
        (errors.TruncatedTraceError(PATH, 3, expected="a number", found=""), 3),
        (errors.UnsupportedRecordError(PATH, 1, expected="version 1", found="2"), 3),
        (errors.InconsistentTraceError("twice"), 4),
        (errors.NotEnoughDataError("no loop"), 5),
        (errors.MemoryBudgetError(9 * 10**9, 10**9, way_out="Cut it."), 5),
        (MemoryError(), 5),
        (errors.MissingExtraError("ml", "learning"), 6),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "run.prv"), 2),
        (IsADirectoryError(errno.EISDIR, "Is a directory", "run.prv"), 2),
        (PermissionError(errno.EACCES, "Permission denied", "run.prv"), 2),
        (OSError(errno.ENOSPC, "No space left on device", "out.prv"), 1),
        (ZeroDivisionError("division by zero"), 1),
    ],
)
def test_every_error_is_one_line_and_the_exit_code_of_its_class(
    monkeypatch, capsys, error, code
):
    fail_with(monkeypatch, error)

    stopped, output = outcome(capsys, "info", "run.prv")

    assert stopped == code
    assert output.out == ""
    assert output.err.startswith("error: ")
    assert output.err.count("\n") == 1


def test_every_class_of_the_error_tree_is_mapped_by_its_own_exit_code():
    tree = [
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, errors.BurstlineError)
    ]

    assert len(tree) == 10
    assert {value.exit_code for value in tree} == {1, 2, 3, 4, 5, 6}


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (
            errors.InconsistentTraceError("a\x1b[31mred\nsecond line"),
            4,
            ["error: a\ufffd[31mred second line\n"],
        ),
        (
            ZeroDivisionError("division by zero"),
            1,
            [
                "this is a bug of burstline: ZeroDivisionError: division by zero",
                "--traceback",
            ],
        ),
        (KeyboardInterrupt(), 130, ["interrupted\n"]),
        (None, 2, ["/nowhere/run.prv"]),
    ],
    ids=["control characters are shown", "a bug says so", "an interrupt is quiet", "no file"],
)
def test_what_goes_wrong_is_said_in_a_line_that_helps(monkeypatch, capsys, error, code, said):
    if error:
        fail_with(monkeypatch, error)

    stopped, output = outcome(capsys, "info", "/nowhere/run.prv")

    assert stopped == code
    assert all(words in output.err for words in said)
    assert output.err in said or said[0][-1] != "\n"


@pytest.mark.parametrize(
    "words", [("--traceback", "info", "run.prv"), ("info", "--traceback", "run.prv")]
)
def test_traceback_shows_where_an_error_arose(monkeypatch, capsys, words):
    fail_with(monkeypatch, ZeroDivisionError("division by zero"))

    code, output = outcome(capsys, *words)

    assert code == 1
    assert "Traceback" in output.err


@pytest.mark.parametrize(
    "words",
    [
        ("info",), ("inof", "run.prv"), ("info", "run.prv", "--format", "xml"),
        ("info", "run.prv", "--form", "json"), ("info", "run.prv", "--app", "first"),
        ("info", "run.prv", "--top", "0"), ("info", "run.prv", "--memory", "much"),
        ("info", "run.prv", "--threads", "0"),
    ],
)  # fmt: skip
def test_wrong_arguments_exit_with_2_and_end_in_an_error_line(capsys, words):
    code, output = outcome(capsys, *words)

    assert code == 2
    assert output.out == ""
    assert output.err.splitlines()[-1].startswith("error: ")


def test_help_and_version_go_where_they_were_asked_for(capsys):
    code, output = outcome(capsys)
    assert (code, output.out) == (2, "")
    assert "burstline COMMAND" in output.err
    for words, begin in (
        (["--version"], "burstline 0."),
        (["--", "info", "--help"], "usage: burstline info"),
    ):
        code, output = outcome(capsys, *words)
        assert code == 0
        assert output.out.startswith(begin)


def test_a_reader_that_leaves_early_ends_the_command_in_silence():
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as closed:
        run = subprocess.run(
            [sys.executable, "-m", "burstline", "completion", "bash"],
            stdout=closed,
            stderr=subprocess.PIPE,
            check=False,
        )

    assert (run.returncode, run.stderr) == (0, b"")
