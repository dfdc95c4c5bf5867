"""Sites: calls that a trace gives one name, separated by their order.

::

    Sites  --repeats folded, from the inside out-->  Sites, more of them

A call path with lines is one place in the program. Without lines, all calls of one operation
from one function look the same; without call paths, all with the same partner. Where the
order of the calls shows several places, each gets a site of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline import _core
from burstline.columns import dense
from burstline.identity import Site, Sites

if TYPE_CHECKING:
    from burstline.columns import Integers, Mask

_FIRST_TIMES: Final = (2, 3)
"""What is folded first: all that is repeated, or what is repeated more than by chance."""

_WORK_PER_CALL: Final = 200
_MOST_SITES: Final = 8
"""Sites for one of before; a program that seems to have more is not regular enough."""


def refined_sites(sites: Sites, lane_begin: Integers) -> list[Sites]:
    """The same calls, in several ways, with more sites for those without a line of source."""
    uncertain = np.array([not _has_line(site) for site in sites.distinct])
    if not uncertain.any():
        return []
    candidates = (_folded(sites, lane_begin, uncertain, times) for times in _FIRST_TIMES)
    return [folded for folded in candidates if folded is not None]


def _folded(
    sites: Sites, lane_begin: Integers, uncertain: Mask, first_times: int
) -> Sites | None:
    count = len(sites)
    work = _WORK_PER_CALL * len(sites.of_call)
    site, symbol = _core.fold_sites(sites.of_call, lane_begin, count, first_times, work)
    if len(symbol) > _MOST_SITES * count:
        return None
    names = np.where(uncertain[sites.of_call], count + site, sites.of_call)
    of_call, keys = dense(names, count + len(symbol))
    if len(keys) == count:
        return None
    former = np.where(keys < count, keys, symbol[np.maximum(keys - count, 0)])
    return Sites(
        of_call.astype(np.int32),
        tuple(sites.distinct[number] for number in former.tolist()),
        sites.has_paths,
    )


def _has_line(site: Site) -> bool:
    return bool(site.path) and site.path[-1].line is not None
