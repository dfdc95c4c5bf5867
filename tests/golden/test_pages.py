"""Each page beside this file is true: its commands print what it shows.

A page tells a story, a trace of it as text, and commands with their output. Blocks that begin
with ``text`` are written to ``trace.txt``, or the file that they name; lines of ``console``
blocks that begin with ``$`` are run in order, in one folder. After a change of what commands
print, ``BURSTLINE_PAGES=write pytest tests/golden/test_pages.py`` writes the pages anew.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from command import burstline

PAGES = sorted(Path(__file__).parent.glob("[!R]*.md"))
_BLOCK = re.compile(r"^```(text|console) ?(.*)\n((?:.*\n)*?)```$", re.MULTILINE)


def shown(line: str) -> str:
    """What a command prints, as it stands in a page: without blanks at ends of lines."""
    program, *words = shlex.split(line)
    if program == "cat":
        return Path(*words).read_text(encoding="utf-8")
    if program == "grep":
        pattern, name = words
        lines = Path(name).read_text(encoding="utf-8").splitlines()
        return "".join(f"{text}\n" for text in lines if re.search(pattern, text))
    assert program == "burstline", line
    done = burstline(*words)
    printed = done.stdout + done.stderr
    return "".join(f"{text.rstrip()}\n" for text in printed.splitlines())


def played(page: str) -> str:
    """The page with the output that its commands print, run in the current folder."""

    def block(found: re.Match[str]) -> str:
        kind, name, body = found.groups()
        if kind == "text":
            Path(name or "trace.txt").write_text(body, encoding="utf-8")
            return found[0]
        lines = [line for line in body.splitlines() if line.startswith("$ ")]
        output = "".join(f"{line}\n{shown(line[2:])}" for line in lines)
        return f"```console\n{output}```"

    return _BLOCK.sub(block, page)


@pytest.mark.parametrize("path", PAGES, ids=[path.stem for path in PAGES])
def test_a_page_shows_what_its_commands_print(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    page = path.read_text(encoding="utf-8")

    found = played(page)

    if os.environ.get("BURSTLINE_PAGES") == "write":
        path.write_text(found, encoding="utf-8")
    else:
        assert found == page
