"""Commands of burstline, run in the process of the test: a new Python would only cost time."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple

from burstline.cli import main


class Done(NamedTuple):
    """How a command ended, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


def burstline(*words: object) -> Done:
    """How ``burstline WORDS…`` ends, and what it prints."""
    printed, said, code = io.StringIO(), io.StringIO(), 0
    with redirect_stdout(printed), redirect_stderr(said):
        try:
            main([str(word) for word in words])
        except SystemExit as end:
            code = end.code or 0
    return Done(code, printed.getvalue(), said.getvalue())
