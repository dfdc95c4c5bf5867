"""The first line of a ``.prv``: applications, tasks, threads and nodes, and the unit of time.

::

    # Paraver (date):time:nodes(cpus,…):applications:tasks(threads:node,…),communicators

Numbers that claim the length of a list are checked and never allocated for. A malformed list
is an error, because nothing after it could be trusted; all else is a defect.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from burstline.columns import Integers, ordinal_within
from burstline.errors import FormatError, ParameterError, UnsupportedRecordError, printable
from burstline.formats.intake import Defects, Oddity
from burstline.formats.paraver.files.lines import decode

DATE_FORMAT: Final = "%d/%m/%Y at %H:%M"
"""The form of the date that every reader understands."""

MOST_THREADS: Final = 1 << 24
"""Threads a header may claim in all; more is taken for damage, not for a machine."""

_UNITS_NS = {b"ns": 1, b"us": 1_000, b"ms": 1_000_000}
_BOM = b"\xef\xbb\xbf"
_MAGIC = b"#Paraver"
_LARGEST_ID = 2**31 - 1
_SHOWN = 60
_FRONT = re.compile(
    rb"#paraver[^()]*\((?P<date>[^)]*)\).(?P<time>[^:]*):"
    rb"(?P<nodes>\d{1,18})(?:\((?P<cpus>(?:\d{1,9},)*\d{1,9})?\))?:"
    rb"(?P<applications>\d{1,18}):",
    re.IGNORECASE | re.DOTALL,
)
_APPLICATION = re.compile(rb"(\d{1,18})\(((?:\d{1,18}:\d{1,18},)*\d{1,18}:\d{1,18})\)")
_COUNT = re.compile(rb"(\d{1,18})(?=[,:]|$)")
_BEGIN = "a Paraver trace, which begins with '#Paraver ('"
_WAY_OUT = "Check that the first line of the file is whole, or merge the trace again"


def companion_paths(path: Path) -> tuple[Path, Path]:
    """The paths of the ``.pcf`` and ``.row`` beside a ``.prv`` or ``.prv.gz``."""
    stem = path.name.removesuffix(".gz").removesuffix(".prv")
    if not stem or path.name not in {f"{stem}.prv", f"{stem}.prv.gz"}:
        raise ParameterError(f"{path}: the name of a Paraver trace ends in .prv or .prv.gz")
    return path.with_name(f"{stem}.pcf"), path.with_name(f"{stem}.row")


def recognises(_path: Path, head: bytes) -> bool:
    """Whether a file that begins with `head`, inflated, is a Paraver trace."""
    text = head.removeprefix(_BOM).lower()
    return text.startswith((_MAGIC.lower(), b"new format"))


@dataclass(frozen=True, eq=False)
class Objects:
    """Applications, tasks and threads, all counted from 0; a location is a thread."""

    tasks: Integers  # of each application, at least one
    threads: npt.NDArray[np.int32]  # of each task, at least one
    nodes: npt.NDArray[np.int32]  # of each task, -1 if unknown

    @cached_property
    def application_of_task(self) -> npt.NDArray[np.int32]:
        """The application of each task."""
        return np.repeat(np.arange(len(self.tasks), dtype=np.int32), self.tasks)

    @cached_property
    def rank_of_task(self) -> npt.NDArray[np.int32]:
        """The rank of each task in its application."""
        return ordinal_within(self.application_of_task).astype(np.int32)

    @cached_property
    def process(self) -> npt.NDArray[np.int32]:
        """The task of each location."""
        return np.repeat(np.arange(len(self.threads), dtype=np.int32), self.threads)

    @cached_property
    def thread(self) -> npt.NDArray[np.int32]:
        """The thread of each location in its task."""
        return ordinal_within(self.process).astype(np.int32)

    @cached_property
    def application(self) -> npt.NDArray[np.int32]:
        """The application of each location."""
        return self.application_of_task[self.process]


@dataclass(frozen=True, slots=True, eq=False)
class Header:
    """The first line of a trace."""

    text: str
    date: str
    unit_ns: int  # nanoseconds in the unit of every time in the file
    claimed_duration: int | None  # in ns, perhaps too short; None if unreadable
    cpus_per_node: tuple[int, ...] | None  # None without a resource model
    objects: Objects
    communicators: int  # lines that are claimed to follow
    defects: tuple[Oddity, ...] = ()


def read_header(line: bytes, path: Path) -> Header:
    """The header in the first line of a trace; O(bytes), whatever it claims."""
    defects = Defects()
    body = line.rstrip(b" \t\r\n").removeprefix(_BOM)
    if line.startswith(_BOM):
        defects.note("header_bom", "info", "line 1 begins with a mark of byte order")
    front = _front_part(body, path)
    if not body.startswith(_MAGIC):
        defects.note("header_magic", "info", f"line 1: {_excerpt_of(body[:8])!r}")
    unit_ns, claimed = _end_time(front["time"], defects)
    objects, communicators = _read_applications(body, front.end(), path)
    lists = int(front["applications"])
    if lists != len(objects.tasks) or not lists:
        expected = f"{lists or 'some'} lists of tasks, one per application"
        raise _malformed_header(path, expected, str(len(objects.tasks)))
    cpus = _cpus_per_node(front, len(objects.threads), defects)
    if cpus is not None:
        unknown = (objects.nodes < 0) | (objects.nodes >= len(cpus))
        objects.nodes[unknown] = -1
        if unknown.any():
            text = f"line 1: tasks on nodes other than 1 to {len(cpus)}"
            defects.note("header_task_node", "info", text, int(unknown.sum()))
    return Header(
        text=decode(body)[0],
        date=decode(front["date"])[0],
        unit_ns=unit_ns,
        claimed_duration=claimed,
        cpus_per_node=cpus,
        objects=objects,
        communicators=communicators,
        defects=defects.rows(),
    )


def _front_part(body: bytes, path: Path) -> re.Match[bytes]:
    if body == b"new format":
        raise UnsupportedRecordError(
            path,
            1,
            expected="a Paraver trace of version 1",
            found="new format",
            way_out="The second version of the format is not read; write version 1",
        )
    if body[: len(_MAGIC)].lower() != _MAGIC.lower():
        expected, way_out = _BEGIN, "Give the .prv or .prv.gz file of a trace"
        raise FormatError(path, 1, expected=expected, found=_excerpt_of(body), way_out=way_out)
    front = _FRONT.match(body)
    if front is None:
        raise _malformed_header(
            path, "'#Paraver (date):time:nodes(cpus):applications:lists'", _excerpt_of(body)
        )
    return front


def _malformed_header(path: Path, expected: str, actual: str) -> FormatError:
    return FormatError(path, 1, expected=expected, found=actual, way_out=_WAY_OUT)


def _excerpt_of(text: bytes) -> str:
    """The first characters of what may be a picture or megabytes long, printable."""
    return printable(text[:_SHOWN].decode("ascii", "replace"))


def _end_time(time: bytes, defects: Defects) -> tuple[int, int | None]:
    """The unit of the end time and its value, both in ns; None if unreadable."""
    number, _, name = time.strip().partition(b"_")
    unit_ns = _UNITS_NS.get(name)
    if unit_ns is None:
        unit_text = f"the unit {_excerpt_of(name)!r}" if name else "no unit"
        defects.note("header_unit", "info", f"line 1: {unit_text}, read as microseconds")
        unit_ns = 1_000
    try:
        value = Decimal(number.decode("ascii")) if len(number) <= _SHOWN else Decimal("nan")
    except (InvalidOperation, UnicodeDecodeError):
        value = Decimal("nan")
    # adjusted() first: int() of 1e999999999 would be a number of a billion digits
    if not value.is_finite() or value < 0 or value.adjusted() > 18:
        claimed = None
    else:
        claimed = int(value * unit_ns)
    if claimed is None or claimed >= 2**63:
        defects.note("header_time", "info", f"line 1: end time {_excerpt_of(time)!r}")
        return unit_ns, None
    return unit_ns, claimed


def _read_applications(body: bytes, start: int, path: Path) -> tuple[Objects, int]:
    applications: list[npt.NDArray[np.int32]] = []
    communicators, threads = 0, 0
    count_may_follow = False
    position = start
    while position < len(body):
        if match := _APPLICATION.match(body, position):
            applications.append(_read_tasks(match, len(applications), path))
            threads += int(applications[-1][0].sum())
            count_may_follow = True
        elif count_may_follow and (match := _COUNT.match(body, position)):
            communicators += int(match[1])
            count_may_follow = False
        else:
            raise _malformed_header(
                path, "a list of tasks 'tasks(threads:node,…)'", _excerpt_of(body[position:])
            )
        position = match.end() + 1
        if body[position - 1 : position] not in {b",", b":", b""}:
            raise _malformed_header(
                path, "',' after a list of tasks", _excerpt_of(body[position - 1 :])
            )
    if threads > MOST_THREADS:
        raise _malformed_header(path, f"at most {MOST_THREADS} threads", str(threads))
    columns = np.concatenate([np.empty((2, 0), np.int32), *applications], axis=1)
    tasks = np.array([application.shape[1] for application in applications], np.int64)
    return Objects(tasks, *columns), communicators


def _read_tasks(match: re.Match[bytes], application: int, path: Path) -> npt.NDArray[np.int32]:
    """The threads and nodes of the tasks of an application, shape (2, tasks)."""
    numbers = np.fromstring(match[2].replace(b":", b","), np.int64, sep=",")
    threads, nodes = numbers[::2], numbers[1::2]
    if int(match[1]) != len(threads):
        expected = f"{int(match[1])} tasks in the list of application {application + 1}"
        raise _malformed_header(path, expected, str(len(threads)))
    if threads.min() < 1 or threads.max() > MOST_THREADS:
        wrong = int(((threads < 1) | (threads > MOST_THREADS)).argmax())
        expected = f"1 to {MOST_THREADS} threads in task {application + 1}.{wrong + 1}"
        raise _malformed_header(path, expected, str(threads[wrong]))
    is_node = (nodes >= 1) & (nodes <= _LARGEST_ID)
    return np.stack([threads, np.where(is_node, nodes - 1, -1)]).astype(np.int32)


def _cpus_per_node(
    front: re.Match[bytes], tasks: int, defects: Defects
) -> tuple[int, ...] | None:
    nodes = int(front["nodes"])
    if front["cpus"]:
        cpus = tuple(map(int, front["cpus"].split(b",")))
        if nodes != len(cpus):
            text = f"line 1: {nodes} nodes claimed, {len(cpus)} listed"
            defects.note("header_nodes", "info", text)
        return cpus
    if nodes == 0:
        return None
    if nodes > tasks:
        # without a list the number is a mere claim; no task needs more nodes than tasks
        text = f"line 1: {nodes} nodes claimed for {tasks} tasks"
        defects.note("header_nodes", "info", text)
    return (1,) * min(nodes, tasks)


def write_header(
    date: str,
    duration: int,
    cpus_per_node: Sequence[int] | None,
    objects: Objects,
    communicators: int,
) -> bytes:
    """The first line of a Paraver trace in nanoseconds, ended."""
    if cpus_per_node is not None and min(cpus_per_node, default=0) < 1:
        raise ParameterError("every node of a header needs at least one processor")
    resources = "0"
    if cpus_per_node is not None:
        resources = f"{len(cpus_per_node)}({','.join(map(str, cpus_per_node))})"
    nodes = np.maximum(objects.nodes + 1, 1).tolist()
    tasks = map("{}:{}".format, objects.threads.tolist(), nodes)
    lists = [f"{count}({','.join(islice(tasks, count))})" for count in objects.tasks.tolist()]
    head = f"#Paraver ({date}):{duration}_ns:{resources}:{len(lists)}"
    return f"{head}:{','.join(lists)},{communicators}\n".encode("ascii")
