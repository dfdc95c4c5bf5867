"""Messages, each a caller and its partner, by the sequences that ranks share."""

import numpy as np

from burstline.structure.sequences import Sequences


def sequences_of(caller, partner, world):
    """Give the sequences, the ranks that have one each, and which each has."""
    order = np.argsort(caller, kind="stable")
    ranks = caller[order].astype(np.int64)
    ahead = ((partner[order] - ranks) % world).astype(np.int32)
    first = np.flatnonzero(np.diff(ranks, prepend=-1))
    begin = np.append(first, len(ranks))
    sequences, numbers = Sequences.distinct(begin, ahead, np.ones(len(order), np.int32))
    return sequences, ranks[first], numbers
