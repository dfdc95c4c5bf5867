"""A text becomes a trace: one in memory, or one in a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from burstline.errors import FormatError
from burstline.formats.intake import Tables, hold
from burstline.formats.text.reading.source import TextSource
from burstline.progress import SILENCE

if TYPE_CHECKING:
    from burstline.progress import Progress
    from burstline.trace import Trace


_FIRST_STATEMENT = re.compile(rb"(?:\s|#[^\n]*\n)*(?:ranks|application)[ \t]+[0-9]")
_NAME: Final = "<text>"


def recognises(_path: Path, head: bytes) -> bool:
    r"""Whether a file that begins with `head` holds a trace as text: it declares ranks first.

    >>> from pathlib import Path
    >>> heads = b"# two ranks\nranks 2\n", b"#Paraver ("
    >>> [recognises(Path("run"), head) for head in heads]
    [True, False]
    """
    return _FIRST_STATEMENT.match(head) is not None


def read(path: Path | str, *, progress: Progress = SILENCE, **_: object) -> Trace:
    """Read a trace that was written as text; its metadata names the path.

    In memory are the whole text and its rows, about a hundred times the size of the file. What
    readers of other formats are asked makes no difference: a text holds nothing raw.
    """
    path = Path(path)
    content = path.read_bytes()
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        found = repr(content[error.start : error.start + 8])
        raise FormatError(path, line, expected="UTF-8", found=found) from error
    source = TextSource(text, path, name=str(path))
    return hold(source, source.parts(), Tables(), threads=0, progress=progress)


def parse(text: str) -> Trace:
    r"""The trace that a text describes, in memory and without raw tables.

    Sends and receives are matched in MPI's order, collectives by their sequence on each
    communicator, and bursts lie between consecutive calls. Every list of events comes back
    from its trace: ``render(parse(t))`` says what `t` said, and ``half`` of each event of a
    message that has no other side.

    >>> trace = parse(
    ...     "ranks 2 | 0 | 5 enter MPI_Send | 6 send to 1 bytes 8 | 7 leave"
    ...     "| 1 | 0 enter MPI_Recv | 9 receive from 0 bytes 8 | 9 leave"
    ... )
    >>> trace.messages["post_ns"].to_pylist(), trace.messages["receive_ns"].to_pylist()
    ([0], [9])
    """
    source = TextSource(text, Path(_NAME))
    return hold(source, source.parts(), Tables(), threads=0, progress=SILENCE)
