"""Sites: telling calls apart that a trace gives one name.

::

    Signed  --repeats folded, from the inside out-->  Signed, with a signature per site

A call path with lines is one place in the program. Without lines, all calls of one operation
from one function look the same; without call paths, all with the same partner. Where the
order of the calls shows several places, each gets a signature of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline import _core
from burstline.columns import dense
from burstline.structure.calls import Signature, Signed

if TYPE_CHECKING:
    from burstline.columns import Integers, Mask

_FIRST_TIMES: Final = (2, 3)
"""What is folded first: all that is repeated, or what is repeated more than by chance."""

_WORK_PER_CALL: Final = 200
_MOST_SITES: Final = 8
"""Sites per signature; a program that seems to have more is not regular enough to tell."""


def told_apart(signed: Signed, lane_begin: Integers) -> list[Signed]:
    """A signature per site for calls without a line of source.

    Linear in the calls of a regular program; an irregular one is given up after 200
    comparisons a call.
    """
    uncertain = np.array([not _has_line(signature) for signature in signed.signatures])
    if not uncertain.any():
        return []
    found = (_folded(signed, lane_begin, uncertain, times) for times in _FIRST_TIMES)
    return [apart for apart in found if apart is not None]


def _folded(
    signed: Signed, lane_begin: Integers, uncertain: Mask, first_times: int
) -> Signed | None:
    count = len(signed.signatures)
    work = _WORK_PER_CALL * len(signed.of_call)
    site, symbol = _core.fold_sites(signed.of_call, lane_begin, count, first_times, work)
    if len(symbol) > _MOST_SITES * count:
        return None
    names = np.where(uncertain[signed.of_call], count + site, signed.of_call)
    of_call, keys = dense(names, count + len(symbol))
    if len(keys) == count:
        return None
    former = np.where(keys < count, keys, symbol[np.maximum(keys - count, 0)])
    return Signed(
        of_call.astype(np.int32),
        tuple(signed.signatures[number] for number in former.tolist()),
        signed.has_paths,
    )


def _has_line(signature: Signature) -> bool:
    return bool(signature.path) and signature.path[-1].line is not None
