"""Files with damaged bytes, in any format, to any command: told as what they are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FUZZ = Path(__file__).resolve().parents[1] / "fuzz" / "commands.py"
CASES = 100


def test_damage_is_told_and_never_called_a_bug():
    words = [sys.executable, FUZZ, "600", "--most", str(CASES)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == f"{CASES} commands on damaged inputs, 0 failed\n"
