"""The lines of a ``.prv`` that are neither header nor records: communicators and comments.

::

    c:application:id:size:task:task:…          a communicator and its members, in its order
    i:application:id:group:leader:group:leader   an inter-communicator between two of them

They stand right after the header or anywhere in the body. An id of Extrae may stand for several
communicators with the same ordered members. Applications share ids, so a line may name tasks
that its application does not have.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import numpy as np
import numpy.typing as npt

from burstline.model import Trace

_GROUP = re.compile(rb"[cC]:(\d{1,9}):(\d{1,18}):(\d{1,9})((?::\d{1,9})*):?")
_INTER = re.compile(rb"[iI]:(\d{1,9}):(\d{1,18}):(\d{1,18}):(\d{1,9}):(\d{1,18}):(\d{1,9}):?")
FACTS: Final = {
    "compiler": "# counted code is of ",
    "launcher": "# started by ",
    "binding": "# placed by ",
}
"""How comments begin that tell of the run what compiled the code that counts its work, what
started the program, and the variables that placed processes and threads."""
SILENT: Final = "# no thread is recorded of "
ONLY: Final = "# only recorded: ranks "
OTHERS: Final = "# members that were not recorded: "
OWN_IDS: Final = "# each communicator has an id of its own"
"""Not so in files of Extrae, where those with the same ordered members share one."""
_STAMP: Final = "%Y%m%d%H%M%S"


@dataclass(frozen=True, slots=True, eq=False)
class CommunicatorLine:
    """A communicator line."""

    application: int  # its application, from 0
    source_id: int  # its id in the file
    members: npt.NDArray[np.int32]  # their ranks, from 0, in its order
    # of an inter-communicator, which has no members: (id of a group, rank of its leader), twice
    sides: tuple[tuple[int, int], ...] = ()


def read_communicator(line: bytes) -> CommunicatorLine | None:
    """The communicator of a line, None if it is malformed; O(bytes), whatever it claims."""
    text = line.strip(b" \t\r\n")
    if match := _GROUP.fullmatch(text):
        application, source_id, size = map(int, match.groups()[:3])
        members = np.fromstring(match[4][1:], np.int64, sep=":") if match[4] else np.empty(0)
        if application < 1 or size != len(members) or members.min(initial=1) < 1:
            return None
        return CommunicatorLine(application - 1, source_id, (members - 1).astype(np.int32))
    if match := _INTER.fullmatch(text):
        application, source_id, group, leader, other_group, other_leader = map(
            int, match.groups()
        )
        if application < 1 or leader < 1 or other_leader < 1:
            return None
        sides = ((group, leader - 1), (other_group, other_leader - 1))
        return CommunicatorLine(application - 1, source_id, np.empty(0, np.int32), sides)
    return None


def write_communicator(communicator: CommunicatorLine) -> bytes:
    """The line of a communicator, ended."""
    head = f"{communicator.application + 1}:{communicator.source_id}"
    if communicator.sides:
        sides = ":".join(f"{group}:{leader + 1}" for group, leader in communicator.sides)
        return f"i:{head}:{sides}\n".encode()
    members = (communicator.members.astype(np.int64) + 1).tolist()
    return (":".join([f"c:{head}:{len(members)}", *map(str, members)]) + "\n").encode()


def now() -> datetime:
    """The local time."""
    return datetime.now().astimezone()


def comment(action: str, trace: Trace, *fields: object) -> str:
    """The line that says how a trace was derived from `trace`: ``#YYYYMMDDhhmmss:ACTION:…``."""
    origin = trace.metadata.get("path", "?").replace('"', "'")
    stamp = now().strftime(_STAMP)
    return ":".join([f"#{stamp}", action, "burstline", f'"{origin}"', *map(str, fields)])


def said_in(comments: Sequence[str], beginning: str) -> str | None:
    """The rest of the first comment that begins so; None if none does."""
    lines = (line for line in comments if line.startswith(beginning))
    return next((line.removeprefix(beginning).strip() for line in lines), None)


def size_in(comments: Sequence[str]) -> int | None:
    """How many ranks ran where only some were recorded."""
    found = re.match(r"[\d,-]+ of (\d{1,9})", said_in(comments, ONLY) or "")
    return int(found[1]) if found else None


def others_in(comments: Sequence[str]) -> dict[tuple[int, int], int]:
    """How many members of communicators were not recorded, by (application, id)."""
    text = said_in(comments, OTHERS) or ""
    found = re.findall(r"(\d{1,9}):(\d{1,18}):(\d{1,9})(?!\S)", text)
    return {(int(one[0]) - 1, int(one[1])): int(one[2]) for one in found}


def with_others(line: CommunicatorLine, count: int, tasks: int) -> CommunicatorLine:
    """A communicator and its members that are no tasks: they are numbered behind all tasks."""
    others = np.arange(tasks, tasks + count, dtype=np.int32)
    return replace(line, members=np.concatenate([line.members, others]))
