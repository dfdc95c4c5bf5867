"""What a damaged or hostile trace does: a clear error, or a defect and a usable trace."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import burstline
from burstline.formats.paraver.files import lines as blocks
from command import burstline as call
from supervised import supervised

HEAD = "#Paraver (01/01/2026 at 00:00):1000_ns:0:1:2(1:1,1:1),1\nc:1:1:2:1:2\n"
OPEN_FILES = Path("/proc/self/fd")
LINE = HEAD.partition("\n")[0]
BODY = """2:0:1:1:1:10:50000001:1
2:0:1:1:1:20:50000001:0
2:0:1:2:1:5:50000001:2
2:0:1:2:1:30:50000001:0
3:0:1:1:1:10:20:0:1:2:1:5:30:100:7
"""
HOSTILE_PCF = """EVENT_TYPE
9 50000001 <script>alert(1)</script>
VALUES
1 \x1b[31mMPI_Send<b>
EVENT_TYPE
7 42000050 \x1b]0;title\x07PAPI_<img> [Instructions]
"""


def put(folder, text, name="t.prv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def defects(trace):
    return {row["kind"]: row["count"] for row in trace.defects.to_pylist()}


def is_whole(trace):
    message = trace.messages.to_pylist()[0]
    calls = [message[name] for name in ("send_call", "post_call", "receive_call")]
    return trace.calls.num_rows == 2 and trace.messages.num_rows == 1 and calls == [0, 0, 0]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("9:1:2:3", "unknown_record"),
        ("\x00\x01\x02 garbage ~~~", "unknown_record"),
        ("4:0:1:1:1:50:1:8:8:8:0", "obsolete_record"),
        ("2:0:1:7:1:50:1:1", "undeclared_object"),
        ("2:0:0:0:0:50:1:1", "undeclared_object"),
        ("3:0:1:1:1:1:2:0:1:9:1:3:4:8:0", "undeclared_object"),
        ("2:0:1:1:1:-5:1:1", "time_out_of_range"),
        ("2:0:1:1:1:9223372036854775807:1:1", "time_out_of_range"),
        ("2:0:1:1:1:99999999999999999999999:1:1", "time_out_of_range"),
        ("2:0:1:1:1:50:99999999999999999999999:1", "number_out_of_range"),
        ("2:0:1:1:1:50:-3:1", "number_out_of_range"),
        (f"3:0:1:1:1:5:5:0:1:1:1:9:9:{2**62}:1", "number_out_of_range"),
        ("2:0:1:1:1:50:1:1:2", "odd_pairs"),
        ("2:0:1:1:1:0x10:1:1", "malformed_line"),
        ("2:0:1:1:1:5.5:1:1", "malformed_line"),
        ("2:0:1:1:1: 50:1:1", "malformed_line"),
        ("2::1:1:1:50:1:1", "malformed_line"),
        ("1:0:1:1:1:10", "wrong_field_count"),
        ("3:1:1:1:1:7", "wrong_field_count"),
        ("1:0:1:1:1:10:20:1:1", "wrong_field_count"),
        ("1:0:1:1:1:20:10:1", "inverted_state"),
        ("c:1:x", "malformed_communicator"),
    ],
)
@pytest.mark.parametrize("last", [False, True])
def test_a_bad_line_is_counted_and_its_neighbours_are_kept(tmp_path, line, kind, last):
    text = HEAD + (BODY + line + "\n" if last else line + "\n" + BODY)
    trace = burstline.read(put(tmp_path, text))

    assert defects(trace)[kind] == 1
    assert is_whole(trace)


def test_a_bad_line_is_named_with_its_number_and_text(tmp_path):
    trace = burstline.read(put(tmp_path, HEAD + BODY + "9:\x1b[31mred\n"))
    first = {row["kind"]: row["first"] for row in trace.defects.to_pylist()}

    assert first["unknown_record"] == "line 8: '9:\ufffd[31mred'"


@pytest.mark.parametrize(
    "line",
    ["2:0:1:1:1:40:5:-7", "2:0:1:1:1:41:6:18446744073709551615", "2:0:1:1:1:41:99999999999:1"],
)
def test_odd_but_legal_values_are_read(tmp_path, line):
    trace = burstline.read(put(tmp_path, HEAD + BODY + line + "\n"))

    *_, kind, value = map(int, line.split(":"))
    wrapped = value - 2**64 if value >= 2**63 else value
    last = trace.events.filter(trace.events["type"].to_numpy() == kind).to_pylist()[0]
    assert last["value"] == wrapped
    assert set(defects(trace)) == {"labels_missing", "ends_before_its_header"}


def test_the_last_line_is_dropped_if_it_was_not_ended(tmp_path):
    trace = burstline.read(put(tmp_path, (HEAD + BODY)[:-3]))

    assert defects(trace)["unterminated_line"] == 1
    assert (trace.calls.num_rows, trace.messages.num_rows) == (2, 0)


@pytest.mark.parametrize("text", [HEAD, LINE, LINE + "\n"])
def test_an_empty_body_is_named(tmp_path, text):
    trace = burstline.read(put(tmp_path, text))

    assert defects(trace)["no_records"] == 1
    assert trace.locations.num_rows == 2


@pytest.mark.parametrize(
    "text", [b"", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), b"hello\n", b"\x1f\x8b\x08rubbish"]
)
def test_a_file_that_is_no_trace_is_an_error_with_its_path(tmp_path, text):
    path = put(tmp_path, text)

    with pytest.raises(burstline.FormatError) as error:
        burstline.read(path)
    assert str(path) in str(error.value)


def test_a_header_that_claims_too_much_is_refused_before_memory_follows(tmp_path):
    path = put(tmp_path, "#Paraver (x):1_ns:0:1:1(9999999:1)\n2:0:1:1:1:5:1:1\n")

    with pytest.raises(burstline.FormatError, match="9,999,999 threads"):
        burstline.read(path)


def test_claimed_counts_marks_of_byte_order_and_windows_line_ends_do_no_harm(tmp_path):
    trace = burstline.read(put(tmp_path, HEAD.replace(",1\n", ",99999999\n") + BODY))
    assert defects(trace)["communicator_count"] == 1
    assert is_whole(trace)

    text = b"\xef\xbb\xbf" + (HEAD + BODY).replace("\n", "\r\n").encode()
    assert is_whole(burstline.read(put(tmp_path, text)))


@pytest.mark.parametrize(
    ("damaged", "events"),
    [
        (lambda data: data[: len(data) // 2], 5_000),
        (lambda data: data[:-3000] + b"\xff" * 1000 + data[-2000:], 5_000),
        (lambda data: data + b"more", 20_000),
    ],
    ids=["cut", "in the middle", "bytes behind it"],
)
def test_a_damaged_gzip_keeps_what_comes_before_the_damage(tmp_path, damaged, events):
    lines = "".join(f"2:0:1:1:1:{100 + k}:7:{k * k % 1000}\n" for k in range(20_000))
    data = gzip.compress((HEAD + BODY + lines).encode())
    trace = burstline.read(put(tmp_path, damaged(data), "t.prv.gz"))

    assert defects(trace)["damaged_gzip"] == 1
    assert is_whole(trace)
    assert trace.events.num_rows > events


@pytest.mark.parametrize("packed", [False, True])
def test_a_line_without_end_is_refused(tmp_path, monkeypatch, packed):
    monkeypatch.setattr(blocks, "LONGEST_LINE", 1 << 16)
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 1 << 12)
    text = (HEAD + BODY).encode() + b"0" * (1 << 18)
    path = put(tmp_path, gzip.compress(text) if packed else text)

    with pytest.raises(burstline.FormatError, match="a longer one"):
        burstline.read(path)


def test_a_bomb_takes_no_memory(tmp_path):
    zeros = gzip.compress(bytes(1 << 20), 1)
    path = put(tmp_path, gzip.compress(HEAD.encode()) + zeros * 1024, "bomb.prv.gz")
    run = supervised("-c", "import sys, burstline; burstline.read(sys.argv[1])", path)

    assert "expected lines of at most 64 MiB, found 'a longer one'" in run.said
    assert run.peak_bytes < 400 << 20  # the bomb is 1 GiB


def test_labels_can_carry_anything(tmp_path):
    path = put(tmp_path, HEAD + BODY + "2:0:1:1:1:60:42000050:5\n")
    put(tmp_path, HOSTILE_PCF, "t.pcf")
    put(tmp_path, "LEVEL THREAD SIZE 2\n\x1b[2Jboom\n<b>x</b>\n", "t.row")
    told = [call(command, path) for command in ("info", "structure")]

    assert [done.returncode for done in told] == [0, 0]
    assert not any("\x1b" in done.stdout for done in told)
    assert "<script>" not in burstline.read(path)._repr_html_()


def test_labels_may_be_missing_or_of_another_run(tmp_path):
    path = put(tmp_path, HEAD + BODY)
    put(tmp_path, "EVENT_TYPE\n0 123 Something\nVALUES\n1 a\n", "t.pcf")

    assert is_whole(burstline.read(path))


def test_calls_that_are_open_never_entered_or_unknown_are_counted(tmp_path):
    text = HEAD + "2:0:1:1:1:10:50000001:1\n2:0:1:2:1:7:50000001:0\n2:0:1:1:1:30:9:9\n"
    trace = burstline.read(put(tmp_path, text))
    assert defects(trace)["call_never_left"] == 1
    assert defects(trace)["call_left_but_never_entered"] == 1
    assert trace.calls["leave_ns"].to_pylist() == [30]

    text = HEAD + BODY.replace(":50000001:1\n", ":50000001:999\n")
    trace = burstline.read(put(tmp_path, text))
    assert "MPI call 999" in trace.calls["operation"].to_pylist()
    assert defects(trace)["unknown_mpi_call"] == 1


def test_what_is_no_trace_by_its_name_or_place_is_an_error_of_its_kind(tmp_path):
    with pytest.raises(FileNotFoundError):
        burstline.read(tmp_path / "nowhere.prv")
    with pytest.raises(burstline.FormatError, match="another folder"):
        burstline.read(tmp_path)
    with pytest.raises(burstline.UnsupportedRecordError, match="mpi2prv"):
        burstline.read(put(tmp_path, "/data/a.mpit named\n", "TRACE.mpits"))


def test_too_little_memory_is_refused_with_the_way_out(tmp_path):
    lines = "".join(f"2:0:1:1:1:{100 + k}:7:{k}\n" for k in range(20_000))
    path = put(tmp_path, HEAD + BODY + lines)

    with pytest.raises(burstline.MemoryBudgetError, match="burstline convert"):
        burstline.read(path, memory=1 << 16)


def test_nothing_is_left_open(tmp_path):
    path = put(tmp_path, HEAD + BODY)
    before = set(OPEN_FILES.iterdir())
    burstline.read(path)

    assert set(OPEN_FILES.iterdir()) == before
