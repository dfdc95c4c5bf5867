"""Bytes that collectives send: Extrae's way in the files, the whole of it in the tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstline.extrae.collective_sizes import sent_as_written, sent_in_all

NAMES = ("MPI_Alltoall", "MPI_Reduce", "MPI_Ialltoall", "MPI_Ireduce", "MPI_Gather")
ALLTOALL, REDUCE, IALLTOALL, IREDUCE, GATHER = range(5)


@pytest.mark.parametrize(
    ("operation", "root", "written", "received", "in_all"),
    [
        (ALLTOALL, -1, 8, 32, 32),
        (IALLTOALL, -1, 8, 32, 32),
        (ALLTOALL, -1, 0, 0, 0),
        (ALLTOALL, -1, 8, 30, 8),  # the counts contradict each other
        (ALLTOALL, -1, -1, 32, -1),  # unknown
        (REDUCE, 2, 0, 8, 8),
        (IREDUCE, 2, 0, 8, 8),
        (REDUCE, -1, 8, 0, 8),
        (GATHER, 2, 8, 32, 8),
    ],
)
def test_what_extrae_wrote_becomes_all_that_was_sent(
    operation, root, written, received, in_all
):
    columns = {"root": root, "sent": written, "received": received}
    columns = {name: np.array([value]) for name, value in columns.items()}

    assert sent_in_all(NAMES, np.array([operation]), **columns).tolist() == [in_all]


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.integers(1, 99)), max_size=9))
def test_what_is_written_is_read_as_before(calls):
    """On four processes, where both sides of a collective agree."""
    code = np.array([operation for operation, *_ in calls], np.int64)
    is_root = np.array([flag for _, flag, _ in calls], bool)
    size = np.array([size for *_, size in calls], np.int64)
    blocks = np.isin(code, (ALLTOALL, IALLTOALL))
    sent = np.where(blocks, 4 * size, size)
    received = np.where(blocks, 4 * size, size * is_root)
    root = np.where(is_root & ~blocks, 0, -1)

    written = sent_as_written(NAMES, code, root=root, sent=sent, peers=np.full(len(code), 4))
    read = sent_in_all(NAMES, code, root=root, sent=written, received=received)

    assert read.tolist() == sent.tolist()
    assert (written[np.isin(code, (REDUCE, IREDUCE)) & is_root] == 0).all()
    assert (written[blocks] == size[blocks]).all()
