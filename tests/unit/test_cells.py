"""Texts in cells of CSV come back as they were, and nothing in them is computed or obeyed."""

from __future__ import annotations

import csv
import io
import unicodedata

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from burstline.cells import cell, cells, text_of, texts_of
from burstline.show import print_parts, write_parts

FORMULAS = [
    *("=1+1", "=cmd|' /C calc'!A0", "@SUM(A1)", "+1+cmd", "-2+3", "-A1", "\uff1d1", "a;=1+1;b"),
    *("\t=1", "\r=1", "\n=1", "\u200b=1", "--1", "-1;=2"),
]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_begins_as_a_formula(text):
    for part in cell(text).split(";"):
        number = part.removeprefix("-").isdigit()
        assert number or part[:1] not in {"=", "@", "+", "-", "\uff1d", "\t", "\r"}
    assert cell(text).isprintable()


@pytest.mark.parametrize(
    "text", ["-5", "+1.5", "-2e-7", "-", "", "a=b", "a-b", "a@plt", "x\\y"]
)
def test_numbers_and_names_stay_as_they_are(text):
    assert cell(text) == text


odd = st.text(st.sampled_from("=+-@;\\uU0123def\t\r\n\u202e\u200d\ufe0f\U000e0041é1 "))


@given(odd | st.text())
@example("\\u202e")
@example("\\U000e0041")
@example("\\\\u005c")
def test_every_text_comes_back(text):
    assert text_of(cell(text)) == text
    assert not {unicodedata.category(c) for c in cell(text)} & {"Cc", "Zl", "Zp"}
    if text.isascii():
        assert cells(pa.array([text, None])).to_pylist() == [cell(text), None]
        assert texts_of(pa.chunked_array([[cell(text)]])).to_pylist() == [text]


def test_a_cell_of_another_program_keeps_what_only_looks_like_an_escape():
    assert text_of(r"C:\u0041\U00110000\ud800\u12") == r"C:\u0041\U00110000\ud800\u12"


def test_a_table_on_standard_output_and_in_a_file_has_the_same_cells(tmp_path, capsys):
    codes = pa.array(["=1+1", "MPI_Send"]).dictionary_encode()
    table = pa.table({"=name": codes, "text": ["-1+1", "x" * 500], "n": [-5, 3]})

    write_parts([table], table.schema, path := tmp_path / "x.csv")
    print_parts([table], table.schema)

    printed = capsys.readouterr().out
    assert printed == path.read_text()
    assert list(csv.reader(io.StringIO(printed))) == [
        [r"\u003dname", "text", "n"],
        [r"\u003d1+1", r"\u002d1+1", "-5"],
        ["MPI_Send", "x" * 500, "3"],
    ]
