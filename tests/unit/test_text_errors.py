"""What the text form refuses, and what it says then."""

from __future__ import annotations

import pytest

import burstline
from burstline import FormatError, InconsistentTraceError
from burstline.formats.text import parse, read
from burstline.testing import assert_same_trace, trace_of
from text_form import render


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("0 enter f", 1, "a declaration, or a rank"),
        ("ranks 1\n1", 2, "a rank that was declared before"),
        ("ranks x", 1, "a number"),
        ("ranks 1_", 1, "a number"),
        (f"ranks 1\n0\n5 send to 0 bytes {2**62}", 3, "a number from 0 to"),
        ("ranks 99999999", 1, "a number from 0 to 65536"),
        ("ranks 60000 threads 2", 1, "at most 65536 threads in all"),
        ("ranks 2 threads 1 2 3", 1, "one number of threads, or one per rank"),
        ("ranks 1\n0\n5 enter f", 3, "a leave of f later on"),
        ("ranks 1\n0\n5 leave", 3, "something open to leave"),
        ("ranks 1\n0\n5 enter f\n6 leave g", 4, "a leave of f"),
        ("ranks 1\n0\n5 enter f\n4 leave", 4, "a number from 5"),
        ("ranks 1\n0\n5 jump", 3, "one of enter, leave"),
        ("ranks 1\n0\n5 send tag 1", 3, "to and a rank"),
        ("ranks 1\n0\n5 send to 7", 3, "a rank of application 0"),
        ("ranks 1\n0\n5 send to 0 comm 1", 3, "a communicator"),
        ("ranks 1\n0\n5 send to 0 to 0", 3, "at most once"),
        ("ranks 1\n0\n5 half send peer 7 comm 1", 3, "a communicator"),
        ("ranks 1\n0\n5 tell communicator_created comm 1", 3, "a communicator"),
        ("ranks 1\n0\n5 tell attribute type location value 1", 3, "the number of a location"),
        ("ranks 1\n0\n5 sent request 1", 3, "the request of a send under way"),
        ("ranks 1\n0\n5 receive from 0 request 1", 3, "the request of a posted receive"),
        ("ranks 1\n0\n5 post request 1|5 post request 1", 3, "a request that is not in use"),
        ("ranks 1\n0\n5 begin", 3, "an MPI call around the collective"),
        ("ranks 1\n0\n5 end", 3, "a collective under way"),
        ("ranks 1\n0\n5 enter MPI_Barrier|5 begin|6 leave", 3, "an end of this collective"),
        ("ranks 1\n0\n5 join", 3, "a fork before the join"),
        ("ranks 1\n0\n5 fork 2", 3, "a join later on"),
        ("ranks 1\n0\n5 team end 1", 3, "an open team"),
        ("ranks 1\n0\n5 release 1", 3, "a lock that was acquired"),
        ("ranks 1\n0\n5 read a=1", 3, "a counter declared before"),
        ("ranks 1\n0\n5 read", 3, "counters that were read"),
        ("ranks 1\n0\n5 enter f path 0|6 leave", 3, "a call path declared before"),
        ("ranks 1\n0\n9..5 gap cut", 3, "a number from 9"),
        ("ranks 1\n0\n5..9 gap nap", 3, "one of flush"),
        ("ranks 1\nlocation 0 born 9 died 5", 2, "from born_ns on, 9, in column died_ns"),
        ("ranks 1\nlocation 0 born 9\n0\n5 enter f|6 leave", 2, "a time from born_ns on, 9"),
        ("ranks 1\nrow bursts start_ns 9 end_ns 5", 2, "a time from start_ns on, 9"),
        ("ranks 1\nrow bursts\nrow bursts burst 1 polls -3", 3, "a number from 0 to"),
        ("ranks 1\nrow bursts\nrow bursts burst 3", 3, "a row of bursts, of which there are 2"),
        ("ranks 1\n0\nranks 2", 3, "every location before the first event"),
        ("ranks 1\ncounter seq", 2, "a counter that has no column yet"),
        ("ranks 1\npath 1 f", 2, "call path 0"),
        ("ranks 1\nrow bursts location 1", 2, "a row of locations"),
        ("ranks 1\nrow bursts call_after 1", 2, "a call of its location"),
        ("ranks 1\nrow call_loops loop 0", 2, "a row of loops"),
        ("ranks 1\nrow calls location 0", 2, "a table: one of .*bursts"),
        ("ranks 1\nlocation 2147483647/0", 2, "a number from 0 to 65536"),
        ('ranks 1\nmeta a "b', 2, "a closing quote"),
        ('ranks 1\nmeta a "\\x"', 2, "a word, or one quoted as in JSON"),
        ('ranks 1\nmeta a [""]', 2, "a word, or one quoted as in JSON"),
        (f'ranks 1\nmeta a {"[" * 50_000}""', 2, "a word, or one quoted as in JSON"),
        ('ranks 1\nmeta a "\\ud800"', 2, "a word, or one quoted as in JSON"),
        ("ranks 1\nmeta a b=1", 2, "no reading here"),
        ("ranks 1\ncommunicator 2 members 0", None, "communicator 1"),
        (("ranks 2 | 0 | 1 enter MPI_Bcast | 1 begin | 1 end root 0 | 1 leave\n 1"
         "| 1 enter MPI_Bcast | 1 begin | 1 end root 1 | 1 leave"), 2, "root 0, as others say"),
    ],
)  # fmt: skip
def test_a_broken_rule_is_an_error_with_its_line(text, line, expected):
    with pytest.raises(FormatError, match=expected) as error:
        parse(text)

    assert error.value.line == line


def test_a_file_names_itself_and_one_that_is_no_text_its_line(tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("ranks 1\n0 | 1 enter f | 2 leave")
    trace = read(path)
    assert trace.metadata == {"format": "text", "path": str(path)}
    assert_same_trace(parse(render(trace)), trace)

    path.write_bytes(b"ranks 1\n\x89PNG")
    with pytest.raises(FormatError, match=r"run\.txt:2: expected UTF-8"):
        read(path)
    depth = 20_000  # which is no trouble
    nested = "ranks 1 | 0 | " + "1 enter f |" * depth + "2 leave |" * depth
    assert trace_of(nested).regions.num_rows == depth


def test_an_error_among_the_defects_is_raised_if_strict(tmp_path):
    path = tmp_path / "run.txt"
    path.write_text('ranks 1 | defect impossible error 1 "line 3"')

    assert read(path).defects.num_rows == 1
    with pytest.raises(InconsistentTraceError, match=r"impossible .*line 3"):
        burstline.read(path, strict=True)
