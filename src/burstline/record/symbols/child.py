"""A process of limited time and memory, for files and names that nobody vouches for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import weakref
from threading import Lock, Timer
from typing import Any, Final

_SECONDS, _BYTES = 20, 1 << 30
_PATIENCE_S: Final = 600
"""Seconds on the clock, for files on disks that do not answer."""


class Child:
    """Answers of `burstline.record.symbols.lookup`; a new process follows one that died."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = Lock()

    def ask(self, **request: object) -> dict[str, Any] | None:
        """The answer to a request; None if the process took too much of anything over it."""
        with self._lock:
            process = self._process or self._started()
            timer = Timer(_PATIENCE_S, process.kill)
            timer.start()
            try:
                answer = _answer(process, request)
            finally:
                timer.cancel()
            if answer is None:
                _end(process)
                self._process = None
            return answer

    def _started(self) -> subprocess.Popen[bytes]:
        module = "burstline.record.symbols.lookup"
        self._process = subprocess.Popen(  # noqa: S603 -- our own interpreter and our own text
            [sys.executable, "-P", "-m", module, str(_SECONDS), str(_BYTES)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        weakref.finalize(self, _end, self._process)
        return self._process


def _answer(process: subprocess.Popen[bytes], request: object) -> dict[str, Any] | None:
    if process.stdin is None or process.stdout is None:
        return None
    try:
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())
    except (OSError, ValueError):
        return None


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()
