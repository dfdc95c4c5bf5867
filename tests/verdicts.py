"""Verdicts as tests read them: sentences alone."""

from __future__ import annotations

from burstline.answers import verdict_on_waits
from burstline.waits import Waits


def verdict(waits: Waits) -> list[str]:
    """The sentences on the waits of a run."""
    return [each.sentence for each in verdict_on_waits(waits)]
