"""Profiles become files by the rules of the format, and the same when they are read again."""

from __future__ import annotations

import json
import resource
import struct
import tarfile
from collections import Counter
from contextlib import contextmanager
from itertools import pairwise, product
from xml.etree import ElementTree as ET

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycubexr import CubexParser

import burstline
from burstline.cli import main
from burstline.errors import ParameterError
from burstline.formats.cube import writing
from burstline.model import CALL_PATHS, LOCATIONS, METRICS, Profile, Values
from effort import examples
from table_cells import cells

HEAD, DATA = struct.pack("<11sIHB", b"CUBEX.INDEX", 1, 0, 1), b"CUBEX.DATA"
DTYPES = {"INTEGER": "<i8", "UINT64": "<u8"}
DTYPES |= dict.fromkeys(("DOUBLE", "MINDOUBLE", "MAXDOUBLE"), "<f8")
NS = 1_000_000_000


def rows_of(schema, rows):
    named = [dict(zip(schema.names, row, strict=False)) for row in rows]
    return pa.Table.from_pylist(named, schema=schema)


def profile_of(parents, metrics, nodes=("a", "a"), **attributes):
    """A profile: paths f0, f1, … by parent; (name, parent, unit, stored values) of metrics."""
    paths = [(row, parent, f"f{row}", "a.c", row + 1) for row, parent in enumerate(parents)]
    places = [(row, row, 0, f"p{row}", f"t{row}", node) for row, node in enumerate(nodes)]
    named = [
        (row, parent, name, name.title(), unit, "min" if name == "least" else "sum")
        for row, (name, parent, unit, _) in enumerate(metrics)
    ]
    return Profile(
        rows_of(METRICS, named),
        rows_of(CALL_PATHS, paths),
        rows_of(LOCATIONS, places),
        {name: stored for name, _, _, stored in metrics if stored is not None},
        {},
        attributes,
    )


def values(rows, *, inclusive=False, dtype=np.int64):
    stored = np.array(list(rows.values()), dtype).reshape(len(rows), -1)
    return Values(np.array(list(rows), np.int32), stored, inclusive)


def by_name(profile, metric, unit=None):
    """What a metric has that is not 0: values by names of function and thread."""
    stored = profile.stored[metric]
    functions = profile.call_paths["function"].to_pylist()
    threads = profile.locations["name"].to_pylist()
    cells = {
        (functions[path], thread): value / 1e9 if unit == "ns" else value
        for path, row in zip(stored.call_paths.tolist(), stored.values.tolist(), strict=True)
        for thread, value in zip(threads, row, strict=True)
    }
    return {place: value for place, value in cells.items() if value}


def in_pycubexr(path, metric):
    """The values of a metric as pycubexr has them, shape (call paths, threads)."""
    with CubexParser(path) as cube:
        stored = cube.get_metric_values(
            cube.get_metric_by_name(metric), allow_full_uint64_values=True
        )
        return np.array([stored.cnode_values(node) for node in cube.all_cnodes()])


def by_name_in_pycubexr(path, metric):
    with CubexParser(path) as cube:
        functions = [node.region.name for node in cube.all_cnodes()]
        threads = [location.name for location in cube.get_locations()]
    cells = zip(product(functions, threads), in_pycubexr(path, metric).flat, strict=True)
    return {place: value.item() for place, value in cells if value}


def parents_of(table, column):
    names = table[column].to_pylist()
    above = [None if row is None else names[row] for row in table["parent"].to_pylist()]
    return dict(zip(names, above, strict=True))


def members(path):
    with tarfile.open(path, "r:") as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}


def keys_of(content):
    assert content.startswith(HEAD)
    number, *keys = struct.unpack(f"<{(len(content) - len(HEAD)) // 4}I", content[len(HEAD) :])
    assert number == len(keys) > 0
    return keys


