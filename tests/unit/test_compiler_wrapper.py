"""The compiler wrapper adds what is needed, where it is needed, and says what is missing."""

from __future__ import annotations

import pytest

from burstline.cli import main
from burstline.errors import NotEnoughDataError, ParameterError
from burstline.record.building import compiler
from burstline.record.building.compiler import (
    KINDS,
    identify,
    instrumented,
    kinds_of,
    links,
    plugin,
)


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """Make programs that say something; only they are found."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def make(name, text, code=0):
        path = folder / name
        path.write_text(f"#!/bin/sh\necho '{text}'\nexit {code}\n")
        path.chmod(0o755)
        return name

    return make


GNU = "g++ (Debian 12.2.0) 12.2.0"
LINKED = """
main.c | -O2 main.o -lm -o main | -x c - | -shared a.o -o liba.so | @response | -o main -lfoo
| -I include main.c
"""
NOT_LINKED = """
-c main.c | -E main.c | -S main.c -o - | -MM main.c | -fsyntax-only main.c | --version | -v |
| -print-file-name=libc.a | -r a.o b.o -o c.o | header.h | -o main -I include
"""
"""What stops before linking, or has nothing to link."""


@pytest.mark.parametrize(("is_linked", "lines"), [(True, LINKED), (False, NOT_LINKED)])
def test_what_makes_a_program_or_library_links(is_linked, lines):
    for words in lines.split("|"):
        assert links(words.split()) is is_linked, words


@pytest.mark.parametrize(
    "options", ["-flto=thin", "-flto -O3 -flto=thin", "-funified-lto -flto"]
)
def test_what_is_vectorised_after_it_was_counted_is_refused(tool, options):
    tool("clang", "clang version 16.0.6")

    with pytest.raises(ParameterError, match="Compile and link with -flto, whose counts are"):
        instrumented(["clang", *options.split(), "-c", "main.c"])


@pytest.mark.parametrize("options", ["-flto", "-flto=thin -flto=full", "-flto=thin -fno-lto"])
def test_what_is_vectorised_before_it_is_counted_is_compiled(tool, monkeypatch, options):
    tool("clang", "clang version 16.0.6")
    monkeypatch.setattr(compiler, "plugin", lambda _: "plugin.so")

    command = instrumented(["clang", *options.split(), "-c", "main.c"])

    assert command[-2:] == ["-c", "main.c"]


@pytest.mark.parametrize("name", ["gfortran", "mpif90", "mpifort.openmpi", "ifx"])
def test_a_compiler_of_fortran_is_told_what_fortran_can_do(tool, name):
    tool(name, "GNU Fortran (Debian 12.2.0-14) 12.2.0" if name != "ifx" else "ifx (IFX) 2024")

    with pytest.raises(ParameterError, match="`counters=cpu`") as refused:
        identify(name)

    assert "OMPI_" not in str(refused.value)


def test_the_version_is_read_off_what_the_compiler_says_if_there_is_one(tool):
    assert identify(tool("mycc", "Debian clang version 16.0.6 (15~deb12u1)")).version == 16
    with pytest.raises(ParameterError, match="nonesuch: no such compiler"):
        identify("nonesuch")


@pytest.mark.parametrize(
    ("name", "says", "said"),
    [
        ("mycc", "gcc (GCC) 12.2.0", "is not clang"),
        ("mycc", "Apple clang version 15.0.0", "is not clang"),
        ("mycc", "clang version 13.0.1", "is LLVM 13"),
        ("mpicc", GNU, "OMPI_CC=clang, with MPICH MPICH_CC=clang"),
        ("mpicxx", GNU, r"OMPI_CXX=clang\+\+, with MPICH MPICH_CXX=clang\+\+"),
        ("mpic++.openmpi", GNU, r"OMPI_CXX=clang\+\+"),
        ("mpiCC", GNU, r"OMPI_CXX=clang\+\+"),
    ],
)
def test_other_compilers_are_refused_with_a_way_out(tool, name, says, said):
    with pytest.raises(ParameterError, match=said):
        identify(tool(name, says))


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ([], "apt install llvm-16-dev"),
        ([("llvm-config", "14.0.6")], "llvm-config-16"),
        (
            [("llvm-config", "16.0.6"), ("c++", "tally.cpp:1: error: no such thing", 1)],
            r"tally.cpp:1: error: no such thing",
        ),
    ],
    ids=["no headers", "headers of another version", "a plug-in that does not compile"],
)
def test_what_lacks_of_llvm_is_named(tool, tools, words):
    clang = identify(tool("mycc", "clang version 16.0.6"))
    for each in tools:
        tool(*each)

    with pytest.raises(NotEnoughDataError, match=words):
        plugin(clang)


@pytest.fixture
def ready(tool, tmp_path, monkeypatch):
    """Give a compiler for which all is built."""
    monkeypatch.setattr(compiler, "plugin", lambda _: tmp_path / "pass.so")
    monkeypatch.setattr(compiler, "work_object", lambda _: tmp_path / "work.o")
    monkeypatch.delenv(compiler.LOOPS, raising=False)
    return tool("mycc", "clang version 16.0.6", code=7)


def test_arguments_are_passed_on_as_they_stand(ready):
    arguments = ["-O2", "-c", "a file.c", "-DX=--"]

    command = instrumented([ready, *arguments])

    assert command[0] == ready
    assert command[-len(arguments) :] == arguments
    assert not any("work.o" in word for word in command)


def test_what_is_linked_gets_the_counters_and_shows_them(ready):
    command = instrumented([ready, "main.o"])

    assert command[command.index("-Xlinker") + 1].endswith("work.o")
    assert "-Wl,--export-dynamic-symbol=burst_work" in command


@pytest.mark.parametrize(("given", "added"), [([], True), (["-g"], False), (["-ggdb3"], False)])
def test_loops_need_lines_and_get_them(ready, monkeypatch, given, added):
    monkeypatch.setenv(compiler.LOOPS, "1")

    assert ("-gline-tables-only" in instrumented([ready, "-c", "a.c", *given])) is added


@pytest.mark.parametrize("name", ["cc", "c++"])
def test_the_exit_code_is_the_compilers(ready, name):
    with pytest.raises(SystemExit) as ended:
        main([name, "--", ready, "-c", "a.c"])

    assert ended.value.code == 7


def test_naming_no_compiler_is_an_error_that_shows_how(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["cc", "--"])

    assert ended.value.code == 2
    assert "burstline cc -- clang" in capsys.readouterr().err


def test_all_kinds_of_work_are_counted_unless_some_are_chosen():
    assert kinds_of("all") == kinds_of("flops,all") == tuple(KINDS)
    assert kinds_of(" flops, blocks,flops") == ("blocks", "flops")
    assert kinds_of("clocks") == ("blocks", "statements", "iterations")


@pytest.mark.parametrize("text", ["", ",", "flop", "flops,IR_BB"])
def test_what_is_no_kind_of_work_is_refused_with_those_there_are(ready, capsys, text):
    with pytest.raises(SystemExit) as ended:
        main(["cc", "--count", text, "--", ready, "-c", "a.c"])

    assert ended.value.code == 2
    assert "blocks, statements, memory" in capsys.readouterr().err
