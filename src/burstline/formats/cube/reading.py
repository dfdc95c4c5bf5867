"""Reading of Cube's profiles."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from burstline.errors import MemoryBudgetError, MissingExtraError, ParameterError, printable
from burstline.formats.cube.archive import check
from burstline.formats.cube.profile import opened

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from burstline.profile import Profile

_MOST_BYTES: Final = 4_000_000_000


def read_profile(
    path: str | os.PathLike[str],
    *,
    metrics: Sequence[str] | None = None,
    memory: int | None = None,
) -> Profile:
    """Read a profile that Score-P, Scalasca or Cube wrote.

    Parameters
    ----------
    path : str or PathLike
        A ``.cubex`` file.
    metrics : sequence of str, optional
        Unique names of the metrics whose values are read, such as ``time`` or
        ``mpi_latesender``; all by default.
    memory : int, optional
        Bytes the values may take; 4 GB by default.

    Returns
    -------
    Profile
        The trees of metrics, call paths and locations, and the values. A metric without
        values, as Scalasca writes them, is zero everywhere.

    Raises
    ------
    MissingExtraError
        If pycubexr is not installed: ``pip install 'burstline[cube]'``.
    FormatError
        If the file is no such archive, is damaged, or holds what no profile has.
    UnsupportedRecordError
        If the profile has metrics that are computed when they are shown, or several
        programs.
    MemoryBudgetError
        If the values would not fit into `memory`.
    ParameterError
        If there is no metric of a name that was asked for.
    FileNotFoundError
        If there is no such file.

    Notes
    -----
    O(bytes). Values of compound types, such as histograms, are in no array; `left_out` of
    the result names them.

    Examples
    --------
    >>> import burstline
    >>> burstline.read_profile("a.cubex")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    FileNotFoundError: ...
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    try:
        import pycubexr  # noqa: F401, PLC0415 -- an extra
    except ImportError:
        raise MissingExtraError("cube", "reading a .cubex") from None
    allowed = _MOST_BYTES if memory is None else memory
    archive = check(path, allowed)
    with opened(path, archive) as profile:
        chosen = _chosen(profile.names, metrics)
        needed = sum(archive.values_bytes(profile.number(name)) for name in chosen)
        if needed > allowed:
            raise MemoryBudgetError(
                needed, allowed, way_out="Ask for fewer metrics at a time, or allow more."
            )
        return profile.profile(chosen)


def _chosen(names: list[str], wanted: Sequence[str] | None) -> list[str]:
    if wanted is None:
        return names
    for name in wanted:
        if name not in names:
            shown = printable(", ".join(names), limit=400)
            raise ParameterError(f"no metric {printable(name)!r}; there are {shown}")
    return list(dict.fromkeys(wanted))
