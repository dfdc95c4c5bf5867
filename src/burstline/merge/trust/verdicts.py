"""How far a counter can be trusted, in words, and the figures at which the words change.

The published validation has three kinds of counters. Relative difference, and share
of bursts below 30 %, over its five applications:

- instructions, loads, stores, branches, floating point: at most 0.019, at least 97.2 %;
- cycles and the better half of the cache counters: 0.045 to 0.214, 74.1 % to 99.3 %;
- the other cache counters: 0.262 to 0.669, 38.5 % to 68.5 %.

Limits lie in the gaps between the three. Either figure alone parts the last two kinds; the
first two are parted by the difference, for cycles of Alya are within 30 % in 99.3 % of the
bursts. Correlation decides nothing: instructions of SOD2D reach 0.876 and differ by 0.003,
its L2 misses reach 1.000 and differ by 0.512.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from burstline.errors import ParameterError

TRUST: Final = "trust"
WITH_CARE: Final = "with care"
DO_NOT_USE: Final = "do not use"
VERDICTS: Final = (TRUST, WITH_CARE, DO_NOT_USE)


@dataclass(frozen=True, slots=True)
class Limits:
    """Where verdicts change.

    Attributes
    ----------
    trust_difference : float
        Largest relative difference of a counter to trust. Instructions differ by up to
        0.019 in the published tables, cycles by 0.045 and more.
    trust_close : float
        Least share of bursts below `tolerance` of a counter to trust. Instructions reach
        97.2 %, the least steady cycles 96.7 %.
    care_difference : float
        Largest relative difference of a counter that can be used with care: between the
        0.214 of L1 misses in SOD2D and the 0.262 of L3 misses in Alya.
    care_close : float
        Least share of bursts below `tolerance` of such a counter: between the 68.5 % of L3
        misses in Stream and the 74.1 % of L2 misses in Alya.
    tolerance : float
        Relative difference below which the values of a burst are close, 30 % as published.

    Raises
    ------
    ParameterError
        If a limit is negative, or one for care is stricter than the one for trust.
    """

    trust_difference: float = 0.02
    trust_close: float = 0.97
    care_difference: float = 0.25
    care_close: float = 0.70
    tolerance: float = 0.30

    def __post_init__(self) -> None:
        """Refuse limits that contradict each other."""
        ordered = 0 <= self.trust_difference <= self.care_difference
        if not (ordered and 0 <= self.care_close <= self.trust_close <= 1):
            raise ParameterError(
                "limits of verdicts: care may not ask for more than trust, and shares are 0..1"
            )
        if not self.tolerance > 0:
            raise ParameterError(f"the tolerance must be positive, got {self.tolerance}")


PUBLISHED: Final = Limits()


def verdict(difference: float | None, close: float | None, limits: Limits = PUBLISHED) -> str:
    """How far a counter can be trusted, by its relative difference and share of close bursts.

    >>> verdict(None, None), verdict(None, 0.0)
    ('trust', 'do not use')
    """
    if close is None:
        return TRUST
    if difference is None:
        return DO_NOT_USE
    if difference <= limits.trust_difference and close >= limits.trust_close:
        return TRUST
    if difference <= limits.care_difference and close >= limits.care_close:
        return WITH_CARE
    return DO_NOT_USE
