"""A plugin of pytest: who executed each line (by coverage.py), and how long each test took."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Name what is executed from here on after a test, and note its seconds."""
    measured = coverage.Coverage.current()
    if measured is not None:
        measured.switch_context(item.nodeid)
    start = time.perf_counter()
    yield
    if measured is not None:
        seconds = time.perf_counter() - start
        with Path(f"{measured.config.data_file}.seconds").open("a", encoding="utf-8") as file:
            file.write(f"{seconds:.6f} {item.nodeid}\n")
