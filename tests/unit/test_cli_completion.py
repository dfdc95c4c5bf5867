"""Completion knows the commands, their options, and the values of options."""

import shutil
import subprocess

import pytest

from burstline import cli

PROBE = """
COMP_WORDS=({words}); COMP_CWORD={position}
_burstline; printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def script(capsys, shell):
    cli.main(["completion", shell])
    return capsys.readouterr().out


def completed(capsys, *words):
    probe = PROBE.format(words=" ".join(f"'{word}'" for word in words), position=len(words) - 1)
    bash = shutil.which("bash")
    assert bash is not None
    run = subprocess.run(
        [bash, "-c", script(capsys, "bash") + probe], capture_output=True, text=True, check=True
    )
    return run.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("inf", ["info"]),
        ("info --mem", ["--memory"]),
        ("info --format ", ["table", "json", "csv"]),
        ("info run", []),  # a file name, left to the shell
    ],
)
def test_bash_completes_commands_options_and_values(capsys, words, offered):
    assert completed(capsys, "burstline", *words.split(" ")) == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_is_told_every_command(capsys, shell):
    text = script(capsys, shell)

    assert all(name in text for name in ("info", "structure", "cut", "convert", "demo"))
