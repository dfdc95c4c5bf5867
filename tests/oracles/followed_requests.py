"""Requests by handle, looked for one after the other: the twin of ``followed.c``."""

from __future__ import annotations

from typing import NamedTuple


class Followed(NamedTuple):
    """A request that is followed."""

    owner: int
    handle: int
    where: int  # 0: unknown
    is_message: int
    number: int


def taken(requests: list[Followed], sought: Followed) -> int:
    """Remove and number the request that a completion is of, 0 if there is none."""
    same = [
        other
        for other in requests
        if (other.handle, other.is_message) == (sought.handle, sought.is_message)
    ]
    own = [other for other in same if other.owner == sought.owner]
    there = [other for other in own if sought.where and other.where == sought.where]
    found = there[-1:] or own[:1] or same[:1]
    for request in found:
        requests.remove(request)
        return request.number
    return 0
