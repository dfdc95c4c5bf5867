"""A recorder offers a program no function that its MPI lacks."""

from __future__ import annotations

import ctypes
import subprocess

import pytest

from burstline.record.building.fitting import fitted

RECORDER = ("MPI_Init", "PMPI_Init", "MPI_Send_c", "PMPI_Send_c", "MPI_Wait", "burstline_event")


@pytest.fixture
def built(tmp_path, monkeypatch):
    """Give what makes a library with functions of some names."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def library(name, functions):
        source = "".join(f"int {function}(void) {{ return 1; }}" for function in functions)
        words = ["cc", "-shared", "-fPIC", "-x", "c", "-o", tmp_path / name, "-"]
        subprocess.run(words, input=source, text=True, check=True)
        return tmp_path / name

    return library


def test_functions_that_the_library_lacks_are_not_found_and_all_others_are(built):
    recorder = built("recorder.so", RECORDER)
    libraries = [built("libmpi.so", ["MPI_Init"]), built("libpmpi.so", ["PMPI_Wait"])]

    found = ctypes.CDLL(str(fitted(recorder, libraries)))

    there = {name for name in RECORDER if hasattr(found, name)}
    assert there == {"MPI_Init", "PMPI_Init", "MPI_Wait", "burstline_event"}
    assert fitted(recorder, libraries) == fitted(recorder, libraries), "it is made once"


def test_a_recorder_stays_as_it_is_where_nothing_lacks_or_no_library_is_mpi(built):
    recorder = built("recorder.so", RECORDER)

    assert fitted(recorder, [recorder]) == recorder
    assert fitted(recorder, [built("libother.so", ["MPI_Wait"])]) == recorder
    assert fitted(recorder, []) == recorder


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:50],
        lambda content: content[: len(content) // 2],
        lambda content: content[:4] + b"\x01" + content[5:],
        lambda content: content[:40] + b"\xff" * 8 + content[48:],
    ],
    ids=["head only", "half", "of 32 bits", "sections nowhere"],
)
def test_a_damaged_library_leaves_the_recorder_as_it_is(built, damage):
    recorder = built("recorder.so", RECORDER)
    library = built("libmpi.so", ["MPI_Init"])
    library.write_bytes(damage(library.read_bytes()))

    assert fitted(recorder, [library]) == recorder
