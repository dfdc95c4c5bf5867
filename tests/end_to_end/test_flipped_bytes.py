"""Files that are damaged or lie, in any format, to any command: told as what they are."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

FUZZ = Path(__file__).resolve().parents[1] / "fuzz" / "commands.py"
FILES = 2  # of each format; `make fuzz-commands` goes on


def test_damage_is_told_and_never_called_a_bug():
    words = [sys.executable, FUZZ, "600", "--files", str(FILES)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    *formats, last = done.stdout.splitlines()
    assert all(re.fullmatch(rf" *{FILES} files of \S+", line) for line in formats)
    assert last == f"{FILES * len(formats)} damaged files, four commands each; 0 failed"
