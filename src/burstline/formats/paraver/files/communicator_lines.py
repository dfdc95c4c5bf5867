"""The communicator lines of a ``.prv``, right after its header or anywhere in the body.

::

    c:application:id:size:task:task:…          a communicator and its members, in its order
    i:application:id:group:leader:group:leader   an inter-communicator between two of them

An id of Extrae may stand for several communicators with the same ordered members. Applications
share ids, so a line may name tasks that its application does not have.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_GROUP = re.compile(rb"[cC]:(\d{1,9}):(\d{1,18}):(\d{1,9})((?::\d{1,9})*):?")
_INTER = re.compile(rb"[iI]:(\d{1,9}):(\d{1,18}):(\d{1,18}):(\d{1,9}):(\d{1,18}):(\d{1,9}):?")


@dataclass(frozen=True, slots=True, eq=False)
class Communicator:
    """A communicator line."""

    application: int  # its application, from 0
    source_id: int  # its id in the file
    # (members,) ranks of its members, from 0, in its order; empty for an inter-communicator
    members: npt.NDArray[np.int32]
    # ``group`` or ``inter``
    kind: str = "group"
    # of an inter-communicator: (id of a group, rank of its leader), twice
    sides: tuple[tuple[int, int], ...] = ()


def read_communicator(line: bytes) -> Communicator | None:
    """The communicator of a line, None if it is malformed; O(bytes), whatever it claims.

    >>> read_communicator(b"c:1:6:2:1:3").members.tolist()
    [0, 2]
    """
    text = line.strip(b" \t\r\n")
    if match := _GROUP.fullmatch(text):
        application, source_id, size = map(int, match.groups()[:3])
        members = np.fromstring(match[4][1:], np.int64, sep=":") if match[4] else np.empty(0)
        if application < 1 or size != len(members) or members.min(initial=1) < 1:
            return None
        return Communicator(application - 1, source_id, (members - 1).astype(np.int32))
    if match := _INTER.fullmatch(text):
        application, source_id, group, leader, other_group, other_leader = map(
            int, match.groups()
        )
        if application < 1 or leader < 1 or other_leader < 1:
            return None
        sides = ((group, leader - 1), (other_group, other_leader - 1))
        return Communicator(application - 1, source_id, np.empty(0, np.int32), "inter", sides)
    return None


def write_communicator(communicator: Communicator) -> bytes:
    """The line of a communicator, ended."""
    head = f"{communicator.application + 1}:{communicator.source_id}"
    if communicator.kind == "inter":
        sides = ":".join(f"{group}:{leader + 1}" for group, leader in communicator.sides)
        return f"i:{head}:{sides}\n".encode()
    members = (communicator.members.astype(np.int64) + 1).tolist()
    return (":".join([f"c:{head}:{len(members)}", *map(str, members)]) + "\n").encode()


def communicator_kind(members: npt.NDArray[np.int32], tasks: int) -> str:
    """The schema's kind of a group; any permutation of all tasks is a world."""
    if len(members) == tasks:
        return "world"
    return "self" if len(members) == 1 else "group"
