"""S of the published method: how unlike two bursts are, as in the kernel that pairs them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from burstline.columns import Floats
    from burstline.merge.model import Weights


class Compared(NamedTuple):
    """What S compares of some bursts; arrays of two sides broadcast against each other."""

    place: Floats  # where in its span each is, from 0 to 1
    # bytes that the calls moved whose sizes count: before, or before and after
    sizes: Sequence[Floats]
    partners: Sequence[npt.NDArray[Any]]  # of the calls whose partners count, -1 for none


def unlikeness(ours: Compared, theirs: Compared, weights: Weights) -> Floats:
    """S of pairs of bursts.

    >>> import numpy as np
    >>> from burstline.merge import Weights
    >>> our = Compared(np.array([0.5]), [np.array([8.0])], [np.array([1])])
    >>> their = Compared(np.array([0.5]), [np.array([4.0])], [np.array([1])])
    >>> float(unlikeness(our, their, Weights(place=0.6, size=0.2, partner=0.2))[0])
    0.1
    """
    cost = weights.place * np.abs(ours.place - theirs.place)
    for our, their in zip(ours.sizes, theirs.sizes, strict=True):
        size = np.abs(our - their) / np.maximum(np.maximum(our, their), 1.0)
        cost = cost + weights.size * size / len(ours.sizes)
    for our, their in zip(ours.partners, theirs.partners, strict=True):
        cost = cost + weights.partner * (our != their) / len(ours.partners)
    return np.asarray(cost)
