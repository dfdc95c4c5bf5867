"""What holds for every trace and its text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstline import FormatError
from burstline.formats.text import parse, recognises
from burstline.model import schema
from burstline.testing import assert_same_trace
from effort import examples
from random_traces import texts, traces
from text_form import render

WORDS = [
    *("ranks 2", "threads", "|", "0", "1", "0.1", "skip 1", "5", "6", "-1", "5..6", "gap cut"),
    *("enter", "leave", "MPI_Send", "main", "send to", "receive from", "request", "post"),
    *(
        "sent", "begin", "end", "fork", "join", "team begin 1", "team end 1", "acquire",
        "release",
    ),
    *(
        "release",
        "read",
        "tag",
        "bytes",
        "comm",
        "x",
        "x=3",
        '"a"',
        '"\\',
        "#",
        "-",
        "9" * 20,
        "path",
    ),
    *("counter x", "region", "communicator 1", "members", "location", "meta", "role", "root"),
]  # fmt: skip


def outcome(text):
    """Give the trace of a text, or the error it is refused with."""
    try:
        return parse(text)
    except FormatError as error:
        return error


@examples(0.5)
@given(trace=traces())
def test_the_text_of_a_trace_is_the_trace(trace):
    assert_same_trace(parse(render(trace)), trace)


@examples(0.5)
@given(trace=traces())
def test_every_table_read_from_a_text_keeps_the_schema(trace):
    for name in schema.TABLES:
        schema.check(name, trace.table(name))


@examples(0.5)
@given(trace=traces())
def test_no_message_is_received_twice(trace):
    for side, event in (("sender_location", "send_seq"), ("receiver_location", "receive_seq")):
        rows = list(
            zip(
                trace.messages[side].to_pylist(), trace.messages[event].to_pylist(), strict=True
            )
        )
        assert len(rows) == len(set(rows))


@examples(0.5)
@given(text=texts())
def test_every_half_is_in_a_message_or_in_the_defects(text):
    trace = parse(text)
    lost = {row["kind"]: row["count"] for row in trace.defects.to_pylist()}

    assert text.count(" send to ") == trace.messages.num_rows + lost.get("unmatched_send", 0)
    assert text.count(" receive from ") == trace.messages.num_rows + lost.get(
        "unmatched_receive", 0
    )


@examples(0.5)
@given(trace=traces(), blanks=st.sampled_from(["\r\n", " \n\n# nothing\n", " | "]))
def test_only_words_matter(trace, blanks):
    lines = render(trace).splitlines()

    assert_same_trace(parse(blanks.join(lines)), trace)


@examples(0.5)
@given(text=texts(), data=st.data())
def test_a_text_with_a_wrong_word_is_a_trace_or_an_error_with_its_line(text, data):
    words = text.replace("\n", " \n ").split(" ")
    place = data.draw(st.integers(0, len(words)))
    words[place : place + data.draw(st.integers(0, 2))] = [data.draw(st.sampled_from(WORDS))]

    found = outcome(" ".join(words))

    if isinstance(found, FormatError):
        assert found.line is None or 1 <= found.line <= words.count("\n") + 1
    else:
        assert_same_trace(parse(render(found)), found)


@examples(0.5)
@given(characters=st.text(max_size=60))
def test_any_characters_are_a_trace_or_an_error(characters):
    found = outcome("ranks 1\n" + characters)

    assert not isinstance(found, FormatError) or "<text>" in str(found)


@examples(0.5)
@given(trace=traces())
def test_a_text_is_recognised(trace):
    assert recognises(Path("run"), render(trace).encode())


@pytest.mark.parametrize("head", [b"", b"#Paraver (1/1/2020", b"\x89PNG\r\n", b"1:2:3"])
def test_other_files_are_not_recognised(head):
    assert not recognises(Path("run"), head)
