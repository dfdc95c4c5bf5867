"""Results look the same to every eye: nothing from a trace is obeyed, nothing is cut off."""

import json

import pytest

from burstline import Trace
from burstline.quantities import format_bytes, format_ns
from burstline.show import Outcome, note, output, terminal
from burstline.show.blocks import Facts
from burstline.show.summary import SummaryView
from burstline.summary import summarise
from burstline.values import SHARE, TIME, Column, Table, Value
from by_hand import calls_of, threads, trace_of


@pytest.fixture(autouse=True)
def _no_terminal(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)


def shown(capsys, trace, top=12):
    terminal.print_blocks(SummaryView(summarise(trace), top).blocks())
    return capsys.readouterr().out


def test_escape_sequences_and_markup_of_a_trace_are_shown_not_obeyed(capsys):
    terminal.print_blocks(
        [Table([Column("name")], [["\x1b[31m[red]x[/red]"]], "[bold]t\u202e")]
    )

    out = capsys.readouterr().out
    assert not {"\x1b", "\u202e"} & set(out)
    assert "\ufffd[31m[red]x[/red]" in out
    assert "[bold]t" in out


def test_no_cell_is_cut_short_and_lines_end_without_blanks(capsys, monkeypatch):
    terminal.print_blocks([Table([Column("name")], [["x" * 150]])])  # into a pipe
    assert "x" * 150 in capsys.readouterr().out

    monkeypatch.setenv("COLUMNS", "30")
    columns = [Column("operation"), Column("time", TIME)]
    terminal.print_blocks([Table(columns, [["MPI_Ineighbor_alltoallw", 123e6]])])
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].split() == ["MPI_Ineighbor_alltoallw", "123", "ms"]

    terminal.print_blocks([Facts([("a", "b"), ("longer", "c")])])
    assert capsys.readouterr().out == "  a       b\n  longer  c\n"


def test_json_is_one_document_and_refuses_what_is_no_number(capsys):
    output(Outcome({"share": 0.5}), "json")

    assert json.loads(capsys.readouterr().out) == {"share": 0.5}
    with pytest.raises(ValueError, match="JSON"):
        output(Outcome({"share": float("nan")}), "json")


def test_csv_has_a_header_and_quotes_what_needs_it_and_a_note_is_one_line(capsys):
    output(Outcome({}, ["name", "n"], [["a,b", 1], ["\x1b", None]]), "csv")
    assert capsys.readouterr().out == 'name,n\n"a,b",1\n\\u001b,\n'
    note("two\nlines")
    assert capsys.readouterr() == ("", "two lines\n")


def test_times_have_the_unit_that_suits_them_and_sizes_decimal_ones():
    times = {
        0: "0 ns", -1_500: "-1.50 µs", 999: "999 ns", 12_345_678: "12.3 ms",
        59 * 10**9: "59.0 s", 3_600 * 10**9: "1 h 0 min",
    }  # fmt: skip
    assert {time_ns: format_ns(time_ns) for time_ns in times} == times
    assert [format_bytes(n) for n in (1, 1_500, 2 * 10**12)] == ["1 B", "1.50 kB", "2.00 TB"]


def test_info_tells_applications_without_mpi_apart_and_says_if_nothing_calls_it(capsys):
    trace = trace_of(
        locations=[*threads((0, 9)), *threads((0, 9), (0, 9), application=1, first=1)],
        calls=calls_of([("Barrier", 1, 2)]),
    )

    assert "application 1: 2 more, without MPI" in shown(capsys, trace)
    empty = shown(capsys, Trace({}))
    assert "Parallel efficiency: none, no application calls MPI" in empty


def test_info_names_what_was_odd_or_not_seen(capsys):
    trace = trace_of(
        locations=threads((0, 100)),
        gaps=[{"end_ns": 1_500, "kind": "tracing_off"}],
        defects=[{"kind": "lost", "severity": "loss", "count": 7, "first": "line 3"}],
    )

    out = shown(capsys, trace)

    assert "tracing_off" in out
    assert "1.50 µs unwatched" in out
    assert ["loss", "lost", "7", "line", "3"] in [line.split() for line in out.splitlines()]


def test_info_lists_the_longest_operations_and_says_how_many_more(capsys):
    trace = trace_of(
        locations=threads((0, 100)),
        calls=calls_of([("Send", 0, 1), ("Recv", 10, 30), ("Barrier", 40, 42)]),
    )

    out = shown(capsys, trace, top=2)

    assert out.index("MPI_Recv") < out.index("MPI_Barrier")
    assert "MPI_Send" not in out
    assert "1 other operation" in out


def test_info_shows_the_efficiency_and_who_computes_longest(capsys):
    trace = trace_of(
        locations=threads((0, 100), (0, 100)),
        calls=calls_of([("Barrier", 60, 100)], [("Barrier", 90, 100)]),
    )

    out = shown(capsys, trace)

    assert "75.0 %" in out
    assert "83.3 %" in out
    assert "90.0 %" in out
    assert "most is rank 1 with 90 ns" in out


def test_rows_of_a_tree_are_indented_by_their_depth(capsys):
    columns = [Column("metric"), Column("value", TIME)]
    rows = [["time", 3_000_000], ["mpi", None], ["waits", Value(0.25, SHARE)]]
    terminal.print_blocks([Table(columns, rows, depths=[0, 1, 2])])

    lines = capsys.readouterr().out.splitlines()[-3:]
    assert [line.split(None, 1)[1].strip() for line in lines] == ["3.00 ms", "-", "25.0 %"]
    assert [len(line) - len(line.lstrip()) for line in lines] == [2, 4, 6]


@pytest.mark.parametrize(
    ("width", "heads"),
    [(40, "name mean total share"), (32, "name mean share"), (20, "name mean")],
)
def test_spare_columns_are_left_out_where_a_screen_is_narrow(width, heads, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    times = [Column(name, TIME) for name in ("mean", "total")]
    columns = [Column("name"), *times, Column("share", SHARE)]
    rows = [["a", 1_000, 2_000, 0.5]]

    terminal.print_blocks([Table(columns, rows, spare=("total", "share"))])

    assert capsys.readouterr().out.splitlines()[0].split() == heads.split()
