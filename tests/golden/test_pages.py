"""Each page beside this file is true: its commands print what it shows.

A page tells a story, a trace of it as text, and commands with their output. Blocks of
``text``, ``c``, ``json`` and ``python`` are written to the file that they name, or to
``trace.txt``. Lines of ``console`` blocks that begin with ``$`` are run in order, in one
folder. Behind a ``#`` stand the keys that are pressed in ``burstline browse`` before its screen
is shown. After a change of what commands print, ``BURSTLINE_PAGES=write pytest
tests/golden/test_pages.py`` writes all pages anew.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from burstline.cli.parser import COMMANDS
from command import burstline
from recording import SETTINGS
from screens import browsed

PAGES = sorted(Path(__file__).parent.glob("[!R]*.md"))
NEEDS = {"record": ("open_mpi", "work_compiler")}
"""Tools without which a page cannot be tried."""
_BLOCK = re.compile(r"^```(text|console|c|json|python)\b ?(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
_TOOLS = {"python": sys.executable}


def shown(line: str) -> str:
    """What a line prints, as it stands in a page: without blanks at ends of lines."""
    words, _, keys = line.partition("  # ")
    words, _, target = words.partition(" > ")
    first, *filters = (shlex.split(part) for part in words.split(" | "))
    lines = said = [each.rstrip() for each in printed(first, keys.split()).splitlines()]
    for each in filters:
        lines = filtered(lines, *each)
    assert lines or not filters, "\n".join(said)  # which tells why
    text = "".join(f"{each}\n" for each in lines)
    if target:
        Path(target).write_text(text, encoding="utf-8")
        return ""
    return text


def filtered(lines: list[str], program: str, *words: str) -> list[str]:
    """What ``grep`` and ``head`` leave of lines."""
    match program, *words:
        case "head", count:
            return lines[: -int(count)]
        case "grep", "-oE", pattern:
            found = (re.search(pattern, line) for line in lines)
            return [each[0] for each in found if each]
        case "grep", "-A", more, pattern:
            first = next(at for at, line in enumerate(lines) if re.search(pattern, line))
            return lines[first : first + 1 + int(more)]
        case "grep", *_, pattern:
            return [line for line in lines if re.search(pattern, line)]
    raise AssertionError(f"no page can use {program}")


def printed(words: list[str], keys: list[str]) -> str:
    """What a program prints, and says, unless that is sent away."""
    if "=" in words[0]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(*words[0].split("="))
            return printed(words[1:], keys)
    is_quiet = "2>/dev/null" in words
    program, *rest = (word for word in words if not word.startswith("2>"))
    if program == "cat":
        return Path(*rest).read_text(encoding="utf-8")
    if program == "grep":
        lines = Path(rest.pop()).read_text(encoding="utf-8").splitlines()
        return "".join(f"{line}\n" for line in filtered(lines, program, *rest))
    if program in _TOOLS:
        words = [_TOOLS[program], *rest]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        return done.stdout
    assert program == "burstline", words
    if rest[0] == "browse":
        return browsed(rest, keys)
    done = burstline(*rest)
    return done.stdout + ("" if is_quiet else done.stderr)


def played(page: str) -> str:
    """The page with the output that its commands print, run in the current folder."""

    def block(found: re.Match[str]) -> str:
        kind, name, body = found.groups()
        if kind != "console":
            Path(name or "trace.txt").write_text(body, encoding="utf-8")
            return found[0]
        lines = [line for line in body.splitlines() if line.startswith("$ ")]
        output = "".join(f"{line}\n{shown(line[2:])}" for line in lines)
        return f"```console\n{output}```"

    return _BLOCK.sub(block, page)


def pages() -> list[object]:
    """Each page, and the tools that it needs."""
    needs = {page: pytest.mark.needs(*tools) for page, tools in NEEDS.items()}
    return [pytest.param(path, id=path.stem, marks=needs.get(path.stem, ())) for path in PAGES]


@pytest.mark.parametrize("path", pages())
def test_a_page_shows_what_its_commands_print(path, tmp_path, monkeypatch, built_once):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("XDG_CACHE_HOME", str(built_once))
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    page = path.read_text(encoding="utf-8")

    found = played(page)

    if os.environ.get("BURSTLINE_PAGES") == "write":
        path.write_text(found, encoding="utf-8")
    else:
        assert found == page


def test_each_command_has_a_page_that_shows_it():
    text = "\n".join(path.read_text(encoding="utf-8") for path in PAGES)
    run = set(re.findall(r"^\$ (?:\S+=\S+ )*burstline (\S+)", text, re.MULTILINE))

    assert set(COMMANDS) <= run
