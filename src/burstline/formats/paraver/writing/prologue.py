"""The lines before the records of a ``.prv``: header, communicators, comments.

::

    locations, source lines, communicators  ->  #Paraver (…)…  c:…  #…
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.errors import printable
from burstline.formats.paraver.files.declarations import (
    COMPILER,
    Communicator,
    comment,
    compiler_in,
    now,
    read_communicator,
    write_communicator,
)
from burstline.formats.paraver.files.header import (
    DATE_FORMAT,
    ApplicationLayout,
    write_header,
)
from burstline.formats.paraver.writing.numbering import source_header, source_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from burstline.formats.paraver.writing.numbering import Numbering
    from burstline.trace import Trace

_DATE: Final = re.compile(r"[ -(*-~]{1,29}")


def prologue(trace: Trace, names: Numbering, end_ns: int) -> bytes:
    """The lines before the first record of a trace whose last moment is `end_ns`."""
    communicators = list(_communicators(trace, names))
    header = write_header(
        _date(trace), end_ns, names.cpus or None, _layouts(names), len(communicators)
    )
    comments = source_lines(trace, "comment")
    compiler = trace.metadata.get("compiler")
    if compiler and compiler_in(comments) is None:
        comments.append(f"{COMPILER}{printable(compiler, limit=1_000)}")
    if names.renumbered:
        comments.append(comment("RENUMBER", trace, "ids count what is left; see .row"))
    lines = [" ".join(line.splitlines()) for line in comments]
    return b"".join(
        [header, *map(write_communicator, communicators), *(f"{x}\n".encode() for x in lines)]
    )


def _date(trace: Trace) -> str:
    """The date of the source, if it is one that every reader accepts, else today's."""
    header = source_header(trace)
    if header is not None and _DATE.fullmatch(header.date):
        return header.date
    return now().strftime(DATE_FORMAT)


def _layouts(names: Numbering) -> list[ApplicationLayout]:
    layouts = []
    for application in range(1, int(names.application.max()) + 1):
        of_application = names.application == application
        task = names.task[of_application] - 1
        node = np.zeros(int(task.max()) + 1, np.int32)
        node[task] = names.node[of_application] - 1
        layouts.append(ApplicationLayout(np.bincount(task).astype(np.int32), node))
    return layouts


def _communicators(trace: Trace, names: Numbering) -> Iterator[Communicator]:
    """The communicators with those of their members that are left, by their new ids."""
    application, rank = trace.arrays("locations", "application", "rank")
    task = {
        (int(a), int(r)): int(t) - 1
        for a, r, t in zip(application, rank, names.task, strict=True)
    }
    number = {int(a): int(n) - 1 for a, n in zip(application, names.application, strict=True)}
    for communicator in _source_communicators(trace):
        members = [
            task.get((communicator.application, int(member))) for member in communicator.members
        ]
        left = [member for member in members if member is not None]
        is_whole = len(left) == len(members) and not (
            communicator.kind == "inter" and names.renumbered
        )
        if communicator.application in number and (is_whole or left):
            yield Communicator(
                number[communicator.application],
                communicator.source_id,
                np.array(left, np.int32),
                communicator.kind,
                communicator.sides,
            )


def _source_communicators(trace: Trace) -> Iterator[Communicator]:
    lines = source_lines(trace, "communicator")
    if lines:
        yield from filter(None, (read_communicator(line.encode()) for line in lines))
        return
    for row in trace.communicators.to_pylist():
        members = np.array(row["members"], np.int32)
        if row["kind"] != "inter":
            yield Communicator(row["application"], row["source_id"], members)
