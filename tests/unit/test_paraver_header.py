"""The first line of a trace is read as its writers mean it, and claims cost nothing."""

from pathlib import Path

import numpy as np
import pytest

from burstline.errors import FormatError, ParameterError, UnsupportedRecordError
from burstline.formats.paraver.files.declarations import read_communicator, write_communicator
from burstline.formats.paraver.files.header import (
    MOST_THREADS,
    Header,
    Objects,
    read_header,
    write_header,
)

PATH = Path("t.prv")
TWO_APPLICATIONS = (
    b"#Paraver (21/01/2022 at 16:37):1616378951_ns:1(20):2:"
    b"8(1:1,1:1,1:1,1:1,1:1,1:1,1:1,1:1),"
    b"12(1:1,1:1,1:1,1:1,1:1,1:1,1:1,1:1,1:1,1:1,1:1,1:1),14\n"
)


def read(text: str | bytes) -> Header:
    return read_header(text.encode() if isinstance(text, str) else text, PATH)


def kinds(header: Header) -> list[str]:
    return [defect.kind for defect in header.defects]


def objects(tasks: list[int], threads: list[int], nodes: list[int]) -> Objects:
    return Objects(np.array(tasks), np.array(threads, np.int32), np.array(nodes, np.int32))


def sizes(header: Header) -> list[list[int]]:
    borders = np.cumsum(header.objects.tasks)[:-1]
    return [threads.tolist() for threads in np.split(header.objects.threads, borders)]


def test_a_header_of_two_applications_is_read():
    header = read(TWO_APPLICATIONS)

    assert header.date == "21/01/2022 at 16:37"
    assert (header.unit_ns, header.claimed_duration) == (1, 1616378951)
    assert header.cpus_per_node == (20,)
    assert sizes(header) == [[1] * 8, [1] * 12]
    assert header.objects.nodes.tolist() == [0] * 20
    assert (header.communicators, header.defects) == (14, ())


@pytest.mark.parametrize(
    ("text", "found", "communicators"),
    [
        ("00000000000000009_ns:0:1:1(3:1)", [[3]], 0),
        ("9_ns:1(4):2:2(1:1,1:1),3:2(1:1,2:1),1", [[1, 1], [1, 2]], 4),
        ("9_ns:0:2:1(1:1),2(3:1,1:1),7", [[1], [3, 1]], 7),
        ("9_ns:0:2:1(1:1):2(3:1,1:1),7", [[1], [3, 1]], 7),
    ],
    ids=["no nodes", "a count of communicators behind each", "by comma", "by colon"],
)
def test_applications_and_communicators_are_told_apart(text, found, communicators):
    header = read(f"#Paraver (d):{text}")

    assert (header.claimed_duration, header.defects) == (9, ())
    assert header.cpus_per_node == ((4,) if "(4)" in text else None)
    assert sizes(header) == found
    assert header.communicators == communicators


@pytest.mark.parametrize(
    ("time", "unit", "duration", "defects"),
    [
        ("5_ns", 1, 5, []), ("5_us", 1_000, 5_000, []), ("5_ms", 1_000_000, 5_000_000, []),
        ("5", 1_000, 5_000, ["header_unit"]), ("5_s", 1_000, 5_000, ["header_unit"]),
        ("1.5e3_ns", 1, 1500, []), ("0.5_us", 1_000, 500, []),
        ("", 1_000, None, ["header_unit", "header_time"]), ("-5_ns", 1, None, ["header_time"]),
        ("nan_ns", 1, None, ["header_time"]), ("1e999999999_ns", 1, None, ["header_time"]),
        ("9" * 500 + "_ns", 1, None, ["header_time"]),
        ("9223372036854775807_ns", 1, 2**63 - 1, []),
        ("9223372036854775808_ns", 1, None, ["header_time"]),
    ],
)  # fmt: skip
def test_an_end_time_is_read_in_its_unit(time, unit, duration, defects):
    header = read(f"#Paraver (d):{time}:0:1:1(1:1)")

    assert (header.unit_ns, header.claimed_duration) == (unit, duration)
    assert kinds(header) == defects


@pytest.mark.parametrize(
    ("nodes", "cpus", "defects"),
    [
        ("0", None, []), ("2", (1, 1), []), ("2(4,8)", (4, 8), []),
        ("3(4,8)", (4, 8), ["header_nodes"]), ("99999999999", (1, 1), ["header_nodes"]),
    ],
)  # fmt: skip
def test_nodes_are_those_that_are_listed(nodes, cpus, defects):
    header = read(f"#Paraver (d):9_ns:{nodes}:1:2(1:1,1:2)")

    assert header.cpus_per_node == cpus
    assert kinds(header) == defects


def test_a_task_on_a_node_that_does_not_exist_is_on_an_unknown_node():
    header = read("#Paraver (d):9_ns:1(4):1:4(1:1,1:0,1:2,1:99999999999)")

    assert header.objects.nodes.tolist() == [0, -1, -1, -1]
    assert [(defect.kind, defect.count) for defect in header.defects] == [
        ("header_task_node", 3)
    ]


