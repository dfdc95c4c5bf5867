"""The table of MPI calls and the C text that is made of it."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from burstline.formats.raw import operation_numbers
from burstline.model import operations
from burstline.record.building.wrappers import KINDS, calls, wrappers_source


@pytest.fixture(scope="module")
def source() -> str:
    return wrappers_source()


def test_each_number_and_name_stands_in_the_table_once_and_each_kind_is_used():
    table = calls()
    assert len({call.number for call in table}) == len(table)
    assert len({call.name for call in table}) == len(table)
    assert all(0 < call.number < 1024 for call in table)
    assert {call.kind for call in table} == set(KINDS)
    for call in table:
        collective = call.kind.startswith(("collective", "icollective"))
        assert bool(call.sent) == bool(call.received) == collective


def test_numbers_are_those_of_the_first_release():
    """Raw files hold them: a few pins, spread over the table."""
    numbers = {name: number for number, name in operation_numbers().items()}
    pinned = {
        "MPI_Send": 1, "MPI_Recv": 5, "MPI_Wait": 13, "MPI_Barrier": 40, "MPI_Bcast": 41,
        "MPI_Init": 84, "MPI_Finalize": 86, "MPI_Comm_dup": 88, "MPI_Put": 160,
        "MPI_File_open": 187,
    }  # fmt: skip
    assert {name: numbers[name] for name in pinned} == pinned


def test_operations_that_communicate_are_recorded_and_what_others_probe_for_is_not():
    recorded = set(operation_numbers().values())
    for names in ("POINT_TO_POINT", "COLLECTIVES", "RMA", "IO"):
        assert set(getattr(operations, names)) <= recorded, names
    assert not recorded & {
        "MPI_Get_version", "MPI_Get_library_version", "MPI_Abi_get_version", "MPI_Wtime"
    }  # fmt: skip


def test_each_function_is_defined_under_both_names(source: str):
    defined = Counter(re.findall(r"\bint (P?MPI_\w+)\([^;{]*\) {", source))
    for name in operation_numbers().values():
        assert defined[name] == defined["P" + name] == 1


def test_large_count_twins_exist_only_from_mpi_4_on(source: str):
    before, _, after = source.rpartition("#if MPI_VERSION >= 4\n")
    assert not re.search(r"int P?MPI_\w+_c\([^;]*\) {", before)
    assert "int MPI_Send_c(const void *buf, MPI_Count count," in after
    assert "const MPI_Count sendcounts[], const MPI_Aint sdispls[]" in after


def test_no_word_of_the_table_is_left_in_the_source(source: str):
    code = re.sub(r'"[^"]*"|/\*.*?\*/', "", source, flags=re.DOTALL)
    left = r"@[A-Z_]+|\b(?:ALL|ROOT|LEAF|RANK|MEMBERS|IN|OUT|BYTES|SUMS?|IN_PLACE)\b"
    assert re.findall(left, code) == []


def test_what_completes_a_message_gives_the_library_a_status_of_the_recorders(source: str):
    told = dict(re.findall(r"REAL\((\w+)\)\(([^)]*)\)", source))
    for call in calls():
        names = {argument.name for argument in call.arguments}
        if names & {"status", "array_of_statuses"} and call.kind not in {"plain", "file_end"}:
            assert re.search(r"\bknown$|\bbatch\.statuses$", told[call.name]), call.name


def test_persistent_collectives_with_a_root_remember_it(source: str):
    bodies = dict(re.findall(r"int wrap_(\w+)\([^;{]*\) {\n(.*?)\n}\n", source, re.DOTALL))
    assert ".peer = root, .rooted = 1" in bodies["Bcast_init"]
    assert ".persistent = 1" in bodies["Barrier_init"]
    assert ".rooted" not in bodies["Barrier_init"]
