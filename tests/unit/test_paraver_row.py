"""A block of names has the names it has, whatever its size claims."""

import pytest

from burstline.formats.paraver.files.row import RowNames, read_row, write_row

EXTRAE = b"""LEVEL CPU SIZE 2
1.vm
2.vm

LEVEL NODE SIZE 1
vm

LEVEL THREAD SIZE 2
THREAD 1.1.1
THREAD 1.2.1
"""


def kinds(row: RowNames) -> list[str]:
    return [defect.kind for defect in row.defects]


def test_windows_line_ends_lose_nothing():
    assert read_row(b"\xef\xbb\xbf" + EXTRAE.replace(b"\n", b"\r\n")) == read_row(EXTRAE)


def test_a_line_before_all_blocks_is_named():
    (defect,) = read_row(b"\nvm\n" + EXTRAE).defects

    assert (defect.kind, defect.text) == ("row_line", "line 2: 'vm'")


@pytest.mark.parametrize(
    ("text", "levels", "odd"),
    [
        (
            "LEVEL CPU SIZE 999999999999\n1.vm\nLEVEL NODE SIZE 1\nvm\n",
            {"CPU": ("1.vm",), "NODE": ("vm",)},
            ["row_size"],
        ),
        ("LEVEL NODE SIZE 1\na\nb\n\nc\n", {"NODE": ("a", "b", "c")}, ["row_size"]),
        ("LEVEL NODE SIZE 1\na\nLEVEL NODE SIZE 1\nb\n", {"NODE": ("a", "b")}, None),
        (
            "hello\n\nLEVEL GALAXY SIZE 1\nmilky way\nLEVEL CPU\n1.vm\n",
            {"CPU": ("1.vm",)},
            ["row_line", "row_level", "row_size"],
        ),
        ("LEVEL NODE SIZE 1\nk\u00f6ln\n", {"NODE": ("k\u00f6ln",)}, ["row_encoding"]),
    ],
    ids=["ends where the next begins", "names beyond", "twice", "no block", "latin-1"],
)
def test_a_block_has_the_names_that_stand_in_it(text, levels, odd):
    row = read_row(text.encode("latin-1"))

    assert row.levels == levels
    assert odd is None or kinds(row) == odd


@pytest.mark.parametrize("name", ["", "  ", "\n", "LEVEL CPU SIZE 4", "LEVEL X"])
def test_a_name_that_would_be_no_name_is_replaced(name):
    written = read_row(write_row(RowNames({"NODE": ("a", name)})))

    assert written == RowNames({"NODE": ("a", "NODE 2")})
    assert written.defects == ()


def test_real_files_are_understood_whole_and_survive_writing(real_traces):
    files = sorted(real_traces.rglob("*.row"))

    for file in files:
        row = read_row(file.read_bytes())

        assert row.defects == (), file
        assert set(row.levels) == {"CPU", "NODE", "THREAD"}, file
        assert read_row(write_row(row)) == row, file
    assert files
