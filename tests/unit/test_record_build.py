"""The recorder's shared object is the shipped one, else built once and kept."""

from __future__ import annotations

import threading

import pytest

from burstline.errors import FormatError, NotEnoughDataError, ParameterError
from burstline.record.building import recorder as build
from burstline.record.counting.plan import read_sets
from burstline.record.launching import mpi

COMPILER = """#!/bin/sh
case $1 in
  --version) echo "fake cc 1.0"; exit;;
esac
echo run >>"$LOG"
sleep 0.1
while [ $# -gt 0 ]; do [ "$1" = -o ] && { echo built >"$2"; exit; }; shift; done
"""


@pytest.fixture
def workshop(tmp_path, monkeypatch):
    """Give a place with a compiler that only pretends, nothing shipped, an empty cache."""
    tools, headers, cache = (tmp_path / name for name in ("tools", "include", "cache"))
    for folder in (tools, headers):
        folder.mkdir()
    program(tools / "fakecc", COMPILER)
    program(tools / "mpicc", f'#!/bin/sh\necho "fakecc -I{headers} -L/x -lmpi"\n')
    (headers / "mpi.h").write_text("#define OMPI_MAJOR_VERSION 4\n")
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    monkeypatch.setenv("MPICC", str(tools / "mpicc"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(build, "_SHIPPED", tmp_path / "lib")
    monkeypatch.setattr(build, "_generated_sources", lambda: {"wrappers.c": "int x;\n"})
    return tmp_path


def program(path, text):
    path.write_text(text)
    path.chmod(0o755)


def compilations(workshop):
    log = workshop / "log"
    return len(log.read_text().splitlines()) if log.exists() else 0


@pytest.mark.parametrize("name", ["lib", "a folder"])
def test_what_was_shipped_is_taken_without_a_compiler(workshop, monkeypatch, name):
    """From a folder with a blank, nothing can be preloaded: it is copied to the cache."""
    shipped = workshop / name / "libburst-openmpi.so"
    shipped.parent.mkdir()
    shipped.write_bytes(b"shipped")
    monkeypatch.setattr(build, "_SHIPPED", shipped.parent)

    found = build.shared_object(mpi.OPEN_MPI)

    assert (found == shipped) is (name == "lib")
    assert found.read_bytes() == b"shipped"
    assert " " not in str(found)
    assert compilations(workshop) == 0


def test_it_is_built_once_and_found_again_by_all_who_want_it_at_once(workshop):
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(build.shared_object(mpi.OPEN_MPI)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found.append(first := build.shared_object(mpi.OPEN_MPI))

    assert found == [first] * 5
    assert first.read_text() == "built\n"
    assert compilations(workshop) == 1
    assert sorted(path.name for path in first.parent.iterdir()) == [".lock", first.name]


GENERATED_FROM = ["wrappers.py", "calls.toml", "kinds.toml", "operations.py"]


@pytest.mark.parametrize("what", ["header", "compiler", *GENERATED_FROM])
def test_it_is_built_anew_when_anything_it_is_made_of_changes(workshop, monkeypatch, what):
    before = build.shared_object(mpi.OPEN_MPI)
    if what == "header":
        (workshop / "include" / "mpi.h").write_text("#define OMPI_MAJOR_VERSION 5\n")
    elif what == "compiler":
        program(workshop / "tools" / "fakecc", COMPILER.replace("1.0", "2.0"))
    else:
        files = {path.name: path for path in build._GENERATED_FROM}
        (workshop / what).write_bytes(files[what].read_bytes() + b"\n")
        changed = files | {what: workshop / what}
        monkeypatch.setattr(build, "_GENERATED_FROM", tuple(changed.values()))

    assert build.shared_object(mpi.OPEN_MPI) != before


def test_a_compiler_of_another_mpi_is_not_taken(workshop, monkeypatch):
    monkeypatch.setenv("PATH", str(workshop / "tools"))

    with pytest.raises(NotEnoughDataError, match=r"no recorder for MPICH.*another MPI.*MPICC="):
        build.shared_object(mpi.MPICH)


def test_a_compiler_that_fails_is_quoted_and_leaves_nothing(workshop):
    failing = COMPILER.replace("echo run", "echo 'a.c:1: error: no such thing'; exit 1; echo")
    program(workshop / "tools" / "fakecc", failing)

    with pytest.raises(NotEnoughDataError, match=r"could not be built.*no such thing"):
        build.shared_object(mpi.OPEN_MPI)

    assert list((workshop / "cache").rglob("*.so")) == []
    assert list((workshop / "cache").rglob(".build-*")) == []


@pytest.mark.parametrize(
    ("cache", "words"), [("file", "Set XDG_CACHE_HOME"), ("my cache", "blanks or colons")]
)
def test_a_cache_that_cannot_be_made_or_preloaded_from_is_refused(
    workshop, monkeypatch, cache, words
):
    (workshop / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(workshop / cache))

    with pytest.raises(ParameterError, match=words):
        build.shared_object(mpi.OPEN_MPI)


def test_building_all_says_of_each_what_came_of_it(workshop, monkeypatch):
    monkeypatch.setenv("PATH", str(workshop / "tools"))

    outcome = build.build_all(workshop / "out")

    assert outcome["openmpi"] == "built"
    assert "no recorder for" in outcome["abi"]
    assert [path.name for path in (workshop / "out").iterdir()] == ["libburst-openmpi.so"]


@pytest.mark.parametrize(
    ("text", "sets"),
    [
        ('[sets]\na = ["X", "Y"]\nb = ["X"]', {"a": ["X", "Y"], "b": ["X"]}),
        ('sets = [["X"], ["Y", "Z"]]', {"1": ["X"], "2": ["Y", "Z"]}),
    ],
)
def test_sets_of_counters_are_named_or_numbered(tmp_path, text, sets):
    (tmp_path / "set.toml").write_text(text)

    assert read_sets(tmp_path / "set.toml") == sets


@pytest.mark.parametrize(
    "text", ["", "sets = 3", "sets = []", '[sets]\n"a/b" = ["X"]', "[sets]\na = []", "[sets"]
)
def test_a_file_without_sets_of_counters_is_refused(tmp_path, text):
    (tmp_path / "set.toml").write_text(text)

    with pytest.raises(FormatError, match=r"set\.toml"):
        read_sets(tmp_path / "set.toml")
