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


def test_a_block_ends_where_the_next_begins():
    row = read_row(b"LEVEL CPU SIZE 999999999999\n1.vm\nLEVEL NODE SIZE 1\nvm\n")

    assert row.levels == {"CPU": ("1.vm",), "NODE": ("vm",)}
    assert kinds(row) == ["row_size"]


def test_names_beyond_the_size_are_kept():
    row = read_row(b"LEVEL NODE SIZE 1\na\nb\n\nc\n")

    assert row.levels == {"NODE": ("a", "b", "c")}
    assert kinds(row) == ["row_size"]


def test_a_level_that_stands_twice_has_the_names_of_both():
    row = read_row(b"LEVEL NODE SIZE 1\na\nLEVEL NODE SIZE 1\nb\n")

    assert row.levels == {"NODE": ("a", "b")}


def test_what_is_no_block_is_counted():
    row = read_row(b"hello\n\nLEVEL GALAXY SIZE 1\nmilky way\nLEVEL CPU\n1.vm\n")

    assert row.levels == {"CPU": ("1.vm",)}
    assert kinds(row) == ["row_line", "row_level", "row_size"]


def test_text_of_another_encoding_is_read_and_named():
    row = read_row("LEVEL NODE SIZE 1\nk\u00f6ln\n".encode("latin-1"))

    assert row.levels == {"NODE": ("k\u00f6ln",)}
    assert kinds(row) == ["row_encoding"]


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
