"""Commands whose output is read, such as compilers and launchers."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from burstline.errors import printable


class CommandOutput(NamedTuple):
    """The exit code of a command, None if it could not run, and its output or the error."""

    code: int | None
    text: str


def ask(
    words: Sequence[str], *, patience_s: int, environment: Mapping[str, str] | None = None
) -> CommandOutput:
    """The answer of a command, on both streams, which may take so many seconds."""
    try:
        done = subprocess.run(  # noqa: S603 -- the user's own programs
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=patience_s,
            check=False,
            env=environment,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return CommandOutput(None, str(error))
    return CommandOutput(done.returncode, done.stdout.decode(errors="replace"))


def first_error(output: str) -> str:
    """The first line of a compiler's output that tells of an error, safe to print."""
    lines = (line for line in output.splitlines() if "error" in line)
    return printable(next(lines, output), limit=500)
