"""Messages by pair of ranks: each counted once, and of many ranks by neighbours."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import burstline
from burstline import show
from burstline.errors import NotEnoughDataError
from burstline.matrix import matrix
from burstline.testing import trace_of
from command import burstline as command

MESSAGES = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 99), st.integers(0, 9)),
    min_size=1,
    max_size=12,
)


def sent(messages, ranks=4):
    """A trace of messages (from, to, bytes, how late the receive is posted)."""
    lines = {rank: [] for rank in range(ranks)}
    for step, (sender, receiver, size, late) in enumerate(messages):
        at = 100 * step
        lines[sender] += [
            f"{at + 10} enter MPI_Send | {at + 10} send to {receiver} bytes {size} tag {step}",
            f"{at + 11} leave",
        ]
        lines[receiver] += [
            f"{at + 20 + late} enter MPI_Recv",
            f"{at + 40} receive from {sender} bytes {size} tag {step} | {at + 40} leave",
        ]
    rows = (f"{rank} | {' | '.join(events)}" for rank, events in lines.items() if events)
    return trace_of(" | ".join([f"ranks {ranks}", *rows]))


def literal(messages, ranks=4):
    count, size, time = ([[0] * ranks for _ in range(ranks)] for _ in range(3))
    for sender, receiver, each, late in messages:
        count[sender][receiver] += 1
        size[sender][receiver] += each
        time[sender][receiver] += 40 - (20 + late)
    return count, size, time


@given(MESSAGES)
def test_every_message_is_counted_where_it_goes(messages):
    made = matrix(sent(messages))

    assert made.ranks == [0, 1, 2, 3]
    assert made.others == 0
    found = made.messages.tolist(), made.sent_bytes.tolist(), made.time_ns.tolist()
    assert found == literal(messages)


def test_of_many_ranks_neighbours_are_told_together():
    made = matrix(sent([(0, 599, 8, 0), (1, 598, 2, 0), (300, 301, 5, 0)], ranks=600))

    assert len(made.ranks) == 200
    assert made.ranks[0] == [0, 1, 2]
    assert made.sent_bytes[0, 199] == 10
    assert made.sent_bytes[100, 100] == 5
    assert made.messages.sum() == 3
    [table] = made.tables()
    assert table.rows[0][:2] == ("0-2", "597-599")


def test_without_messages_there_is_no_matrix():
    with pytest.raises(NotEnoughDataError, match="no message has both of its sides"):
        matrix(trace_of("ranks 1 | 0 | 1 enter MPI_Barrier | 2 leave"))


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_the_command_tells_it_in_each_form(tmp_path, form):
    path = tmp_path / "t.store"
    burstline.write(sent([(0, 1, 8, 0), (1, 0, 16, 3)], ranks=2), path)

    done = command("matrix", path, "--format", form)

    if form == "json":
        document = json.loads(done.stdout)
        assert document["ranks"] == [0, 1]
        assert document["sent_bytes"] == [[0, 8], [16, 0]]
        assert document["time_ns"] == [[0, 20], [17, 0]]
    elif form == "csv":
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        assert [row["sent_bytes"] for row in rows] == ["16", "8"]
    else:
        assert "66.7 %" in done.stdout


def test_a_region_and_a_notebook_show_it():
    run = burstline.open(sent([(0, 1, 8, 0), (1, 0, 16, 3)], ranks=2))

    first = run.part(end_ns=100).ask("matrix")
    assert first.sent_bytes.tolist() == [[0, 8], [0, 0]]
    assert run.ask("matrix") is run.ask("matrix")
    assert "8 B" in show.view(first)._repr_html_()


def test_what_does_not_fit_is_refused_before_it_begins(tmp_path):
    path = tmp_path / "t.store"
    burstline.write(sent([(0, 1, 8, 0), (1, 0, 16, 3)], ranks=2), path)

    done = command("matrix", path, "--ranks", "0", "--memory", "100")

    assert done.returncode == 5
    assert "are allowed" in done.stderr
