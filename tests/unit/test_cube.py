"""Profiles of Cube: values as stored, empty metrics as zeros, hostile archives refused."""

from __future__ import annotations

import contextlib
import gzip
import json
import struct
import sys
import tarfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import burstline
import in_turn
from burstline.cli import main
from burstline.errors import (
    BurstlineError,
    FormatError,
    MemoryBudgetError,
    MissingExtraError,
    ParameterError,
    UnsupportedRecordError,
)
from burstline.formats.cube import archive
from burstline.formats.intake.budget import BASE
from cube_files import METRICS, SYSTEM, Cube, Member, anchor, data, index
from supervised import supervised


@pytest.fixture
def place(tmp_path):
    return tmp_path / "p.cubex"


def test_values_are_those_of_the_file_by_call_path_and_location(place):
    profile = burstline.read_profile(Cube().write(place))

    assert profile.inclusive("time").tolist() == [[10, 20], [4, 8], [3, 5]]
    assert profile.exclusive("time").tolist() == [[3, 7], [4, 8], [3, 5]]
    assert profile.exclusive("wait").tolist() == [[0, 0], [0, 0], [7, 2**64 - 1]]
    assert profile.total("time") == 30
    assert profile.to_table("wait").to_pylist() == [
        {"call_path": 2, "location": 0, "value": 7},
        {"call_path": 2, "location": 1, "value": 2**64 - 1},
    ]


def test_a_minimum_is_combined_as_one_and_unknown_where_there_is_none(place):
    profile = burstline.read_profile(Cube().write(place))

    assert np.isnan(profile.exclusive("least")[0]).all()
    assert profile.inclusive("least").tolist() == [[0.5, 0.25], [0.5, 0.25], [2, 4]]
    assert profile.total("least") == 0.25


@pytest.mark.parametrize("content", [None, index(), index()[:18]])
def test_a_metric_without_values_is_zero_however_the_writer_said_so(place, content):
    cube = Cube.of({"1.index": content, "1.data": None if content is None else data()})

    profile = burstline.read_profile(cube.write(place))

    assert profile.total("wait") == 0
    assert profile.to_table("wait").num_rows == 0


def test_compound_values_are_left_out_and_named(place):
    cube = Cube.of({"3.index": index(0), "3.data": data(*range(10))})

    profile = burstline.read_profile(cube.write(place))

    assert "TAU_ATOMIC" in profile.left_out["spread"]
    with pytest.raises(ParameterError, match="TAU_ATOMIC"):
        profile.total("spread")


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("packed", [False, True])
def test_byte_order_and_compression_of_the_writer_change_nothing(place, order, packed):
    values = data(10, 20, 4, 8, 3, 5, order=order, packed=packed)
    changed = {"0.index": index(0, 1, 2, order=order), "0.data": values}
    cube = Cube.of(changed | {"anchor.xml": gzip.compress(anchor())})

    profile = burstline.read_profile(cube.write(place))

    assert profile.inclusive("time").tolist() == [[10, 20], [4, 8], [3, 5]]


def test_columns_are_locations_by_their_ids_not_by_their_place_in_the_file(place):
    swapped = anchor().replace(b'location Id="0"', b'location Id="x"')
    swapped = swapped.replace(b'location Id="1"', b'location Id="0"')
    cube = Cube.of({"anchor.xml": swapped.replace(b'location Id="x"', b'location Id="1"')})

    profile = burstline.read_profile(cube.write(place))

    assert profile.locations["rank"].to_pylist() == [0, 1]
    assert profile.inclusive("time")[0].tolist() == [20, 10]


def test_only_the_metrics_asked_for_are_read(place):
    profile = burstline.read_profile(Cube().write(place), metrics=["wait"])

    assert list(profile.stored) == ["wait"]
    with pytest.raises(ParameterError, match="it was not read"):
        profile.total("time")
    with pytest.raises(ParameterError, match="there are time, wait"):
        burstline.read_profile(place, metrics=["delay"])


