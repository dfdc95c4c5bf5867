"""What holds for every header, ``.pcf`` and ``.row``, whatever somebody wrote into it."""

import contextlib
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from burstline._core import EventClass
from burstline.errors import FormatError
from burstline.extrae.counters import classify
from burstline.extrae.labels import read_counter, read_function, read_line
from burstline.extrae.regions import region_name
from burstline.extrae.states import STATE_COLORS, STATES
from burstline.formats.paraver.files.declarations import (
    CommunicatorLine,
    read_communicator,
    write_communicator,
)
from burstline.formats.paraver.files.header import Objects, read_header, write_header
from burstline.formats.paraver.files.pcf import Pcf, TypeLabel, read_pcf, write_pcf
from burstline.formats.paraver.files.row import LEVELS, RowNames, read_row, write_row

PATH = Path("t.prv")
plain = st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF), min_size=1, max_size=12)
lines = st.text(st.sampled_from("ab 0159-#{},:[]()<>\t\r\x1b\u00e9"), max_size=20)
PIECES = """EVENT_TYPE|VALUES|STATES|STATES_COLOR|GRADIENT_NAMES|DEFAULT_OPTIONS|PRECISION 3
LEVEL CPU SIZE 2|LEVEL NODE SIZE 9|LEVEL X SIZE 1|LEVEL CPU|0 1 one|9 50000001 MPI|1 {1,2,3}
7 42000050 PAPI|0 4294967296 far|18446744073709551615 x|-4 minus|5||  """
pieces = st.sampled_from(PIECES.replace("\n", "|").split("|"))
files = st.one_of(
    st.binary(max_size=300),
    st.lists(st.one_of(pieces, lines), max_size=30).map(lambda all_: "\n".join(all_).encode()),
    st.lists(pieces, max_size=30).map(lambda all_: "\r\n".join(all_).encode()),
)
counts = st.integers(1, 2000)
heads = st.text(st.sampled_from("0123456789:,()_ns. "), max_size=40)


@st.composite
def objects(draw, nodes):
    counted = draw(st.lists(st.integers(1, 12), min_size=1, max_size=3))
    tasks = sum(counted)
    threads = draw(st.lists(st.integers(1, 5000), min_size=tasks, max_size=tasks))
    where = draw(st.lists(st.integers(0, nodes - 1), min_size=tasks, max_size=tasks))
    return Objects(np.array(counted), np.array(threads, np.int32), np.array(where, np.int32))


def lists(some):
    return [column.tolist() for column in (some.tasks, some.threads, some.nodes)]


@st.composite
def headers(draw):
    cpus = draw(st.lists(counts, min_size=1, max_size=4))
    resources = draw(st.sampled_from([None, tuple(cpus)]))
    return draw(st.integers(0, 2**62)), resources, draw(objects(len(cpus))), draw(counts)


@given(headers())
def test_a_written_header_is_read_as_it_was(written):
    duration, cpus, declared, communicators = written

    header = read_header(write_header("1/2/3 at 4:05", *written), PATH)

    assert (header.claimed_duration, header.cpus_per_node) == (duration, cpus)
    assert (header.communicators, header.defects) == (communicators, ())
    assert lists(header.objects) == lists(declared)


@given(headers(), st.data())
def test_a_header_cut_anywhere_is_an_error_or_the_same_applications(written, data):
    line = write_header("1/2/3 at 4:05", *written).rstrip()
    cut = line[: data.draw(st.integers(0, len(line)))]

    with contextlib.suppress(FormatError):
        header = read_header(cut, PATH)
        assert lists(header.objects)[:2] == lists(written[2])[:2]


@given(
    st.one_of(st.binary(max_size=80), heads.map(lambda head: b"#Paraver (d):" + head.encode()))
)
def test_a_line_of_anything_is_a_header_or_an_error(line):
    with contextlib.suppress(FormatError):
        assert len(read_header(line, PATH).objects.tasks)


@given(counts, counts, st.lists(st.integers(0, 2000), max_size=20))
def test_a_written_communicator_is_read_as_it_was(application, source_id, members):
    found = read_communicator(
        write_communicator(
            CommunicatorLine(application, source_id, np.array(members, np.int32))
        )
    )

    assert found is not None
    assert (found.application, found.source_id) == (application, source_id)
    assert found.members.tolist() == members


@given(st.text(st.sampled_from("cCiI0123456789:- "), max_size=30).map(str.encode))
def test_a_communicator_of_anything_has_members_from_0_or_is_none(line):
    found = read_communicator(line)

    assert found is None or found.members.min(initial=0) >= 0


labels = st.dictionaries(st.integers(-(2**31) + 1, 2**31 - 1), plain, max_size=5)


@st.composite
def label_files(draw):
    groups = draw(st.lists(st.integers(1, 3), max_size=4))
    size = sum(groups)
    unique = st.lists(st.integers(0, 9999), min_size=size, max_size=size, unique=True)
    numbers = iter(draw(unique))
    types = {
        next(numbers): TypeLabel(draw(plain), draw(st.integers(0, 9)), group)
        for group, size in enumerate(groups)
        for _ in range(size)
    }
    values = {group: draw(labels) for group in range(len(groups))}
    return Pcf(
        types,
        {group: table for group, table in values.items() if table},
        draw(st.dictionaries(st.sampled_from(range(len(groups))), st.integers(0, 9)))
        if groups
        else {},
        {**STATES, **draw(st.dictionaries(st.integers(0, 99), plain, max_size=3))},
        STATE_COLORS,
    )


@given(label_files())
def test_written_labels_are_read_as_they_were(pcf):
    found = read_pcf(write_pcf(pcf))

    for name in ("types", "values", "precision", "states", "state_colors"):
        assert getattr(found, name) == getattr(pcf, name), name
    assert found.defects == ()


@given(files)
def test_labels_and_names_of_anything_are_read_and_writing_them_settles(data):
    for read, write in ((read_pcf, write_pcf), (read_row, write_row)):
        once = write(read(data))

        assert read(once).defects == ()
        assert write(read(once)) == once


@given(
    st.dictionaries(
        st.sampled_from(LEVELS),
        st.lists(plain.filter(str.strip), min_size=1, max_size=6).map(tuple),
    )
)
def test_written_names_are_read_as_they_were(levels):
    row = RowNames(levels)

    assert read_row(write_row(row)) == row
    assert read_row(write_row(row)).defects == ()


@given(st.one_of(st.text(max_size=40), lines))
def test_a_label_of_anything_can_be_read(label):
    name, place = read_function(label), read_line(label)

    assert name is None or name.strip()
    assert place.line is None or place.line > 0
    assert place.file is None or place.file
    assert not read_counter(label).count(" ")
    assert region_name(60000018, 5, label).strip()


@given(st.integers(-(2**63), 2**63 - 1), st.one_of(st.none(), lines), st.integers(0, 14))
def test_every_type_has_a_class(type_, label, gradient):
    assert classify(type_, label, gradient) in EventClass
