"""The experiment on unique calls counts what it says it counts, and its laws hold."""

from __future__ import annotations

import pytest
from experiments.structure.published import LAWS, PUBLISHED
from experiments.structure.unique_calls import main

from burstline.errors import ParameterError

PRV = """\
#Paraver (01/02/2026 at 03:04):1000_ns:1(2):1:2(1:1,1:1),0
2:1:1:1:1:10:50000003:31
2:1:1:1:1:20:50000003:0
2:1:1:1:1:30:50000001:1:70000001:3:80000001:5:70000002:2:80000002:3
2:1:1:1:1:40:50000001:0
2:1:1:1:1:50:50000001:1:70000001:3:80000001:5:70000002:2:80000002:4
2:1:1:1:1:60:50000001:0
2:1:1:1:1:70:50000001:1:70000001:3:80000001:6:70000002:2:80000002:4
2:1:1:1:1:80:50000001:0
2:2:1:2:1:10:50000003:31
2:2:1:2:1:20:50000003:0
2:2:1:2:1:90:50000002:8:70000001:2:80000001:3
2:2:1:2:1:95:50000002:0
"""
PCF = """\
EVENT_TYPE
9    50000001    MPI Point-to-point
VALUES
1    MPI_Send

EVENT_TYPE
9    50000002    MPI Collective Comm
VALUES
8    MPI_Barrier

EVENT_TYPE
9    50000003    MPI Other
VALUES
31   MPI_Init

EVENT_TYPE
0    70000001    Caller at level 1
0    70000002    Caller at level 2
VALUES
2    main
3    send

EVENT_TYPE
0    80000001    Caller line at level 1
0    80000002    Caller line at level 2
VALUES
3    a.f:3 [/a.f:3, /a.out]
4    a.f:4 [/a.f:4, /a.out]
5    b.f:5 [/b.f:5, /a.out]
6    b.f:5 [/b.f:5, /a.out]
"""


def rows(text, title):
    """Cells of the table below a title."""
    table = text.split(f"## {title}\n\n")[1].split("\n\n")[0]
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()
    ][2:]


@pytest.fixture
def printed(tmp_path, capsys):
    (tmp_path / "npb_cg_S_2r.prv").write_text(PRV)
    (tmp_path / "npb_cg_S_2r.pcf").write_text(PCF)
    main([str(tmp_path)])
    return capsys.readouterr().out


def test_fewer_frames_tell_fewer_calls_apart_and_sites_how_many_ways_lead_to_them(printed):
    (row,) = rows(printed, "Frames kept next to MPI")
    assert row == ["CG", "2", "4", *["5"] * 7]

    sites = rows(printed, "Call sites of CG on 2 ranks")
    assert ["send", "MPI_Send", "5", "2", "2", "1 of 2"] in sites
    assert ["main", "MPI_Barrier", "3", "1", "1", "1 of 2"] in sites


def test_the_laws_give_all_published_counts_but_one():
    wrong = {
        (program, ranks)
        for program, counts in PUBLISHED.items()
        for ranks, count in counts.items()
        if LAWS[program][1](ranks) != count
    }

    assert wrong == {("MG", 8)}


def test_a_folder_without_traces_is_refused_with_the_way_out(tmp_path):
    with pytest.raises(ParameterError, match="it takes traces of NPB"):
        main([str(tmp_path)])


def test_the_laws_give_the_counts_of_real_traces(real_traces, capsys):
    main([str(real_traces)])
    for program, _, _, _, without, law in rows(
        capsys.readouterr().out, "Unique calls of the traces"
    ):
        assert without.split("by address ")[-1].rstrip(")") == law, program
