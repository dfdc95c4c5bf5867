"""The first line of a ``.prv``: applications, tasks, threads and nodes, and the unit of time.

::

    # Paraver (date):time:nodes(cpus,…):applications:tasks(threads:node,…),communicators

Numbers that claim the length of a list are checked and never allocated for. A malformed list
is an error, because nothing after it could be trusted; all else is a defect.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.errors import FormatError, ParameterError, UnsupportedRecordError, printable
from burstline.formats.intake import Defect
from burstline.formats.paraver.files.lines import decode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy.typing as npt

DATE_FORMAT: Final = "%d/%m/%Y at %H:%M"
"""How :meth:`datetime.datetime.strftime` writes the date that every reader understands."""

MOST_THREADS: Final = 1 << 24
"""Threads a header may claim in all; more is taken for damage, not for a machine."""

UNITS_NS: Final = {"ns": 1, "us": 1_000, "ms": 1_000_000}
"""Nanoseconds in each unit of time."""

_BOM = b"\xef\xbb\xbf"
_MAGIC = b"#Paraver"
_LONGEST_DATE = 29
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
_WAY_OUT = "Check that the first line of the file is whole, or merge the trace again"


def recognises(_path: Path, head: bytes) -> bool:
    """Whether a file that begins with `head`, inflated, is a Paraver trace."""
    text = head.removeprefix(_BOM).lower()
    return text.startswith((_MAGIC.lower(), b"new format"))


@dataclass(frozen=True, slots=True, eq=False)
class ApplicationLayout:
    """The tasks of one application: threads of each, at least 1; node from 0, -1 if unknown."""

    threads: npt.NDArray[np.int32]
    nodes: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Header:
    """The first line of a trace."""

    text: str
    date: str
    unit: str  # of every time in the file
    unit_ns: int
    claimed_duration: int | None  # in ns, perhaps too short; None if unreadable
    cpus_per_node: tuple[int, ...] | None  # None without a resource model
    applications: tuple[ApplicationLayout, ...]  # at least one
    communicators: int  # lines that are claimed to follow
    defects: tuple[Defect, ...] = ()


def read_header(line: bytes, path: Path) -> Header:
    """The header in the first line of a trace; O(bytes), whatever it claims.

    >>> from pathlib import Path
    >>> header = read_header(b"#Paraver (1/1/24 at 10:00):5_us:0:1:2(1:1,3:1)", Path("t.prv"))
    >>> header.claimed_duration, header.applications[0].threads.tolist()
    (5000, [1, 3])
    """
    defects: list[Defect] = []
    body = line.rstrip(b" \t\r\n").removeprefix(_BOM)
    if line.startswith(_BOM):
        defects.append(Defect("header_bom", "info", "line 1 begins with a mark of byte order"))
    front = _front(body, path)
    if not body.startswith(_MAGIC):
        defects.append(Defect("header_magic", "info", f"line 1: {_shown(body[:8])!r}"))
    unit, claimed = _duration(front["time"], defects)
    applications, communicators = _read_applications(body, front.end(), path)
    claimed_applications = int(front["applications"])
    if claimed_applications != len(applications):
        expected = f"{claimed_applications} lists of tasks, one per application"
        raise _malformed(path, expected, str(len(applications)))
    tasks = sum(len(application.threads) for application in applications)
    cpus = _cpus_per_node(front, tasks, defects)
    if cpus is not None:
        applications = _known_nodes(applications, len(cpus), defects)
    return Header(
        text=decode(body)[0],
        date=decode(front["date"])[0],
        unit=unit,
        unit_ns=UNITS_NS[unit],
        claimed_duration=claimed,
        cpus_per_node=cpus,
        applications=tuple(applications),
        communicators=communicators,
        defects=tuple(defects),
    )


def _front(body: bytes, path: Path) -> re.Match[bytes]:
    if body == b"new format":
        raise UnsupportedRecordError(
            path,
            1,
            expected="a Paraver trace of version 1",
            found="new format",
            way_out="The second version of the format is not read; write version 1",
        )
    if body[: len(_MAGIC)].lower() != _MAGIC.lower():
        raise FormatError(
            path,
            1,
            expected="a Paraver trace, which begins with '#Paraver ('",
            found=_shown(body),
            way_out="Give the .prv or .prv.gz file of a trace",
        )
    front = _FRONT.match(body)
    if front is None:
        raise _malformed(
            path, "'#Paraver (date):time:nodes(cpus):applications:lists'", _shown(body)
        )
    return front


def _malformed(path: Path, expected: str, actual: str) -> FormatError:
    return FormatError(path, 1, expected=expected, found=actual, way_out=_WAY_OUT)


def _shown(text: bytes) -> str:
    """The first characters of what may be a picture or megabytes long, printable."""
    return printable(text[:_SHOWN].decode("ascii", "replace"))


def _duration(time: bytes, defects: list[Defect]) -> tuple[str, int | None]:
    """The unit of the end time, and its value in ns; None if unreadable."""
    number, _, name = time.strip().partition(b"_")
    unit = name.decode("latin-1")
    if unit not in UNITS_NS:
        unit_text = f"the unit {_shown(name)!r}" if name else "no unit"
        defects.append(
            Defect("header_unit", "info", f"line 1: {unit_text}, read as microseconds")
        )
        unit = "us"
    try:
        value = Decimal(number.decode("ascii")) if len(number) <= _SHOWN else Decimal("nan")
    except (InvalidOperation, UnicodeDecodeError):
        value = Decimal("nan")
    # adjusted() first: int() of 1e999999999 would be a number of a billion digits
    if not value.is_finite() or value < 0 or value.adjusted() > 18:
        claimed = None
    else:
        claimed = int(value * UNITS_NS[unit])
    if claimed is None or claimed >= 2**63:
        defects.append(Defect("header_time", "info", f"line 1: end time {_shown(time)!r}"))
        return unit, None
    return unit, claimed


def _read_applications(
    body: bytes, start: int, path: Path
) -> tuple[list[ApplicationLayout], int]:
    applications: list[ApplicationLayout] = []
    communicators, threads = 0, 0
    count_may_follow = False
    position = start
    while position < len(body):
        if match := _APPLICATION.match(body, position):
            applications.append(_read_tasks(match, len(applications), path))
            threads += int(applications[-1].threads.sum(dtype=np.int64))
            count_may_follow = True
        elif count_may_follow and (match := _COUNT.match(body, position)):
            communicators += int(match[1])
            count_may_follow = False
        else:
            raise _malformed(
                path, "a list of tasks 'tasks(threads:node,…)'", _shown(body[position:])
            )
        position = match.end() + 1
        if body[position - 1 : position] not in {b",", b":", b""}:
            raise _malformed(path, "',' after a list of tasks", _shown(body[position - 1 :]))
    if threads > MOST_THREADS:
        raise _malformed(path, f"at most {MOST_THREADS} threads", str(threads))
    return applications, communicators


def _read_tasks(match: re.Match[bytes], application: int, path: Path) -> ApplicationLayout:
    numbers = np.fromstring(match[2].replace(b":", b","), np.int64, sep=",")
    threads, nodes = numbers[::2], numbers[1::2]
    if int(match[1]) != len(threads):
        expected = f"{int(match[1])} tasks in the list of application {application + 1}"
        raise _malformed(path, expected, str(len(threads)))
    if threads.min() < 1 or threads.max() > MOST_THREADS:
        wrong = int(((threads < 1) | (threads > MOST_THREADS)).argmax())
        expected = f"1 to {MOST_THREADS} threads in task {application + 1}.{wrong + 1}"
        raise _malformed(path, expected, str(threads[wrong]))
    is_node = (nodes >= 1) & (nodes <= _LARGEST_ID)
    return ApplicationLayout(
        threads.astype(np.int32), np.where(is_node, nodes - 1, -1).astype(np.int32)
    )


def _cpus_per_node(
    front: re.Match[bytes], tasks: int, defects: list[Defect]
) -> tuple[int, ...] | None:
    nodes = int(front["nodes"])
    if front["cpus"]:
        cpus = tuple(map(int, front["cpus"].split(b",")))
        if nodes != len(cpus):
            text = f"line 1: {nodes} nodes claimed, {len(cpus)} listed"
            defects.append(Defect("header_nodes", "info", text))
        return cpus
    if nodes == 0:
        return None
    if nodes > tasks:
        # without a list the number is a mere claim; no task needs more nodes than tasks
        text = f"line 1: {nodes} nodes claimed for {tasks} tasks"
        defects.append(Defect("header_nodes", "info", text))
    return (1,) * min(nodes, tasks)


def _known_nodes(
    applications: list[ApplicationLayout], nodes: int, defects: list[Defect]
) -> list[ApplicationLayout]:
    """The applications, with -1 for nodes that the resource model does not have."""
    layouts, strange = [], 0
    for application in applications:
        unknown = (application.nodes < 0) | (application.nodes >= nodes)
        strange += int(unknown.sum())
        where = np.where(unknown, np.int32(-1), application.nodes)
        layouts.append(ApplicationLayout(application.threads, where))
    if strange:
        text = f"line 1: tasks on nodes other than 1 to {nodes}"
        defects.append(Defect("header_task_node", "info", text, strange))
    return layouts


def write_header(
    date: str,
    duration: int,
    cpus_per_node: Sequence[int] | None,
    applications: Sequence[ApplicationLayout],
    communicators: int,
) -> bytes:
    r"""The first line of a Paraver trace in nanoseconds, ended.

    >>> layout = ApplicationLayout(np.array([1, 3], np.int32), np.array([0, 0], np.int32))
    >>> write_header("02/01/2024 at 10:00", 5000, (4,), [layout], 3)
    b'#Paraver (02/01/2024 at 10:00):5000_ns:1(4):1:2(1:1,3:1),3\n'
    """
    _check_header(date, duration, cpus_per_node, applications, communicators)
    if cpus_per_node is None:
        resources = "0"
    else:
        resources = f"{len(cpus_per_node)}({','.join(map(str, cpus_per_node))})"
    lists = ",".join(_written_tasks(application) for application in applications)
    head = f"#Paraver ({date}):{duration}_ns:{resources}:{len(applications)}"
    return f"{head}:{lists},{communicators}\n".encode("ascii")


def _written_tasks(application: ApplicationLayout) -> str:
    threads = application.threads.tolist()
    nodes = np.maximum(application.nodes + 1, 1).tolist()
    return f"{len(threads)}({','.join(map('{}:{}'.format, threads, nodes))})"


def _check_header(
    date: str,
    duration: int,
    cpus_per_node: Sequence[int] | None,
    applications: Sequence[ApplicationLayout],
    communicators: int,
) -> None:
    """Raise ParameterError if Paraver would refuse the line or misread it."""
    if len(date) > _LONGEST_DATE or not date.isprintable() or not date.isascii() or ")" in date:
        raise ParameterError(
            f"the date of a header is at most {_LONGEST_DATE} plain characters without ')', "
            f"got {printable(date)!r}"
        )
    if duration < 0 or communicators < 0:
        raise ParameterError("a header's end time and count of communicators are not negative")
    if not applications:
        raise ParameterError("a header needs at least one application")
    if cpus_per_node is not None and (not cpus_per_node or min(cpus_per_node) < 1):
        raise ParameterError("every node of a header needs at least one processor")
    nodes = None if cpus_per_node is None else len(cpus_per_node)
    for number, application in enumerate(applications):
        if not len(application.threads) or application.threads.min() < 1:
            raise ParameterError(
                f"application {number} needs at least one task, and each task a thread"
            )
        if (
            nodes is not None
            and not 0 <= application.nodes.min() <= application.nodes.max() < nodes
        ):
            raise ParameterError(
                f"application {number} has tasks on nodes other than 0 to {nodes - 1}. "
                "Write it without a resource model: cpus_per_node=None"
            )
