"""The raw files of a run become a trace whose calls know where in the source they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burstline.progress import SILENCE, Progress

if TYPE_CHECKING:
    from pathlib import Path

    from burstline.trace import Trace


def read_recorded(folder: Path, *, raw: bool = True, progress: Progress = SILENCE) -> Trace:
    """Read raw files, and name the functions and lines of their call stacks.

    Parameters
    ----------
    folder : Path
        The raw files of one run.
    raw : bool
        Whether events that the program recorded itself are kept.
    progress : Progress
        Told how far the reading is.

    Returns
    -------
    Trace
        In memory.

    Notes
    -----
    Names are found in the programs and libraries themselves, so this wants to happen where
    the program ran; `burstline.read` names frames by their addresses, anywhere.
    """
    from burstline.formats.raw import read_raw  # noqa: PLC0415 -- slow, and only after a run
    from burstline.record.symbols import Resolver  # noqa: PLC0415 -- as above

    return read_raw(folder, raw=raw, progress=progress, resolve=Resolver())
