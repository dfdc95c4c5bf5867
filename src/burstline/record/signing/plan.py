"""What a signature run is to measure, as the recorder reads it."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from burstline.errors import ParameterError

_MAGIC: Final = b"BURSTSIG"
_VERSION: Final = 1
_NEVER: Final = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class RankPlan:
    """The boundaries of a rank, ascending, each with the hash of the calls before it."""

    counts: tuple[int, ...] = ()
    hashes: tuple[int, ...] = ()
    cut: int | None = None  # the last boundary; None: it runs to its end


@dataclass(frozen=True, slots=True)
class Plan:
    """What a signature run measures; without ranks any number of them only counts."""

    ranks: tuple[RankPlan, ...]
    full: bool  # hashes have partners and communicators

    def of_rank(self, rank: int) -> RankPlan:
        """The boundaries of a rank; none if the plan is of fewer ranks."""
        return self.ranks[rank] if 0 <= rank < len(self.ranks) else RankPlan()

    def to_bytes(self) -> bytes:
        """The plan as the recorder reads it."""
        head = [_VERSION, len(self.ranks), int(self.full)]
        boundaries: list[tuple[int, int]] = []
        for rank in self.ranks:
            if any(a >= b for a, b in pairwise(rank.counts)):
                raise ParameterError("the boundaries of a rank do not ascend")
            if rank.cut is not None and rank.counts[-1:] != (rank.cut,):
                raise ParameterError("the cut of a rank is not its last boundary")
            cut = _NEVER if rank.cut is None else rank.cut
            head += [len(boundaries), len(rank.counts), cut]
            boundaries += zip(rank.counts, rank.hashes, strict=True)
        words = [*head, *(word for boundary in boundaries for word in boundary)]
        return _MAGIC + struct.pack(f"<{len(words)}Q", *words)