def test_marks_of_other_editors_are_forgiven():
    header = read(b"\xef\xbb\xbf#PARAVER (d) :9_ns:0:1:1(1:1),2 \r\n".replace(b") ", b")"))

    assert header.text == "#PARAVER (d):9_ns:0:1:1(1:1),2"
    assert header.communicators == 2
    assert kinds(header) == ["header_bom", "header_magic"]


@pytest.mark.parametrize(
    "lists",
    [
        "1:99999999999(1:1)", "1:2(1:1)", "1:1(1:1,1:1)", "2:1(1:1)", "1:1(1:1),1(1:1)",
        "0:1(1:1)", "0:", "1:0()", "1:1()", "1:1(0:1)", "1:1(1)", "1:1(1:1", "1:1(1:1,)",
        "1:1(-1:1)", "1:1(1:1),2,3", "1:1(1:1)2", "1:3,1(1:1)", "1:1(1:1),-1", "1:", "1", "",
    ],
)  # fmt: skip
def test_a_malformed_list_of_applications_is_an_error_on_line_1(lists):
    with pytest.raises(FormatError) as caught:
        read(f"#Paraver (d):9_ns:0:{lists}")

    assert (caught.value.path, caught.value.line) == (PATH, 1)


def test_a_task_of_too_many_threads_is_named():
    with pytest.raises(FormatError, match=r"threads in task 2\.3"):
        read(f"#Paraver (d):9_ns:0:2:1(1:1):3(1:1,1:1,{MOST_THREADS + 1}:1)")


@pytest.mark.parametrize(
    "tasks", [f"1({MOST_THREADS + 1}:1)", f"2({MOST_THREADS}:1,1:1)", "1(999999999999999999:1)"]
)
def test_more_threads_than_any_machine_has_are_an_error(tasks):
    with pytest.raises(FormatError, match="threads"):
        read(f"#Paraver (d):9_ns:0:1:{tasks}")


def test_a_picture_is_no_trace():
    picture = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x1b[31m" + bytes(range(256)) * 1000

    with pytest.raises(FormatError, match=r"^t\.prv:1: expected a Paraver trace") as caught:
        read(picture)

    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_the_second_version_of_the_format_is_refused_by_name():
    with pytest.raises(UnsupportedRecordError, match=r":1: .*version 1"):
        read("new format\n")


def test_a_written_header_follows_the_writer_rules():
    two = objects([2, 1], [1, 2, 1], [0, 1, 1])
    assert write_header("21/11/2026 at 01:45", 77, (4, 2), two, 3) == (
        b"#Paraver (21/11/2026 at 01:45):77_ns:2(4,2):2:2(1:1,2:2),1(1:2),3\n"
    )
    # without a resource model, a task is on node 1 at least
    one = objects([2], [1, 1], [-1, 4])
    assert write_header("d", 1, None, one, 0) == b"#Paraver (d):1_ns:0:1:2(1:1,1:5),0\n"


@pytest.mark.parametrize("cpus", [(), (0,)])
def test_a_header_that_paraver_would_refuse_is_not_written(cpus):
    with pytest.raises(ParameterError):
        write_header("d", 1, cpus, objects([1], [1], [0]), 0)


@pytest.mark.parametrize(
    ("line", "members", "sides"),
    [
        (b"c:2:6:3:1:3:2\r\n", [0, 2, 1], ()),
        (b"c:1:6:2:1:3\n", [0, 2], ()),
        (b"C:1:7:0", [], ()),
        (b"i:1:9:4:1:5:3\n", None, ((4, 0), (5, 2))),
    ],
    ids=["two applications", "not all ranks", "void", "two groups and their leaders"],
)
def test_a_communicator_of_ranks_from_0_is_read_and_written(line, members, sides):
    communicator = read_communicator(line)

    assert communicator is not None
    assert (communicator.application, communicator.source_id) == (line[2] - 49, line[4] - 48)
    assert communicator.members.dtype == np.int32
    assert members is None or communicator.members.tolist() == members
    assert communicator.sides == sides
    assert write_communicator(communicator) == line[:1].lower() + line[1:].strip() + b"\n"


@pytest.mark.parametrize(
    "line",
    [
        b"c", b"c:1:1", b"c:1:1:2:1", b"c:1:1:1:1:2", b"c:1:1:99999999999",
        b"c:1:1:999999999:1", b"c:0:1:1:1", b"c:1:1:1:0", b"c:1:1:1:-1",
        b"c:1:1:1:99999999999", b"c:1:1:1::1", b"c:1:1:1:x", b"i:1:9:4:1:5", b"i:1:9:4:0:5:3",
        b"i:0:9:4:1:5:3", b"d:1:1:1:1", b"",
    ],
)  # fmt: skip
def test_a_malformed_communicator_is_none(line):
    assert read_communicator(line) is None
