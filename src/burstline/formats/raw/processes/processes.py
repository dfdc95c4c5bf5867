"""Which files belong to one process, what its numbers mean, and its place in the run.

::

    files --(host, pid)--> processes, definitions --rank--> (application, rank) --> locations

Definitions are few; each is a record and those that continue it. Claimed sizes are only
ever compared with what follows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.formats.intake import Defects, Placement
from burstline.formats.raw.files.folder import RawFile
from burstline.formats.raw.files.layout import (
    MOST_RANKS,
    CommunicatorKind,
    Ending,
    Kind,
    Named,
    table_of,
)
from burstline.formats.raw.processes.python_code import CodeObject
from burstline.model import CHOSEN_RANKS, SILENT_THREADS, UNREAD_PYTHON, row_table

_Record: TypeAlias = Any  # numpy has no type of one row

_MOST_THREADS: Final = 1 << 20
_CONTINUED_BY: Final[dict[int, Kind]] = {
    Kind.COMMUNICATOR: Kind.MEMBERS,
    Kind.STACK: Kind.FRAMES,
    Kind.MODULE: Kind.TEXT,
    Kind.COUNTER: Kind.TEXT,
    Kind.NAME: Kind.TEXT,
    Kind.CODE: Kind.TEXT,
}
_DEFINING: Final = table_of([Kind.RANK, *_CONTINUED_BY])
_TEXT_BYTES: Final = np.r_[0:8, 12:32]
_RANK_WORDS: Final = np.array([3, 0, 1, 4, 5, 6, 7])
_MODULE_SHIFT: Final = 48
_OFFSET: Final = (1 << _MODULE_SHIFT) - 1
_LARGEST_LINE: Final = 2**31 - 1


class DefinedCommunicator(NamedTuple):
    """A communicator as one process defines it."""

    kind: int  # A :class:`~burstline.formats.raw.files.layout.CommunicatorKind`, if it is known
    name: int  # equal on all members
    members: tuple[int, ...]  # world ranks in its order


class Counter(NamedTuple):
    """A counter: its name, and whether it counts nanoseconds."""

    name: str
    is_time: bool


class Name(NamedTuple):
    """The name of a region or event type; the file and line of a loop."""

    text: str
    line: int | None


@dataclass(slots=True)
class ProcessDefinitions:
    """What the threads of one process defined."""

    # its world rank and the ranks of its world; -1 and 0 if it never said
    rank: int = -1
    size: int = 0
    thread_level: int = 0  # the level of thread support, as MPI numbers it
    # by id. A stack is (module, offset) of each frame, innermost first.
    communicators: dict[int, DefinedCommunicator] = field(default_factory=dict)
    stacks: dict[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    sampled: set[int] = field(default_factory=set)  # the stacks that samples defined
    modules: dict[int, str] = field(default_factory=dict)
    counters: dict[int, Counter] = field(default_factory=dict)
    # by what has the name (:class:`~burstline.formats.raw.files.layout.Named`), then by id
    names: dict[int, dict[int, Name]] = field(default_factory=lambda: {n: {} for n in Named})
    functions: dict[int, tuple[int, int]] = field(default_factory=dict)  # (module, offset)
    codes: dict[int, CodeObject] = field(default_factory=dict)  # of Python


@dataclass(slots=True, eq=False)
class RecordedProcess:
    """A process of the run."""

    files: list[RawFile]  # what its threads wrote, by thread
    threads: list[int]  # their numbers
    defined: ProcessDefinitions  # what its ids mean
    # its place in the run
    application: int = 0
    rank: int = -1

    @property
    def host(self) -> str:
        """Name of the node it ran on."""
        return self.files[0].host

    @property
    def start_ns(self) -> int:
        """When its first file was opened, by its clock."""
        return min(file.start_ns for file in self.files)


def find_processes(files: Sequence[RawFile], defects: Defects) -> list[RecordedProcess]:
    """Put files together to processes, in the order of application and rank."""

    def key(file: RawFile) -> tuple[str, int]:
        return file.host, file.pid

    processes = []
    for _, group in groupby(sorted(files, key=key), key=key):
        threads = sorted(group, key=lambda file: (file.thread, file.start_ns, file.path.name))
        claimed = [file.thread for file in threads]
        sane = len(set(claimed)) == len(claimed) and max(claimed) < _MOST_THREADS
        numbers = claimed if sane else list(range(len(claimed)))
        process = RecordedProcess(threads, numbers, _read_definitions(threads, defects))
        if process.defined.rank < 0 and not any(f.outline.has_events for f in threads):
            defects.note("process_without_mpi", "info", threads[0].path.name)
            continue
        processes.append(process)
    _assign_places(processes, defects)
    processes.sort(key=lambda process: (process.application, process.rank))
    _note_ends(processes, defects)
    _note_compilers(processes, defects)
    _note_unseen(processes, defects)
    return processes


def compilers_of(processes: Iterable[RecordedProcess]) -> list[str]:
    """Name the compilers that made counted code, each once."""
    names = [process.defined.names[Named.COMPILER].values() for process in processes]
    return list(dict.fromkeys(name.text for each in names for name in each))


def _assign_places(processes: list[RecordedProcess], defects: Defects) -> None:
    taken: set[tuple[int, int]] = set()
    nameless = []
    for process in sorted(processes, key=lambda process: (process.start_ns, process.host)):
        rank = process.defined.rank
        if rank < 0:
            nameless.append(process)
            continue
        while (process.application, rank) in taken:
            process.application += 1
        process.rank = rank
        taken.add((process.application, rank))
        if process.application:
            name = process.files[0].path.name
            defects.note("rank_claimed_again", "info", f"{name}: rank {rank}")
    free = 0
    for process in nameless:
        while (0, free) in taken:
            free += 1
        process.rank = free
        taken.add((0, free))
        name = process.files[0].path.name
        defects.note("process_without_rank", "loss", f"{name}: taken for rank {free}")
    sizes: dict[int, int] = {}
    for process in processes:
        size = max(sizes.get(process.application, 0), process.defined.size)
        sizes[process.application] = size
    chosen = next(filter(None, map(chosen_ranks, processes)), None)
    _note_missing(sizes, taken, chosen, defects)


def _note_missing(
    sizes: Mapping[int, int],
    taken: Collection[tuple[int, int]],
    chosen: str | None,
    defects: Defects,
) -> None:
    """Note ranks that left nothing, and those that were to leave nothing."""
    for application, size in sizes.items():
        present = {rank for of, rank in taken if of == application and rank < size}
        wanted = range(size) if chosen is None else _numbers(chosen, size)
        of_another = f", application {application}" * (application > 0)
        if missing := [rank for rank in wanted if rank not in present]:
            place = f"rank {missing[0]} of {size}{of_another}"
            defects.note("rank_missing", "loss", place, len(missing))
        if len(wanted) < size:
            text = f"{chosen} of {size}{of_another}"
            defects.note(CHOSEN_RANKS, "info", text, size - len(wanted))


def chosen_ranks(process: RecordedProcess) -> str | None:
    """The ranks that were to be recorded, as ``0,4-7``; None if all were."""
    return next((name.text for name in process.defined.names[Named.RANKS].values()), None)


def _numbers(chosen: str, size: int) -> list[int]:
    """The ranks below `size` that a list names, each once; none of what is no list."""
    spans = (re.fullmatch(r"(\d{1,10})(?:-(\d{1,10}))?", part) for part in chosen.split(","))
    found = (range(int(s[1]), min(int(s[2] or s[1]) + 1, size)) for s in spans if s is not None)
    return sorted({rank for span in found for rank in span})


def _note_compilers(processes: Sequence[RecordedProcess], defects: Defects) -> None:
    """Note code that different compilers made: its counts cannot be compared."""
    names = compilers_of(processes)
    if len(names) > 1:
        defects.note("several_compilers", "info", "; ".join(names), len(names))


def _note_unseen(processes: Sequence[RecordedProcess], defects: Defects) -> None:
    """Note libraries of OpenMP without news of threads, and Pythons that cannot be read."""
    kinds = {Named.SILENT: SILENT_THREADS, Named.UNREAD: UNREAD_PYTHON}
    for process in processes:
        for space, kind in kinds.items():
            for name in process.defined.names[space].values():
                defects.note(kind, "info", name.text)


def _note_ends(processes: Sequence[RecordedProcess], defects: Defects) -> None:
    for process in processes:
        name = process.files[0].path.name
        ends = [
            file.records[at]
            for file in process.files
            for at in file.outline.of(Kind.LEFT)[-1:].tolist()
        ]
        if not ends:
            defects.note("process_without_end", "loss", f"rank {process.rank}, {name}")
        for end in ends:
            if end["op"] == Ending.ABORT:
                defects.note("process_aborted", "info", f"rank {process.rank}, {name}")
            elif end["op"] == Ending.SIGNAL:
                text = f"rank {process.rank}, {name}: signal {end['a']}"
                defects.note("process_killed", "info", text)


def places_of(processes: Sequence[RecordedProcess], accuracy_ns: int) -> Placement:
    """The places of processes in their order."""
    threads = [len(process.files) for process in processes]
    return Placement(
        np.repeat(np.arange(len(processes)), threads).astype(np.int64),
        np.array([process.application for process in processes], np.int64),
        np.array([process.rank for process in processes], np.int64),
        accuracy_ns,
        is_part=any(map(chosen_ranks, processes)),
    )


def location_table(
    processes: Sequence[RecordedProcess], lives: Sequence[tuple[int, int]]
) -> pa.Table:
    """The table `locations`."""
    threads = [
        (process.application, number, process.rank, thread, "cpu", process.host or None)
        for number, process in enumerate(processes)
        for thread in process.threads
    ]
    rows = []
    for row, (ids, life) in enumerate(zip(threads, lives, strict=True)):
        name = f"THREAD {ids[0] + 1}.{ids[2] + 1}.{ids[3] + 1}"
        rows.append((row, *ids, *life, name, None))
    return row_table("locations", rows)


def _read_definitions(files: Sequence[RawFile], defects: Defects) -> ProcessDefinitions:
    """The definitions of the threads of one process; the first of an id counts."""
    defined = ProcessDefinitions()
    for file in files:
        rare, kind = file.outline.rows, file.outline.kinds
        breaks = (np.diff(kind) != 0) | (np.diff(rare) != 1)
        borders = np.append(np.flatnonzero(breaks) + 1, len(kind))
        at = np.flatnonzero(_DEFINING[kind])
        last = borders[np.minimum(np.searchsorted(borders, at + 1, "right"), len(borders) - 1)]
        after = np.append(kind, 0)[at + 1]
        after[np.append(rare, 0)[at + 1] != rare[at] + 1] = 0
        for row, end, follows in zip(
            rare[at].tolist(), (last - at).tolist(), after.tolist(), strict=True
        ):
            record = file.records[row]
            wanted = _CONTINUED_BY.get(int(record["kind"]))
            rest = file.records[row + 1 : row + (end if follows == wanted else 1)]
            if not _DEFINE[int(record["kind"])](defined, record, rest):
                place = f"{file.path.name}: kind {record['kind']}, record {row}"
                defects.note("incomplete_definition", "loss", place)
    return defined


def _define_rank(defined: ProcessDefinitions, record: _Record, _: npt.NDArray[Any]) -> bool:
    rank, size = int(record["a"]), int(record["b"])
    if not rank < size <= MOST_RANKS:
        return False
    if defined.rank < 0:
        defined.rank, defined.size = rank, size
        defined.thread_level = int(record["c"]) & 0xFF
    return True


def _define_communicator(
    defined: ProcessDefinitions, record: _Record, rest: npt.NDArray[Any]
) -> bool:
    words = np.ascontiguousarray(rest).view(np.int32).reshape(-1, 8)
    listed = words[:, _RANK_WORDS].ravel()[: min(int(record["c"]), 7 * len(rest))]
    ranks = listed[(listed >= 0) & (listed < MOST_RANKS)].tolist()
    members = tuple(dict.fromkeys(ranks))
    communicator = DefinedCommunicator(int(record["op"]), int(record["b"]), members)
    defined.communicators.setdefault(int(record["a"]), communicator)
    return len(listed) == int(record["c"])


def _define_stack(defined: ProcessDefinitions, record: _Record, rest: npt.NDArray[Any]) -> bool:
    frames = np.stack([rest["b"], rest["c"]], axis=1).ravel()
    claimed = int(record["c"])
    frames = frames[: min(claimed, len(frames))]
    place = [(frame >> _MODULE_SHIFT, frame & _OFFSET) for frame in frames.tolist() if frame]
    number = int(record["a"])
    if number not in defined.stacks and record["op"]:
        defined.sampled.add(number)
    defined.stacks.setdefault(number, tuple(place))
    return len(frames) == claimed


def _define_text(defined: ProcessDefinitions, record: _Record, rest: npt.NDArray[Any]) -> bool:
    data = np.ascontiguousarray(rest).view(np.uint8).reshape(-1, 32)[:, _TEXT_BYTES]
    used = np.arange(len(_TEXT_BYTES)) < rest["op"][:, np.newaxis]
    kind, op, number, line, claimed = (int(record[name]) for name in ("kind", "op", *"abc"))
    if kind == Kind.NAME and op == Named.FUNCTION:
        defined.functions.setdefault(number, (line >> _MODULE_SHIFT, line & _OFFSET))
        return True
    content = data[used].tobytes()[: min(claimed, data.size)]
    if kind == Kind.CODE:
        code = defined.codes.setdefault(number, CodeObject(min(line, _LARGEST_LINE)))
        code.parts.setdefault(op, content)
        return len(content) == claimed
    text = content.decode("utf-8", "replace").replace("\0", "")
    if kind == Kind.MODULE:
        defined.modules.setdefault(number, text)
    elif kind == Kind.COUNTER:
        counter = Counter("_".join(text.split()) or f"counter_{number}", op == 1)
        defined.counters.setdefault(number, counter)
    else:
        name = Name(text, line if 0 < line <= _LARGEST_LINE else None)
        defined.names.setdefault(op, {}).setdefault(number, name)
    return len(content) == claimed


_DEFINE: Final[dict[int, Callable[[ProcessDefinitions, _Record, npt.NDArray[Any]], bool]]] = {
    Kind.RANK: _define_rank,
    Kind.COMMUNICATOR: _define_communicator,
    Kind.STACK: _define_stack,
    Kind.MODULE: _define_text,
    Kind.COUNTER: _define_text,
    Kind.NAME: _define_text,
    Kind.CODE: _define_text,
}


_KINDS: Final[dict[int, str]] = {
    CommunicatorKind.WORLD: "world",
    CommunicatorKind.SELF: "self",
    CommunicatorKind.INTRA: "group",
    CommunicatorKind.INTER: "inter",
}


class RunCommunicators:
    """The communicators of a run: the members of each row, the row of each process's ids."""

    def __init__(self, processes: Sequence[RecordedProcess], defects: Defects) -> None:
        self.members: list[tuple[int, ...]] = []
        self._row_of: dict[tuple[int, int, int], int] = {}  # application, kind and name
        self.rows: list[dict[int, int]] = []
        self._add_worlds(processes)
        for process in processes:
            rows = {}
            for number, (kind, name, members) in process.defined.communicators.items():
                is_world = kind == CommunicatorKind.WORLD
                key = (process.application, kind, 0 if is_world else name)
                row = self._row_of.get(key)
                if row is None:
                    row = self._add(key, members)
                elif self.members[row] != members:
                    text = f"rank {process.rank}, communicator {number}"
                    defects.note("communicator_disagrees", "loss", text)
                rows[number] = row
            self.rows.append(rows)

    def _add(self, key: tuple[int, int, int], members: tuple[int, ...]) -> int:
        self._row_of[key] = len(self.members)
        self.members.append(members)
        return self._row_of[key]

    def _add_worlds(self, processes: Sequence[RecordedProcess]) -> None:
        """Add the world of every application, whether a process used it or not."""
        worlds: dict[int, tuple[int, ...]] = {}
        for process in processes:
            claims = [
                communicator.members
                for communicator in process.defined.communicators.values()
                if communicator.kind == CommunicatorKind.WORLD
            ]
            members = max(claims, key=len, default=tuple(range(process.defined.size)))
            longest = worlds.get(process.application, ())
            worlds[process.application] = max(longest, members, key=len)
        for application, members in sorted(worlds.items()):
            ranks = sorted(p.rank for p in processes if p.application == application)
            self._add((application, CommunicatorKind.WORLD, 0), members or tuple(ranks))

    def table(self) -> pa.Table:
        """The table `communicators`."""
        rows = (
            (row, application, _KINDS.get(kind, "unknown"), self.members[row], False, row + 1)
            for (application, kind, _), row in self._row_of.items()
        )
        return row_table("communicators", rows)
