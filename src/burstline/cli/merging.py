"""What runs share that are to be merged, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from burstline import merge, show
from burstline.errors import NotEnoughDataError, ParameterError
from burstline.quantities import format_share

Shares = list[tuple[str, float]]
"""What of which bursts is in words, and its share."""
_FEW: Final = 0.5


def shares_of(matching: merge.Matching, paths: Sequence[Path]) -> Shares:
    """What each run shares with the base; warns of cut runs, and refuses those without any."""
    if not matching.matched.any():
        runs = " and ".join(map(str, paths))
        raise NotEnoughDataError(
            f"no burst of {runs} is the same: they look like different programs, or like "
            "different parts of one. Give runs of one program with the same input, whole or "
            "cut at the same place (burstline cut)"
        )
    _warn_of_cuts(matching, paths)
    said = [f"bursts of {path} are in the base" for path in paths]
    said[matching.base] = "base's bursts are in another run"
    return list(zip(said, matching.base_rate.tolist(), strict=True))


def require_shared(shares: Shares, least: float) -> None:
    """Refuse runs that share less with the base than `--min-match-rate`."""
    strangers = _strangers(shares, least)
    if strangers:
        raise NotEnoughDataError(
            f"{strangers}, fewer than --min-match-rate {least:g}: a "
            "merge would hold values of other bursts. Leave that run out, or ask for less; "
            "without -o and --dataset, merge shows what matched"
        )


def warn_of_strangers(shares: Shares) -> None:
    """Say which runs share so little that they may be no runs of one program."""
    strangers = _strangers(shares, _FEW)
    if strangers:
        show.note(f"warning: {strangers}: give whole runs of one program with one input")


def _strangers(shares: Shares, least: float) -> str:
    """Which runs share less with the base than that; empty if none does."""
    few = [(whose, share) for whose, share in shares if share < least]
    return ", ".join(f"only {format_share(share)} of the {whose}" for whose, share in few)


def _warn_of_cuts(matching: merge.Matching, paths: Sequence[Path]) -> None:
    """Say which runs lack an end that others have, and what it means of the base."""
    is_cut = matching.is_cut.tolist()
    for run in (run for run, cut in enumerate(is_cut) if cut):
        said = f"warning: {paths[run]} was cut: ranks of it lack MPI_Init or MPI_Finalize"
        if run == matching.base:
            whole = is_cut.index(False) + 1
            said += (
                f". It is the base: what others did there is left out, but by --base {whole}"
            )
        show.note(said)


def require_rate(least: float) -> None:
    """Refuse a `--min-match-rate` that is no share."""
    if not 0 <= least <= 1:
        raise ParameterError(f"--min-match-rate is between 0 and 1, got {least:g}")
