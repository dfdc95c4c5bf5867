"""Tests that are left out where what they need is missing, counted by what that is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest

COUNTS = pytest.StashKey[Counter[str]]()
SENT = "left_out"  # by a worker of pytest-xdist to the process that prints


def leave_out(
    config: pytest.Config, items: list[pytest.Item], missing: Mapping[str, str]
) -> None:
    """Remove the tests that take a fixture of which `missing` says what it needs."""
    needs = {
        item: sorted({missing[name] for name in fixtures_of(item) if name in missing})
        for item in items
    }
    left_out = [item for item in items if needs[item]]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not needs[item]]
    counts = config.stash.setdefault(COUNTS, Counter())
    counts.update(" and ".join(needs[item]) for item in left_out)
    if hasattr(config, "workeroutput"):
        config.workeroutput[SENT] = dict(counts)


def fixtures_of(item: pytest.Item) -> set[str]:
    """Names of the fixtures that a test takes, and of those that it asks for as it runs.

    The latter are given by ``@pytest.mark.needs``, which a value of a parameter may have, too.
    """
    asked = {str(name) for mark in item.iter_markers("needs") for name in mark.args}
    return asked | set(getattr(item, "fixturenames", ()))


def sentence(counts: Counter[str]) -> str:
    """How many tests were left out, and how many of them for want of what."""
    total = counts.total()
    were = "1 test was" if total == 1 else f"{total:,} tests were"
    reasons = (
        f"{count:,} {'needs' if count == 1 else 'need'} {what}"
        for what, count in counts.most_common()
    )
    return f"{were} left out: {', '.join(reasons)}"
