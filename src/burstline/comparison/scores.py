"""Scores of two profiles: the generalised Jaccard score of what they say."""

from __future__ import annotations

import numpy as np

from burstline.columns import Floats
from burstline.comparison.tables import side_by_side
from burstline.errors import ParameterError, printable
from burstline.model.profile import Profile

_NAMES = ("the first profile", "the second profile")


def jaccard(first: Floats, second: Floats) -> float:
    """The sum of the lesser by that of the greater values, 0..1; 1 where both are empty."""
    union = np.maximum(first, second).sum()
    return float(np.minimum(first, second).sum() / union) if union > 0 else 1.0


def j_mc(first: Profile, second: Profile, *, metrics: str = "time-tree") -> float:
    """How alike two profiles divide their time among metrics and call paths, J_(M,C).

    The generalised Jaccard score [1]_ of two functions of (metric, call path): the sum of the
    lesser by the sum of the greater values. A value is what a metric takes of the time of all
    threads in a call path alone, without the metrics below it; so those of the tree of `time`
    add up to 1. Call paths are the same where the names of their regions are.

    Parameters
    ----------
    first, second : Profile
        Profiles with a metric ``time``; their units may differ.
    metrics : {'time-tree', 'fig1', 'all'}
        The metrics: ``time`` and all below it, those of figure 1 of [1]_, or all with the
        unit of ``time``, such as costs of delays.

    Returns
    -------
    float
        0 where nothing is in common, 1 where the shares are equal; 1, too, if neither profile
        has any time.

    Raises
    ------
    NotEnoughDataError
        If a profile has no metric ``time``, or values that are no numbers.
    ParameterError
        If there is no such set of metrics.

    Notes
    -----
    Linear in metrics times call paths times locations. Of normalised functions it is
    (1 - d)/(1 + d), where d is half of the sum of all differences: 0.9 means that 5.3 % of
    the time is elsewhere. If one profile divides its time into no kinds, as those that
    Score-P writes without Scalasca, ``time`` alone is compared.

    References
    ----------
    .. [1] G. Corbin, N. Daoud, B. Mohr, G. de Morais, F. Wolf, Are Noise-Resilient Logical
       Timers Useful for Performance Analysis?

    Examples
    --------
    Two runs in which the second rank comes to a barrier late, and later:

    >>> from burstline import wait_states
    >>> from burstline.testing import trace_of
    >>> profiles = [
    ...     wait_states(
    ...         trace_of(
    ...             "ranks 2 "
    ...             "| 0 | 0 enter main | 2 enter MPI_Barrier | 2 begin | 20 end | 20 leave "
    ...             "| 20 leave "
    ...             f"| 1 | 0 enter main | {late} enter MPI_Barrier | {late} begin | 20 end "
    ...             "| 20 leave | 20 leave"
    ...         )
    ...     ).profile
    ...     for late in (10, 16)
    ... ]
    >>> round(j_mc(*profiles), 3)
    0.538
    """
    tables = side_by_side((first, second), _NAMES)
    chosen = tables.chosen(metrics)
    return jaccard(*(tables.shares([number], chosen) for number in (0, 1)))


def j_c(first: Profile, second: Profile, metric: str) -> float:
    """How alike two profiles divide a metric among call paths, J_C.

    As :func:`burstline.comparison.j_mc`, of what each call path alone has of the metric, with
    the metrics below it: whether both blame the same places, however much there is to blame.

    Parameters
    ----------
    first, second : Profile
        Profiles with a metric ``time``.
    metric : str
        The name of the metric, such as ``comp`` or ``mpi_wait_nxn``.

    Returns
    -------
    float
        0 where nothing is in common, so also where one profile has nothing of the metric; 1
        where the shares are equal, so also where neither has.

    Raises
    ------
    NotEnoughDataError
        If a profile has no metric ``time``, or values that are no numbers.
    ParameterError
        If neither profile has such a metric, or it is no sum over call paths.

    Examples
    --------
    Two runs compute for 40 ns, of which the second spends twice as long on reading:

    >>> from burstline import wait_states
    >>> from burstline.testing import trace_of
    >>> profiles = [
    ...     wait_states(
    ...         trace_of(
    ...             "ranks 1 | region read role function | region solve role function "
    ...             f"| 0 | 0 enter read | {read} leave | {read} enter solve | 40 leave "
    ...             "| 40 enter MPI_Init | 50 leave"
    ...         )
    ...     ).profile
    ...     for read in (10, 20)
    ... ]
    >>> j_c(*profiles, "comp")
    0.6
    """
    tables = side_by_side((first, second), _NAMES)
    if metric not in tables.parents:
        raise ParameterError(f"no metric {printable(metric)} that is a sum in either profile")
    return jaccard(*(tables.shares_of(metric, [number]) for number in (0, 1)))
