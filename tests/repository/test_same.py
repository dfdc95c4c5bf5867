"""The comparison of all output with that of another commit: .ci/same."""

from __future__ import annotations

import importlib
import os
import runpy
import sys

import pytest

from burstline.cli.parser import COMMANDS
from repository.source import ROOT

CASE = "run/info"
COMMAND = "info run.prv --memory 300Mi"
ANCHOR = b"OTF2burstline" + bytes(6)
OUTSIDE = ("otf2_", "fixture_", "npb_", "toy_", "pair_toy", "cube_")
"""Traces that are not in the repository."""
ROW = """
[[allowed]]
command = "info run.prv --memory *"
trace = "run"
field = "stderr"
sentence = "Every format refuses with the same number."
"""


@pytest.fixture
def same(monkeypatch):
    """Give the modules that store, compare and list what is compared."""
    monkeypatch.syspath_prepend(str(ROOT / ".ci" / "same_outputs"))
    names = ("cases", "chance", "comparing", "recordings", "running", "tables")
    yield {name: importlib.import_module(name) for name in names}
    for name in names:
        del sys.modules[name]


@pytest.fixture
def stored(same, tmp_path):
    """Store what a command did, and return the folder."""

    def store(name, *, stdout=b"4 calls\n", stderr=b"", ended="0", files=None):
        out = tmp_path / name
        add = same["running"].Blobs(out / "blobs", None).add
        case = same["cases"].Case(CASE, "run", ())
        step = {"command": COMMAND, "exit": ended, "stdout": add(stdout), "stderr": add(stderr)}
        step["files"] = {file: add(data) for file, data in (files or {}).items()}
        same["running"].keep(out, case, [step])
        same["running"].keep_list(out, [case])
        return out

    return store


@pytest.fixture
def report(same, tmp_path, capsys):
    """Compare two folders; return the exit code and what is printed."""

    def compare(old, new, rows="", *, whole=True):
        (tmp_path / "same.toml").write_text(rows)
        code = same["comparing"].report(old, new, tmp_path / "same.toml", 10, whole=whole)
        return code, capsys.readouterr().out

    return compare


def test_equal_outputs_are_no_difference(stored, report):
    code, text = report(stored("old"), stored("new"))

    assert code == 0
    assert "1 commands compared: 0 differences" in text


@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("stdout", {"stdout": b"5 calls\n"}),
        ("stderr", {"stderr": b"4 calls\n"}),
        ("exit", {"ended": "1"}),
        ("file a.prv", {"files": {"a.prv": b"\0"}}),
    ],
)
def test_a_byte_that_differs_is_reported_with_command_trace_and_field(
    stored, report, field, other
):
    code, text = report(stored("old"), stored("new", **other))

    assert code == 1
    assert f"burstline {COMMAND}\n  on run: {field}\n" in text


def test_a_command_that_did_not_run_is_a_difference(stored, report):
    old, new = stored("old"), stored("new")
    for result in (new / "results").iterdir():
        result.unlink()

    assert report(old, new)[0] == 1


def test_a_row_of_the_table_allows_its_field_and_no_other(stored, report):
    old = stored("old")

    code, text = report(old, stored("refused", stderr=b"3.96 GB"), ROW)
    assert (code, "1 that 1 rows allow" in text) == (0, True)

    code, text = report(old, stored("printed", stderr=b"3.96 GB", stdout=b""), ROW)
    assert (code, "on run: stdout" in text) == (1, True)


def test_a_row_that_matches_nothing_any_more_is_named(stored, report):
    old, new = stored("old"), stored("new")
    named = "no difference any more: 'info run.prv --memory *'"

    code, text = report(old, new, ROW)
    assert (code, named in text) == (0, True)

    code, text = report(old, new, ROW, whole=False)
    assert (code, named in text) == (0, False)


def test_each_row_of_the_table_says_what_asks_for_it(same):
    table = ROOT / ".ci" / "same_outputs" / "allowed.toml"

    assert all(row.sentence for row in same["comparing"].allowed(table))


def test_paths_of_the_folder_are_left_out_and_records_are_not(same):
    normal = same["chance"].normal

    assert normal("stdout", b"/a/b/run.prv: 1", "/a/b") == b"<folder>/run.prv: 1"
    assert normal("a.otf2", ANCHOR + b"12345678" + b"\2\1", "/a/b").endswith(b"<number>\2\1")
    assert normal("a.prv", b"2:1:1:1:1:0:1:2\n", "/a/b") == b"2:1:1:1:1:0:1:2\n"


def test_of_a_run_that_takes_other_times_only_the_shape_is_compared(same):
    shape = same["chance"].shape
    one = b'{"ns": 5, "usable": true, "ranks": [{"rank": 0}, {"rank": 1}]}'
    other = b'{"ns": 70, "usable": false, "ranks": [{"rank": 1}]}'

    assert shape(one) == shape(other)
    assert shape(one) != shape(other.replace(b"usable", b"useful"))
    assert shape(b"Send  1.20 ms\nRecv  5 us  10 %\n") == shape(
        b"Recv 70 us 9.5 %\nSend 3 ns\n"
    )
    assert shape(b"Send  1.20 ms\n") != shape(b"Sent  1.20 ms\n")


@pytest.mark.parametrize("choice", ["few", "some", "all"])
def test_every_command_is_compared_on_traces_of_the_repository(
    same, choice, tmp_path, monkeypatch
):
    monkeypatch.delenv("BURSTLINE_TRACES", raising=False)
    cases, running = same["cases"], same["running"]
    every = cases.plan(ROOT, tmp_path / "inputs")

    chosen = running.selected(every, cases.CHOICES[choice])

    steps = [step.words for case in chosen for step in case.steps if step.words]
    run = {words[0].removeprefix("@") for words in steps if "--help" not in words}
    assert set(COMMANDS) == set(cases.COMMANDS)
    assert set(COMMANDS) <= run


def test_a_choice_names_no_case_that_is_not_there(same, tmp_path):
    cases, running = same["cases"], same["running"]
    every = cases.plan(ROOT, tmp_path / "inputs")
    outside = () if os.environ.get("BURSTLINE_TRACES") else OUTSIDE

    patterns = {one for name in ("few", "some") for one in cases.CHOICES[name].split("|")}

    lost = {one for one in patterns if not running.selected(every, one)}
    assert all(pattern.startswith(outside) for pattern in lost)


@pytest.mark.usefixtures("same")
def test_a_tree_takes_the_kernel_that_was_made_of_the_same_sources(tmp_path):
    kernel_of = runpy.run_path(str(ROOT / ".ci" / "same"))["kernel_of"]
    trees = [tmp_path / name for name in ("old", "new")]
    for tree in trees:
        (tree / "core").mkdir(parents=True)
        for name in ("core/a.cpp", "CMakeLists.txt"):
            (tree / name).write_text(name)

    assert len({kernel_of(tree, tmp_path) for tree in trees}) == 1
    (trees[1] / "pyproject.toml").write_text("other")
    assert len({kernel_of(tree, tmp_path) for tree in trees}) == 1
    (trees[1] / "core/a.cpp").write_text("other")
    assert len({kernel_of(tree, tmp_path) for tree in trees}) == 2
