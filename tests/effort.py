"""How many examples a property is worth: a share of those of the profile in use.

A property that only computes takes a millisecond an example; one that writes files, ten.
"""

from __future__ import annotations

from hypothesis import settings


def examples(share: float) -> settings:
    """The profile's settings, with a share of its examples."""
    return settings(max_examples=max(1, round(share * settings.default.max_examples)))