DERIVED = METRICS.replace('type="EXCLUSIVE"', 'type="POSTDERIVED"', 1)
DAMAGED = {
    "a name that climbs": ({}, [Member("../../etc/passwd", b"x")]),
    "a name from the root": ({}, [Member("/etc/passwd", b"x")]),
    "a symbolic link": ({}, [Member("9.data", kind=tarfile.SYMTYPE, link="/etc/passwd")]),
    "a hard link": ({}, [Member("9.data", kind=tarfile.LNKTYPE, link="0.data")]),
    "a device": ({}, [Member("9.data", kind=tarfile.CHRTYPE)]),
    "no anchor": ({"anchor.xml": None}, []),
    "an anchor that is no XML": ({"anchor.xml": b"<?xml nothing"}, []),
    "an anchor cut short": ({"anchor.xml": anchor()[:-40]}, []),
    "a compressed anchor cut short": ({"anchor.xml": gzip.compress(anchor())[:-40]}, []),
    "two programs": ({"anchor.xml": anchor(calls='<cnode id="0" calleeId="0"/>' * 2)}, []),
    "a region nobody defined": (
        {"anchor.xml": anchor(calls='<cnode id="0" calleeId="8"/>')},
        [],
    ),
    "metrics that are computed": ({"anchor.xml": anchor(metrics=DERIVED)}, []),
    "a metric without a name": (
        {"anchor.xml": anchor(metrics="<metric id='0' type='EXCLUSIVE'/>")},
        [],
    ),
    "an index of rows that do not exist": ({"0.index": index(0, 1, 77)}, []),
    "an index that says more than it has": ({"0.index": index(0, 1, 2)[:-4]}, []),
    "an index of another form": ({"0.index": index(0, 1, 2, style=3)[:18] + b"12345678"}, []),
    "no index at all": ({"0.index": b"something else that is long enough"}, []),
    "too few values": ({"0.data": data(1, 2, 3)}, []),
    "values that are no multiple": ({"0.data": data(1, 2, 3) + b"odd"}, []),
    "values that are missing": ({"0.data": None}, []),
    "a compressed stream that is none": (
        {"0.data": b"ZCUBEX.DATA" + struct.pack("<4Q", 1, 0, 0, 9) + b"garbage!!"},
        [],
    ),
    "more streams than bytes": ({"0.data": b"ZCUBEX.DATA" + struct.pack("<Q", 2**60)}, []),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_a_damaged_or_hostile_archive_is_refused_by_name(place, what):
    with pytest.raises(FormatError, match=r"p\.cubex"):
        burstline.read_profile(Cube.of(*DAMAGED[what]).write(place))


def test_what_is_no_archive_is_refused_and_no_profile_is_a_trace(place):
    with pytest.raises(UnsupportedRecordError, match="read_profile"):
        burstline.read(Cube().write(place))
    place.write_bytes(b"#Paraver" * 1000)
    with pytest.raises(FormatError, match="tar archive"):
        burstline.read_profile(place)


@pytest.mark.parametrize("member", ["anchor.xml", "0.data"])
def test_a_member_that_unpacks_to_more_than_is_allowed_is_refused_unread(place, member):
    many = 40_000_000
    bombs = {
        "anchor.xml": gzip.compress(b"<?xml" + b" " * many),
        "0.data": data(*([0.0] * (many // 8)), packed=True),
    }
    Cube.of({member: bombs[member]}).write(place)
    assert place.stat().st_size < 500_000

    with pytest.raises(MemoryBudgetError, match="Allow more memory"):
        burstline.read_profile(place, memory=10_000_000)


def test_values_beyond_the_memory_allowed_say_so(place):
    Cube.of({"0.data": data(*range(60_000), packed=True)}).write(place)

    burstline.read_profile(place, memory=1_000_000, metrics=["wait"])
    with pytest.raises(MemoryBudgetError, match="fewer metrics"):
        burstline.read_profile(place, memory=1_000_000)
    with pytest.raises(MemoryBudgetError):
        burstline.read_profile(place, memory=40)


def around(text):
    return anchor().replace(b"<doc/>", f"<doc>{text}</doc>".encode())


MANY = 1_000_000
EXPANDING = {
    "elements in elements": lambda: around("<a>" * MANY + "</a>" * MANY),
    "elements beside each other": lambda: around("<a/>" * MANY),
    "chains of elements": lambda: around(("<a>" * 900 + "</a>" * 900) * (MANY // 900)),
    "attributes": lambda: around('<a b="" c="" d="" e=""/>' * (MANY // 2)),
    "text that one letter makes wide": lambda: around("\U0001f600" + "x" * 60 * MANY),
    "a long tag": lambda: around(f'<a b="{"x" * 60 * MANY}"/>'),
    "call paths": lambda: anchor(
        calls=f'<cnode id="0" calleeId="0">{"<cnode/>" * MANY}</cnode>'
    ),
}


@pytest.mark.parametrize("what", EXPANDING)
def test_trees_that_expand_are_refused_within_the_memory_promised(tmp_path, what):
    files = [tmp_path / "p.cubex", tmp_path / "q.cubex"]
    cube = Cube.of({"anchor.xml": gzip.compress(EXPANDING[what]())})
    for file in files:
        cube.write(file)
    assert files[0].stat().st_size < 200_000
    jobs = [[*words, "--memory", "256M"] for words in (("info", files[0]), ("compare", *files))]

    done = supervised(in_turn.__file__, json.dumps(jobs, default=str))
    for code, said in json.loads(done.printed):
        assert code in (3, 5), said
        assert str(files[0]) in said
    assert done.peak_bytes < 256_000_000 + BASE


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<a>" * 801 + "</a>" * 801, "elements within at most 800 others beside call paths"),
        (f'<a b="{"x" * 2_000_000}"/>', "tags of at most 1,048,576 bytes"),
    ],
)
def test_depth_and_tags_have_limits_whatever_memory_is_allowed(place, text, said):
    cube = Cube.of({"anchor.xml": around(text)})
    with pytest.raises(FormatError, match=said):
        burstline.read_profile(cube.write(place), memory=10**12)


@pytest.mark.parametrize("encoding", ["UTF-999", "utf-7", "hex", "utf-32"])
def test_an_encoding_that_no_reader_of_xml_knows_is_damage(place, encoding):
    cube = Cube.of({"anchor.xml": anchor().replace(b"UTF-8", encoding.encode(), 1)})
    with pytest.raises(FormatError, match=r"anchor\.xml"):
        burstline.read_profile(cube.write(place))


def chain(depth):
    nodes = [f'<cnode id="{k}" calleeId="{k % 3}">' for k in range(depth)]
    return Cube.of({"anchor.xml": anchor(calls="".join(nodes) + "</cnode>" * depth)})


def deep_in_calls(depth, function, *arguments):
    return deep_in_calls(depth - 1, function, *arguments) if depth else function(*arguments)


@pytest.mark.parametrize("depth", [800, 20_000])
def test_call_paths_are_read_however_deep_they_are(place, depth):
    cube = chain(depth)
    cube.members |= {"0.index": index(0, depth - 1), "0.data": data(1, 2, 3, 4)}

    profile = burstline.read_profile(cube.write(place))

    assert profile.call_paths["parent"].to_pylist() == [None, *range(depth - 1)]
    functions = ["main", "solve", "MPI_Recv"]
    assert profile.call_paths["function"].to_pylist() == [
        functions[k % 3] for k in range(depth)
    ]
    assert profile.exclusive("time")[[0, -1]].tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(("depth", "callers"), [(799, 0), (1_500, 0), (790, 300)])
def test_other_trees_that_are_too_deep_are_said_to_be_so_and_not_damaged(place, depth, callers):
    node = b"<systemtreenode"
    head, rest = anchor().split(node, 1)
    above = b"".join(b'<systemtreenode Id="%d">' % (k + 100) for k in range(depth))
    inner, tail = rest.split(b"</system>", 1)
    closed = b"</systemtreenode>" * depth
    deep = head + above + node + inner + closed + b"</system>" + tail
    Cube.of({"anchor.xml": deep}).write(place)
    with pytest.raises(UnsupportedRecordError, match=r"within at most 800 .*without this"):
        deep_in_calls(callers, burstline.read_profile, place)


def test_an_index_that_expands_is_refused_within_the_memory_promised(place):
    cube = Cube.of({"0.index": index(*range(5 * MANY)), "0.data": data(0, packed=True)})
    done = supervised("-m", "burstline", "info", cube.write(place), "--memory", "128M")
    assert done.code == 5, done.said
    assert done.peak_bytes < 128_000_000 + BASE


def test_entities_are_refused_before_they_are_expanded(place):
    laughs = "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 9}">' for n in range(9))
    head = f'<!DOCTYPE cube [<!ENTITY a0 "ha">{laughs}]><cube version="4.4">'
    bomb = anchor().replace(b'<cube version="4.4">', head.encode())
    cube = Cube.of({"anchor.xml": bomb})
    with pytest.raises(FormatError, match="no entities"):
        burstline.read_profile(cube.write(place))


@pytest.mark.parametrize("wide", [False, True])
def test_what_trees_take_is_estimated_above_what_they_take(place, wide):
    """Sound trees: of many call paths, or of many locations."""
    if wide:
        thread = (
            '<location Id="{0}"><name>T</name><rank>{0}</rank><type>thread</type></location>'
        )
        threads = "".join(map(thread.format, range(100_000)))
        system = SYSTEM[: SYSTEM.index("<location Id")] + threads
        system += "</locationgroup></systemtreenode></systemtreenode>"
        cube = Cube()
        cube.members = {"anchor.xml": anchor(system=system)}
    else:
        paths = "".join(f'<cnode id="{n}" calleeId="1"/>' for n in range(1, 100_000))
        calls = f'<cnode id="0" calleeId="0">{paths}</cnode>'
        cube = Cube.of({"anchor.xml": anchor(calls=calls)})
    base = supervised("-m", "burstline", "info", Cube().write(place)).peak_bytes
    whole = supervised("-m", "burstline", "info", cube.write(place)).peak_bytes
    estimated = archive.check(place, 10**9).trees
    assert whole - base < estimated < 4 * (whole - base)


@given(st.data())
def test_flipped_bytes_give_a_profile_or_an_error_of_ours(tmp_path_factory, data):
    path = Cube().write(tmp_path_factory.mktemp("p") / "p.cubex")
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content[: data.draw(st.integers(1, len(content)))])

    with contextlib.suppress(BurstlineError):
        burstline.read_profile(path, memory=10_000_000)


def test_without_the_extra_the_error_names_it(place, monkeypatch):
    Cube().write(place)
    monkeypatch.setitem(sys.modules, "pycubexr", None)

    with pytest.raises(MissingExtraError, match=r"burstline\[cube\]"):
        burstline.read_profile(place)


def test_info_prints_totals(place, capsys):
    Cube().write(place)

    main(["info", str(place)])
    shown = capsys.readouterr().out
    main(["info", str(place), "--format", "json"])
    totals = {row["metric"]: row for row in json.loads(capsys.readouterr().out)["metrics"]}

    assert "30.0 s" in shown
    assert totals["wait"] | {"total": 0} == {
        "metric": "wait", "parent": "time", "title": "Wait", "unit": "occ", "total": 0,
    }  # fmt: skip
    assert totals["spread"]["total"] is None


def test_reports_of_scalasca_hold_the_waits_that_were_planted(real_traces):
    folder = real_traces / "otf2" / "scorep_toy4"
    planted = {"mpi_latesender": 0.4209, "mpi_latereceiver": 0.3244, "mpi_wait_nxn": 0.5912}

    scout = burstline.read_profile(folder / "scout.cubex")
    remapped = burstline.read_profile(folder / "summary.remap.cubex")

    for profile in (scout, remapped):
        found = {name: round(profile.total(name), 4) for name in planted}
        assert found == planted
    assert scout.total("visits") == remapped.total("visits") == 682


def test_own_time_is_what_the_parser_itself_computes(real_traces):
    from pycubexr import CubexParser

    path = real_traces / "otf2" / "scorep_toy4" / "scout.cubex"
    profile = burstline.read_profile(path, metrics=["time"])
    with CubexParser(path) as cube:
        values = cube.get_metric_values(cube.get_metric_by_name("time"))
        expected = [
            values.cnode_values(n, convert_to_exclusive=True) for n in cube.all_cnodes()
        ]

    np.testing.assert_allclose(profile.exclusive("time"), expected, atol=1e-12)