def require_headers(raw):
    """Blocks of a tar archive as POSIX's ustar has them, whose reader counts blocks wrongly."""
    place, names = 0, []
    while raw[place]:
        header = raw[place : place + 512]
        size = int(header[124:135], 8)
        names.append(header[:100].rstrip(b"\0").decode())
        assert header[257:265] == b"ustar\x0000"
        assert header[156:157] == b"0"
        assert int(header[100:107], 8) == 0o600
        assert int(header[136:147], 8) == 0
        assert size % 512 != 0
        place += 512 * (1 + -(-size // 512))
    assert raw[place:] == bytes(1024)
    return names


def require_sound(path):
    """The rules of the format that no reader of ours would notice to be broken."""
    names, content = require_headers(path.read_bytes()), members(path)
    text = content["anchor.xml"].decode()
    cube = ET.fromstring(text)  # noqa: S314 -- ours
    kinds = {int(metric.get("id")): metric for metric in cube.iter("metric")}
    locations = [int(place.get("Id")) for place in cube.iter("location")]
    numbers = [name.partition(".")[0] for name in names[:-1:2]]

    assert names == [f"{n}.{end}" for n in numbers for end in ("data", "index")] + [
        "anchor.xml"
    ]
    assert [part.tag for part in cube if part.tag != "attr"] == [
        "doc", "metrics", "program", "system",
    ]  # fmt: skip
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<cube version="4.4">\n')
    # Cube's own reader knows neither of these.
    assert text.count("/>") == text.count("<attr ")
    assert "&#" not in text
    assert "cubepl" not in text
    assert len(cube.findall("program/cnode")) == len(cube.findall("system/systemtreenode")) == 1
    assert [int(node.get("id")) for node in cube.iter("cnode")] == list(
        range(len([*cube.iter("cnode")]))
    )
    assert locations == list(range(len(locations)))
    assert max(Counter(metric.get("id") for metric in cube.iter("metric")).values()) == 1
    assert all(int(rank.text) >= 0 for rank in cube.iter("rank"))
    lines = {int(region.get(end)) for region in cube.iter("region") for end in ("begin", "end")}
    assert 0 not in lines
    for number in map(int, numbers):
        keys, data = keys_of(content[f"{number}.index"]), content[f"{number}.data"]
        kind = DTYPES[kinds[number].findtext("dtype")]
        stored = np.frombuffer(data[len(DATA) :], kind).reshape(len(keys), len(locations))
        assert data.startswith(DATA)
        assert kinds[number].get("type") in {"INCLUSIVE", "EXCLUSIVE"}
        assert all(one < other for one, other in pairwise(keys))
        assert keys == [0] or stored.any(axis=1).all()


def wide_order(children, node=0):
    """Positions by the format's own words: a node's children, then below each of them."""
    below = [wide_order(children, child) for child in children.get(node, [])]
    return children.get(node, []) + [row for rows in below for row in rows]


@pytest.fixture
def place(tmp_path):
    return tmp_path / "p.cubex"


# The wide order is 0 1 2 3 4 5 6; depth first it is 0 1 3 5 4 2 6, by breadth 0 1 2 3 4 6 5.
PARENTS = [None, 0, 0, 1, 1, 3, 2]


def test_rows_of_inclusive_metrics_are_in_the_wide_order(place):
    rows = {row: [row + 1, 10 * row] for row in (6, 2, 5, 0, 4, 3, 1)}
    profile = profile_of(
        PARENTS,
        [("time", None, "occ", values(rows, inclusive=True)), ("own", 0, "occ", values(rows))],
    )
    burstline.write(profile, place)
    content = members(place)

    def first_column(metric):
        data = np.frombuffer(content[f"{metric}.data"][len(DATA) :], "<i8")
        return (data[::2] - 1).tolist()

    children = {0: [1, 2], 1: [3, 4], 3: [5], 2: [6]}
    assert keys_of(content["0.index"]) == keys_of(content["1.index"]) == list(range(7))
    assert first_column(0) == [0, *wide_order(children)] == [0, 1, 2, 3, 4, 5, 6]
    assert first_column(1) == [0, 1, 3, 5, 4, 2, 6]
    for metric in ("time", "own"):
        assert by_name_in_pycubexr(place, metric) == by_name(profile, metric)
        assert by_name(burstline.read_profile(place), metric) == by_name(profile, metric)


def test_only_rows_with_values_are_stored_by_ascending_positions_the_last_of_a_path(place):
    profile = profile_of(
        PARENTS, [("waits", None, "occ", values({2: [0, 7], 0: [0, 0], 5: [3, 0]}))]
    )
    burstline.write(profile, place)
    assert keys_of(members(place)["0.index"]) == [3, 5]
    assert by_name_in_pycubexr(place, "waits") == {("f2", "t1"): 7, ("f5", "t0"): 3}

    stored = Values(np.array([1, 0, 1]), np.array([[1, 2], [3, 4], [5, 6]]), inclusive=False)
    several = profile_of([None, 0], [("n", None, "occ", stored)])
    burstline.write(several, place, overwrite=True)
    require_sound(place)
    for found in (burstline.read_profile(place), several):
        assert found.exclusive("n").tolist() == [[3, 4], [5, 6]]


def test_times_are_seconds_and_all_else_is_as_it_is(place):
    profile = profile_of(
        [None],
        [
            ("wait", None, "ns", values({0: [1_500_000_000, 1]})),
            ("ticks", None, "ticks", values({0: [-5, 2**62 + 1]})),
            ("visits", None, "occ", values({0: [1, 2**64 - 1]}, dtype=np.uint64)),
            ("share", None, "", values({0: [0.1, np.inf]}, dtype=np.float64)),
            ("least", None, "ns", values({0: [NS, 2 * NS]})),
        ],
    )
    burstline.write(profile, place)
    again = burstline.read_profile(place)
    anchor = ET.fromstring(members(place)["anchor.xml"])  # noqa: S314 -- ours

    assert again.metrics["unit"].to_pylist() == ["sec", "ticks", "occ", "", "sec"]
    kinds = " ".join(kind.text for kind in anchor.iter("dtype"))
    assert kinds == "DOUBLE INTEGER UINT64 DOUBLE MINDOUBLE"
    assert again.exclusive("wait").tolist() == [[1.5, 1e-9]]
    assert again.exclusive("ticks").tolist() == [[-5, 2**62 + 1]]
    assert again.exclusive("visits").tolist() == [[1, 2**64 - 1]]
    assert again.exclusive("share").tolist() == [[0.1, np.inf]]
    assert again.exclusive("least").tolist() == [[1, 2]]


def test_a_metric_that_is_zero_has_one_row_and_a_minimum_without_values_none(place):
    nothing = Values(np.empty(0, np.int32), np.empty((0, 2)), inclusive=False)
    profile = profile_of(
        [None, 0],
        [
            ("late", None, "sec", nothing),
            ("least", None, "sec", nothing),
            ("zero", None, "occ", values({1: [0, 0]}, inclusive=True)),
        ],
    )
    burstline.write(profile, place)

    assert [*members(place)] == ["0.data", "0.index", "2.data", "2.index", "anchor.xml"]
    assert keys_of(members(place)["0.index"]) == [0]
    assert by_name_in_pycubexr(place, "zero") == by_name_in_pycubexr(place, "late") == {}
    assert np.isnan(burstline.read_profile(place).exclusive("least")).all()


def test_metrics_without_values_are_left_out_and_those_below_them_are_not(place):
    stored = values({0: [1, 2]})
    metrics = [
        ("time", None, "occ", stored),
        ("mpi", 0, "occ", None),
        ("p2p", 1, "occ", stored),
    ]
    burstline.write(profile_of([None], metrics), place)
    again = burstline.read_profile(place)

    assert cells(again.metrics, "name parent") == "time - | p2p 0"


def test_several_roots_are_below_one_that_includes_them(place):
    profile = profile_of(
        [None, None, 1],
        [
            ("time", None, "occ", values({0: [1, 2], 1: [10, 20], 2: [5, 5]}, inclusive=True)),
            ("own", None, "occ", values({2: [3, 4]})),
        ],
    )
    burstline.write(profile, place)
    again = burstline.read_profile(place)

    require_sound(place)
    assert again.call_paths["function"].to_pylist() == ["all programs", "f0", "f1", "f2"]
    assert again.inclusive("time").tolist() == [[11, 22], [1, 2], [10, 20], [5, 5]]
    assert again.exclusive("time").tolist() == [[0, 0], [1, 2], [5, 15], [5, 5]]
    assert again.exclusive("own").tolist() == [[0, 0], [0, 0], [0, 0], [3, 4]]


def test_columns_follow_the_threads_through_nodes_and_processes(place):
    stored = values({0: [0, 1, 2, 3]})
    profile = profile_of([None], [("n", None, "occ", stored)], nodes="abab")
    burstline.write(profile, place)
    again = burstline.read_profile(place)

    require_sound(place)
    assert cells(again.locations, "name node") == "t0 a | t2 a | t1 b | t3 b"
    assert again.exclusive("n").tolist() == [[0, 2, 1, 3]]


def test_places_without_names_and_operations_without_files_have_usual_ones(place):
    paths = [(0, None, "main"), (1, 0, "MPI_Recv", None, None, None, "mpi", "point2point")]
    profile = Profile(
        rows_of(METRICS, [(0, None, "n", None, None, "sum")]),
        rows_of(CALL_PATHS, paths),
        rows_of(LOCATIONS, [(0, 2, 0), (1, 2, 1), (2, -1, None)]),
        {"n": values({0: [1, 2, 3]})},
        {},
        {"Cube Version": "3"},
    )
    burstline.write(profile, place)
    again = burstline.read_profile(place)

    require_sound(place)
    assert cells(again.locations, "rank thread process name node") == (
        "2 0 rank_2 thread_0 node | 2 1 rank_2 thread_1 node | 0 0 rank_0 thread_0 node"
    )
    assert again.call_paths["file"].to_pylist() == [None, "MPI"]
    assert again.attributes == {
        "CubePL Version": "1.1",
        "Cube Version": "4.8.2",
        "Cube anchor.xml syntax version": "4.4",
        "Creator": f"burstline {burstline.__version__}",
    }


def test_hostile_names_are_text(place):
    name = "a<b>&\"c'\x00\x1b[31m\r\ufffe]]>&#10;&lt;</name>ä\U0001f600"
    shown = name
    for char in ("\x00", "\x1b", "\r"):
        shown = shown.replace(char, f"\\x{ord(char):02x}")
    shown = shown.replace("\ufffe", "\\ufffe")
    profile = Profile(
        rows_of(METRICS, [(0, None, name, name, name, "sum", name)]),
        rows_of(CALL_PATHS, [(0, None, name, name, 1, 2, name, name)]),
        rows_of(LOCATIONS, [(0, 0, 0, name, name, name)]),
        {name: values({0: [1]})},
        {},
        {name: f"{name}\udcff"},
    )
    burstline.write(profile, place)
    again = burstline.read_profile(place)

    require_sound(place)
    for table in (again.metrics, again.call_paths, again.locations):
        texts = [text for text in table.to_pylist()[0].values() if isinstance(text, str)]
        assert set(texts) <= {shown, "sum"}
    assert again.attributes[shown] == f"{shown}\\xff"
    assert again.exclusive(shown).tolist() == [[1]]


def test_the_anchor_never_fills_its_last_block(place):
    def write(padding):
        profile = profile_of([None], [("n", None, "occ", values({0: [1, 1]}))], x="x" * padding)
        burstline.write(profile, place, overwrite=True)
        require_sound(place)
        return len(members(place)["anchor.xml"])

    padding = -write(0) % 512
    assert [write(padding + more) % 512 for more in (-1, 0, 1)] == [511, 1, 1]


@st.composite
def profiles(draw):
    """Profiles of any trees whose parents come first, with any rows of any of three types."""
    parents = [
        draw(st.none() | st.integers(0, row - 1)) if row else None
        for row in range(draw(st.integers(1, 9)))
    ]
    nodes = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=4))
    metrics = []
    for row in range(draw(st.integers(1, 4))):
        dtype, number = draw(
            st.sampled_from(
                [
                    (np.int64, st.integers(-(2**63), 2**63 - 1)),
                    (np.uint64, st.integers(0, 2**64 - 1)),
                    (np.float64, st.floats(allow_nan=False, allow_infinity=False, width=32)),
                ]
            )
        )
        # No sum of several roots may leave the range of its type.
        cell = st.just(0) | number.map(lambda value: value / 16 if value % 1 else value // 16)
        columns = st.lists(cell, min_size=len(nodes), max_size=len(nodes))
        stored = draw(st.dictionaries(st.integers(0, len(parents) - 1), columns))
        table = np.array([*stored.values()], dtype).reshape(len(stored), len(nodes))
        rows = Values(np.array([*stored], np.int32), table, draw(st.booleans()))
        parent = draw(st.none() | st.integers(0, row - 1)) if row else None
        metrics.append((f"m{row}", parent, draw(st.sampled_from(["ns", "occ"])), rows))
    return profile_of(parents, metrics, nodes)


@examples(1)
@given(profile=profiles())
def test_what_is_written_is_sound_and_read_again(tmp_path_factory, profile):
    path = tmp_path_factory.mktemp("p") / "p.cubex"
    burstline.write(profile, path)
    again = burstline.read_profile(path)

    require_sound(path)
    assert parents_of(again.metrics, "name") == parents_of(profile.metrics, "name")
    paths = parents_of(profile.call_paths, "function")
    if list(paths.values()).count(None) > 1:
        paths = {name: above or "all programs" for name, above in paths.items()}
        paths["all programs"] = None
    assert parents_of(again.call_paths, "function") == paths
    for name, unit in zip(
        *profile.metrics.select(["name", "unit"]).to_pydict().values(), strict=True
    ):
        expected = by_name(profile, name, unit)
        for read in (by_name(again, name), by_name_in_pycubexr(path, name)):
            below = {key: value for key, value in read.items() if key[0] != "all programs"}
            assert below == expected


def test_what_was_read_is_never_replaced_and_what_exists_only_on_demand(place):
    profile = profile_of([None], [("n", None, "occ", values({0: [1, 2]}))])
    burstline.write(profile, place)
    before = place.read_bytes()
    (link := place.with_name("link.cubex")).symlink_to(place)

    for path in (place, link):
        with pytest.raises(ParameterError, match="belongs to the profile's source"):
            burstline.write(burstline.read_profile(place), path, overwrite=True)
    with pytest.raises(ParameterError, match=r"exists\. .* pass overwrite=True"):
        burstline.write(profile, place)
    assert place.read_bytes() == before
    burstline.write(profile, place, overwrite=True)


@pytest.mark.parametrize("name", ["p.prv", "p.store", "p", ".cubex"])
def test_a_profile_has_one_ending(tmp_path, name):
    profile = profile_of([None], [("n", None, "occ", values({0: [1, 2]}))])

    with pytest.raises(ParameterError, match=r"a profile is written as \.cubex"):
        burstline.write(profile, tmp_path / name)
    with pytest.raises(ParameterError, match="expected an ending in"):
        burstline.write(burstline.testing.trace_of("ranks 1"), tmp_path / "p.cubex")


def test_a_profile_without_values_or_too_large_for_an_archive_is_refused(
    tmp_path, place, monkeypatch
):
    monkeypatch.setattr(writing, "_MOST_BYTES", 26)
    for stored, words in (
        (None, "without any values"),
        (values({0: [1, 2]}), r"0\.data would have 26 bytes"),
    ):
        with pytest.raises(ParameterError, match=words):
            burstline.write(profile_of([None], [("n", None, "occ", stored)]), place)
    assert not list(tmp_path.iterdir())


def test_wherever_writing_ends_nothing_stays(tmp_path, place):
    rows = values({row: [row, 1] for row in range(7)})
    profile = profile_of(PARENTS, [(f"n{row}", None, "occ", rows) for row in range(3)])
    burstline.write(profile, place)
    whole = place.read_bytes()

    class Interrupted:
        def step(self, *_):
            pass

        def advance(self, _):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        burstline.write(profile, place, overwrite=True, progress=Interrupted())
    for limit in (0, 512, len(whole) // 2, len(whole) - 1):
        with files_of_at_most(limit), pytest.raises(OSError, match=r"p\.cubex"):
            burstline.write(profile, place, overwrite=True)
    assert list(tmp_path.iterdir()) == [place]
    assert place.read_bytes() == whole


@contextmanager
def files_of_at_most(size):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_info_shows_what_was_written(place, capsys):
    profile = profile_of(PARENTS, [("time", None, "ns", values({3: [NS, 0], 6: [0, 2 * NS]}))])
    burstline.write(profile, place)

    main(["info", str(place)])
    shown = capsys.readouterr().out
    main(["info", str(place), "--format", "json"])

    assert "3.00 s" in shown
    assert f"burstline {burstline.__version__}" in shown
    assert json.loads(capsys.readouterr().out)["metrics"][0]["total"] == 3.0


def test_a_report_has_the_same_values_when_it_is_written(real_traces, tmp_path):
    reports = sorted((real_traces / "otf2").glob("*/*.cubex"))
    assert reports
    for report in reports:
        profile, path = burstline.read_profile(report), tmp_path / "again.cubex"
        burstline.write(profile, path, overwrite=True)
        again = burstline.read_profile(path)

        require_sound(path)
        assert (again.metrics, again.call_paths, again.locations) == (
            profile.metrics,
            profile.call_paths,
            profile.locations,
        )
        for name, stored in profile.stored.items():
            np.testing.assert_array_equal(again.exclusive(name), profile.exclusive(name))
            np.testing.assert_array_equal(again.inclusive(name), profile.inclusive(name))
            if name not in {"min_time", "max_time"}:  # objects in pycubexr
                as_stored = profile.inclusive if stored.inclusive else profile.exclusive
                np.testing.assert_array_equal(in_pycubexr(path, name), as_stored(name))
