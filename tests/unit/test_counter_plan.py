"""Sets of counters as a PAPI with known limits allows them."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path

import pytest

from burstline.cli import main
from burstline.errors import NotEnoughDataError, ParameterError
from burstline.record.counting.papi import Papi
from burstline.record.counting.plan import CounterPlan, plan_sets, read_sets, sets_text

SOURCE = Path(__file__).resolve().parents[1] / "record" / "fake_papi.c"
RULES = """\
event PAPI_TOT_INS
event PAPI_TOT_CYC
event PAPI_L1_DCM
event PAPI_L2_DCM
event PAPI_BR_MSP
event PAPI_FP_OPS
limit 3
apart PAPI_L1_DCM PAPI_L2_DCM
triple PAPI_TOT_INS PAPI_BR_MSP PAPI_TOT_CYC
apart PAPI_TOT_INS PAPI_FP_OPS
"""


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """Build a PAPI whose limits a test can write down."""
    made = tmp_path_factory.mktemp("papi") / "libpapi.so"
    subprocess.run(
        ["cc", "-std=c11", "-Wall", "-Werror", "-shared", "-fPIC", "-o", made, SOURCE],
        check=True,
    )
    return str(made)


@pytest.fixture
def papi(library, tmp_path, monkeypatch):
    """Give the PAPI of :data:`RULES`."""
    rules = tmp_path / "rules"
    rules.write_text(RULES)
    monkeypatch.setenv("FAKE_PAPI", str(rules))
    return library


def test_sets_fit_and_each_has_the_reference_first(papi):
    events = ["PAPI_TOT_CYC", "PAPI_L1_DCM", "PAPI_L2_DCM", "PAPI_BR_MSP"]

    with Papi(papi) as library:
        plan = plan_sets(events, library.fits, reference="PAPI_TOT_INS")

        assert all(library.fits(names) for names in plan.sets)
    assert all(names[0] == "PAPI_TOT_INS" for names in plan.sets)
    assert sorted(name for names in plan.sets for name in names[1:]) == sorted(events)
    assert len(plan.sets) == 2
    assert plan.fewest


@pytest.mark.parametrize(
    ("events", "reference", "plan"),
    [
        (
            ["PAPI_XYZ", "PAPI_FP_OPS", "PAPI_TOT_CYC"],
            "PAPI_TOT_INS",
            ((("PAPI_TOT_INS", "PAPI_TOT_CYC"),), ("PAPI_XYZ", "PAPI_FP_OPS"), "PAPI_TOT_INS"),
        ),
        (["PAPI_FP_OPS"], "PAPI_NO", ((("PAPI_FP_OPS",),), ("PAPI_NO",), None)),
        (["PAPI_TOT_INS"] * 2, "PAPI_TOT_INS", ((("PAPI_TOT_INS",),), (), "PAPI_TOT_INS")),
    ],
    ids=["not counted, or not beside it", "no usable reference", "the reference alone"],
)
def test_what_cannot_be_counted_beside_the_reference_is_unavailable(
    papi, events, reference, plan
):
    with Papi(papi) as library:
        found = plan_sets(events, library.fits, reference=reference)

    assert found == CounterPlan(*plan, fewest=True)


def test_a_machine_without_counters_has_no_sets(library, monkeypatch):
    monkeypatch.delenv("FAKE_PAPI", raising=False)
    with Papi(library) as papi:
        plan = plan_sets(["PAPI_TOT_CYC"], papi.fits, reference="PAPI_TOT_INS")

    assert plan.sets == ()
    assert plan.unavailable == ("PAPI_TOT_CYC", "PAPI_TOT_INS")


def test_many_events_are_planned_without_promising_the_fewest():
    plan = plan_sets([f"E{number}" for number in range(40)], lambda names: len(names) <= 4)

    assert len(plan.sets) == 10
    assert not plan.fewest


def test_a_search_that_asks_too_much_gives_the_best_found():
    asked = []

    def fits(names):
        asked.append(names)
        return sum(map(int, names)) <= 30

    events = [str(number) for number in (13, 11, 9, 8, 7, 6, 5, 4, 3, 3, 2, 2)]
    events = [f"{number}{' ' * place}" for place, number in enumerate(events)]
    plan = plan_sets(events, fits, most_questions=20)

    assert not plan.fewest
    assert sorted(name for names in plan.sets for name in names) == sorted(events)
    assert len(asked) < 200


def test_a_file_of_sets_is_what_record_reads(tmp_path):
    plan = plan_sets(["A", "B", "C"], lambda names: len(names) <= 2, reference="R")
    file = tmp_path / "sets.toml"
    file.write_text(sets_text(plan))

    assert list(read_sets(file).values()) == [["R", "A"], ["R", "B"], ["R", "C"]]


def test_a_library_that_is_missing_or_is_no_papi_is_named(tmp_path):
    with pytest.raises(NotEnoughDataError, match=r"no PAPI.*Install PAPI"):
        Papi(str(tmp_path / "libpapi.so"))
    with pytest.raises(NotEnoughDataError, match="PAPI_library_init"):
        Papi("libc.so.6")


def test_the_command_prints_and_writes_the_sets(papi, tmp_path, capsys):
    output = tmp_path / "sets.toml"
    words = ["counters", "plan", "PAPI_L1_DCM", "PAPI_L2_DCM", "PAPI_NO", "--papi", papi]
    main([*words, "--output", str(output), "--format", "json"])

    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert document["sets"] == [
        ["PAPI_TOT_INS", "PAPI_L1_DCM"],
        ["PAPI_TOT_INS", "PAPI_L2_DCM"],
    ]
    assert document["unavailable"] == ["PAPI_NO"]
    assert list(tomllib.loads(output.read_text())["sets"].values()) == document["sets"]
    assert "--each-set makes 2 runs" in printed.err


def test_the_command_prints_tables_for_people_and_csv_for_programs(papi, capsys):
    words = ["counters", "plan", "PAPI_L1_DCM", "PAPI_NO", "--papi", papi]
    main(words)
    assert capsys.readouterr().out == (
        "set 1: PAPI_TOT_INS PAPI_L1_DCM\nunavailable: PAPI_NO\n"
    )
    main([*words, "--format", "csv"])
    assert capsys.readouterr().out == ("set,counter\n1,PAPI_TOT_INS\n1,PAPI_L1_DCM\n,PAPI_NO\n")


def test_the_command_lists_what_can_be_counted(papi, library, monkeypatch, capsys):
    main(["counters", "list", "--papi", papi, "--format", "json"])
    names = [row["name"] for row in json.loads(capsys.readouterr().out)["counters"]]
    assert {"cpu", "work", "perf:page-faults", "PAPI_TOT_INS", "PAPI_FP_OPS"} <= set(names)

    monkeypatch.delenv("FAKE_PAPI")
    main(["counters", "list", "--papi", library])
    printed = capsys.readouterr()
    assert "PAPI_" not in printed.out
    assert "no hardware counters" in printed.err


def test_the_command_lists_its_own_counters_where_there_is_no_papi(tmp_path, capsys):
    main(["counters", "list", "--papi", str(tmp_path / "none.so")])
    printed = capsys.readouterr()

    assert "cpu" in printed.out
    assert "no PAPI" in printed.err


def test_nothing_is_written_where_nothing_can_be_counted(
    library, monkeypatch, tmp_path, capsys
):
    monkeypatch.delenv("FAKE_PAPI", raising=False)
    words = ["counters", "plan", "PAPI_L1_DCM", "--papi", library]
    main(words)
    assert "can count none of these" in capsys.readouterr().err

    with pytest.raises(SystemExit) as end:
        main([*words, "-o", str(tmp_path / "sets.toml")])
    assert end.value.code == NotEnoughDataError.exit_code
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words",
    [
        ["plan"],
        ["plan", "PAPI_A,PAPI_B"],
        ["plan", "PAPI_A", "--output", "sets.txt"],
        ["list", "PAPI_A"],
    ],
)
def test_impossible_wishes_are_refused(words):
    with pytest.raises(SystemExit) as end:
        main(["counters", *words])
    assert end.value.code == ParameterError.exit_code


def test_a_file_that_exists_is_kept(papi, tmp_path):
    output = tmp_path / "sets.toml"
    output.write_text("mine")
    words = ["counters", "plan", "PAPI_L1_DCM", "--papi", papi, "-o", str(output)]

    with pytest.raises(SystemExit):
        main(words)
    assert output.read_text() == "mine"
    main([*words, "--force"])
    assert output.read_text().startswith("#")
