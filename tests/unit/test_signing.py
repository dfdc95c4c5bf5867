"""The files of a signature run: what the recorder reads, and what is believed of its answer."""

from __future__ import annotations

import re
import struct

import pytest

from burstline.errors import FormatError, NotEnoughDataError, ParameterError
from burstline.record import Plan, RankPlan, State
from burstline.record.launching.session import Ended
from burstline.record.signing.run import require_all
from burstline.record.signing.stamps import read_stamps
from repository.source import PACKAGE

NEVER = (1 << 64) - 1
PLAN = Plan((RankPlan((0, 7), (0, 77), 7), RankPlan((5,), (55,))), full=True)
LIBRARY = b"An MPI\0".ljust(256, b"\0")


def words(data):
    return list(struct.unpack(f"<{len(data) // 8}Q", data))


def left(*stamps, rank=1, size=2, state=0, operation=0, reached=None, magic=b"BURSTSGR"):
    """Give the file of a rank, whose stamps are counts and times."""
    head = [1, rank, size, state, 9, 99, operation, 100, 0, 0]
    head.append(len(stamps) if reached is None else reached)
    body = [word for count, ns in stamps for word in (count, 0, ns)]
    return magic + struct.pack(f"<{len(head) + len(body)}Q", *head, *body) + LIBRARY


@pytest.fixture
def read(tmp_path):
    def read(data, name="signature.1"):
        (tmp_path / name).write_bytes(data)
        return read_stamps(tmp_path / name, PLAN)

    return read


def test_a_plan_is_the_words_that_the_recorder_reads():
    data = PLAN.to_bytes()

    assert data[:8] == b"BURSTSIG"
    boundaries = [0, 0, 7, 77, 5, 55]
    assert words(data[8:]) == [1, 2, 1, 0, 2, 7, 2, 1, NEVER, *boundaries]
    assert words(Plan((), full=False).to_bytes()[8:]) == [1, 0, 0]  # which only counts
    for rank in (RankPlan((5, 5), (0, 0)), RankPlan((5,), (0,), 6)):
        with pytest.raises(ParameterError):
            Plan((rank,), full=False).to_bytes()


def test_states_are_those_of_the_recorder():
    header = (PACKAGE / "record" / "native" / "signature.h").read_text()
    body = header.partition("enum burst_signed_state {")[2].partition("}")[0]

    assert [int(number) for number in re.findall(r"= (\d)", body)] == list(State)
    assert len(State) == 8


def test_what_a_rank_left_is_read(read):
    rank = read(left((5, 120), state=3, operation=1))

    assert (rank.rank, rank.size, rank.state) == (1, 2, State.FINALIZING)
    assert (rank.counts, rank.ns, rank.init_ns) == ((5,), (120,), 100)
    assert (rank.count, rank.hash, rank.operation) == (9, 99, "MPI_Send")
    assert rank.library == "An MPI"


def test_a_rank_that_has_not_begun_left_nothing_and_is_told_of(read):
    assert read(b"") is read(bytes(400)) is None
    with pytest.raises(NotEnoughDataError, match="2 of 3 ranks left no file here"):
        require_all(
            Plan((), full=False),
            [read(left(state=2, size=3))],
            Ended(9, interrupted=False),
            None,
        )
    with pytest.raises(FormatError):  # of a rank beyond the plan
        read(left((5, 120), rank=7, size=8), "signature.7")


@pytest.mark.parametrize(
    "data",
    [
        b"BURSTSGR", left()[:200], left() + bytes(100), left(magic=b"BURSTRAW"), left(rank=0),
        left(rank=1, size=1), left(state=8), left(operation=1 << 40), left(reached=1),
        left(reached=1 << 60), left((5, 120), (6, 130)), left((4, 120)), left((5, 99)),
    ],
)  # fmt: skip
def test_a_file_that_no_recorder_writes_is_refused(read, data):
    with pytest.raises(FormatError, match=r"signature.1: expected the file of a rank"):
        read(data)
