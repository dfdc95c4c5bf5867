"""Whatever an archive defines and its events say, it is read or refused by name.

Run by ``make fuzz``; needs atheris. The library is not the target: it runs in a child. What
comes out of the child is: the first byte says whether the rest are rows of definitions, or
changes to an archive that was fine.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

with atheris.instrument_imports(include=["burstline"]):
    import numpy as np

    from burstline.errors import BurstlineError
    from burstline.formats.intake.defects import Defects
    from burstline.formats.otf2 import read as read_otf2
    from burstline.formats.otf2.reading.archive import decode
    from burstline.formats.otf2.reading.basis import ArchiveCommunicators, standing
    from burstline.formats.otf2.reading.metrics import Metrics
    from burstline.formats.otf2.reading.regions import ArchiveRegions
    from burstline.model import schema

from otf2_archives import archive, team_of_two

_CHANGE = 4
_LENGTHS = (1, 3, 3, 3, 4, 4, 5, 8, 5, 8, 2, 5, 4, 5, 3, 3, 3, 4, 3, 2)  # by kind
_LISTS = (8, 10)


def sound_archive(folder: Path) -> dict[str, bytes]:
    """Write an archive with teams and messages; give its files by name."""
    with archive(folder, 2, 2) as made:
        for rank in range(2):
            team_of_two(made, rank)
            send = ("mpi_send", 101, 1 - rank, made.world, 1, 8)
            receive = ("mpi_recv", 102, 1 - rank, made.world, 1, 8)
            made.thread(rank).region("MPI_Sendrecv", 100, 110, send, receive)
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


with tempfile.TemporaryDirectory() as made_in:
    _SOUND = sound_archive(Path(made_in) / "run")


def check_definitions(data: bytes) -> None:
    """Make places, communicators, regions and metrics of any rows."""
    numbers = np.frombuffer(data[: len(data) // 2 * 2], np.int16).tolist()
    rows: list[int] = []
    while len(numbers) > 1:
        kind = numbers[0] % len(_LENGTHS)
        length = _LENGTHS[kind] + (numbers[1] % 8 if kind in _LISTS else 0)
        row = numbers[2 : 2 + length]
        rows += [kind, length, *row, *[0] * (length - len(row))]
        numbers = numbers[2 + length :]
    odd = Defects()
    defined = decode(np.array(rows, np.int64), np.frombuffer(data, np.int8), odd)
    if not defined.locations:
        return
    where = standing(defined, odd)
    ArchiveCommunicators(defined, where).table()
    Metrics(defined).table()
    ArchiveRegions(defined).table()


def check_changes(data: bytes) -> None:
    """Change bytes of a sound archive, and read it."""
    files = {name: bytearray(content) for name, content in _SOUND.items()}
    names = sorted(files)
    for start in range(0, len(data) - _CHANGE + 1, _CHANGE):
        which, high, low, value = data[start : start + _CHANGE]
        content = files[names[which % len(names)]]
        if content:
            content[(high << 8 | low) % len(content)] = value
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            target = Path(folder) / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        try:
            trace = read_otf2(Path(folder), threads=1)
        except BurstlineError:
            return
    for name in schema.TABLES:
        schema.check(name, trace.table(name))


def check(data: bytes) -> None:
    """Check one input."""
    (check_definitions if data[:1] == b"d" else check_changes)(data[1:])


if __name__ == "__main__":
    atheris.Setup(sys.argv, check)
    atheris.Fuzz()
