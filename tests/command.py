"""Commands of burstline, run in the process of the test: a new Python would only cost time."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

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


def printed_by(*words: object) -> str:
    """What a command prints that ends well."""
    done = burstline(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def document_of(*words: object) -> Any:
    """What it prints as JSON."""
    return json.loads(printed_by(*words, "--format", "json"))


def page_of(folder: Path, trace: object, *words: object) -> Path:
    """The page that it writes of a trace into a folder."""
    path = folder / "page.html"
    printed_by("report", trace, *words, "-o", path, "--force")
    return path
