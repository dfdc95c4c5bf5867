"""What holds of symbolization whatever the compilers of this machine do."""

from __future__ import annotations

import os
import struct
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstline.record.symbols import resolution
from burstline.record.symbols.lookup import BEFORE, demangled, follows_call
from burstline.record.symbols.resolution import CallerPlace, Child, Resolver, plain

X86_CALLS = [
    "e8 00 10 00 00",  # call f
    "ff d0",  # call *%rax
    "41 ff d4",  # call *%r12
    "ff 10",  # call *(%rax)
    "ff 50 10",  # call *16(%rax)
    "ff 90 00 10 00 00",  # call *4096(%rax)
    "ff 14 d8",  # call *(%rax,%rbx,8)
    "41 ff 54 24 08",  # call *8(%r12)
    "41 ff 94 24 00 10 00 00",  # call *4096(%r12)
    "ff 14 c5 00 10 00 00",  # call *4096(,%rax,8)
    "ff 15 00 10 00 00",  # call *4096(%rip)
    "3e ff d2",  # notrack call *%rdx
]
NO_X86_CALLS = ["90", "ff e0", "ff 20", "e9 00 10 00 00", "48 89 c3", "0f 92 c3"]
NO_X86_CALLS += ["ff 35 00 10 00 00"]


def elf_with_code(code: bytes, machine: int = 62) -> bytes:
    """Give an ELF file of one executable segment, at 0x1000, and no sections."""
    fields = (3, machine, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", *fields)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 120, 0x1000, 0x1000, len(code), len(code), 4096)
    return header + segment + code


def before(code: str) -> bytes:
    """Give the bytes that stand before an address after code."""
    return (b"\x90" * 16 + bytes.fromhex(code))[-BEFORE:]


@pytest.mark.parametrize("call", X86_CALLS)
def test_every_form_of_call_is_known_by_its_bytes(call: str) -> None:
    assert follows_call("EM_X86_64", before(call)) is True


@pytest.mark.parametrize("other", NO_X86_CALLS)
def test_what_is_no_call_is_not_taken_for_one(other: str) -> None:
    assert follows_call("EM_X86_64", before(other)) is False


@pytest.mark.parametrize(
    ("word", "follows"),
    [(0xD503201F, False), (0x94000010, True), (0xD63F0100, True)],
)
def test_calls_of_aarch64_are_known_and_other_machines_are_believed(
    word: int, follows: object
) -> None:
    code = bytes(3) + struct.pack("<I", word)
    assert follows_call("EM_AARCH64", code) is follows
    assert follows_call("EM_RISCV", code) is None


@pytest.mark.parametrize(
    ("code", "machine", "believed", "odd"),
    [
        (bytes(32), 243, [0x1008], 0x2000),  # outside of code, on any machine
        (bytes.fromhex("90909090ffd0ffd05f"), 62, [0x1006, 0x1008], 0x1009),  # after no call
    ],
)
def test_an_address_that_follows_no_call_says_that_the_file_changed(
    tmp_path: Path, code: bytes, machine: int, believed: list[int], odd: int
) -> None:
    (path := tmp_path / "program").write_bytes(elf_with_code(code, machine))
    resolver = Resolver()
    for addresses, has_changed in ((believed, False), ([odd], True)):
        resolver.resolve(str(path), addresses)
        assert any("changed" in each.reason for each in resolver.problems) == has_changed


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n", b"\x7fELF\x01\x01" + bytes(60)])
def test_of_what_is_no_program_a_place_is_its_offset_and_the_reason_is_told(
    tmp_path: Path, content: bytes
) -> None:
    reason = "the file cannot be understood: it is no 64-bit little-endian ELF file"
    (path := tmp_path / "program").write_bytes(content)
    resolver = Resolver()
    assert resolver(str(path), 16) == (CallerPlace("program+0x10", None, None),)
    assert [tuple(problem) for problem in resolver.problems] == [(str(path), reason)]


@pytest.mark.parametrize(
    "module", ["", "[vdso]", "/", "/dev/zero", "/no/such/file", "a\0b", "x" * 9999]
)
def test_what_is_no_file_is_never_opened(module: str) -> None:
    resolver = Resolver()
    assert resolver(module, 1)[0].line is None
    assert len(resolver.problems) == 1


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert Resolver()(str(tmp_path / "pipe"), 1) == (CallerPlace("pipe+0x1", None, None),)


@pytest.mark.parametrize("name", ["libc.so.6", "libc-2.31.so", "libpthread.so.0"])
def test_what_starts_the_program_is_no_place_in_it(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(elf_with_code(bytes.fromhex("90909090ffd0")))
    resolver = Resolver()
    assert resolver(str(tmp_path / name), 0x1006) == (CallerPlace("??", None, None),)
    assert resolver.problems == []


@pytest.mark.parametrize("offset", [0, -1, 1 << 63, 1 << 64, 1 << 100])
def test_addresses_that_cannot_be_are_offsets(tmp_path: Path, offset: int) -> None:
    (tmp_path / "program").write_bytes(elf_with_code(b"\x90" * 32))
    places = Resolver()(str(tmp_path / "program"), offset)
    assert places == (CallerPlace(f"program+{offset:#x}", None, None),)


@pytest.mark.parametrize(
    "filling", ["c3", "cc", "90", "0f1f00", "0f1f4000", "0f1f440000", "0f1f8000000000"]
)
def test_a_frame_at_the_begin_of_a_function_is_no_sign_of_another_file(
    tmp_path: Path, filling: str
) -> None:
    code = before(f"{'5f' * 9}{filling}")
    (path := tmp_path / "program").write_bytes(elf_with_code(code + b"\x55"))
    resolver = Resolver()
    places = resolver(str(path), 0x1000 + BEFORE)
    assert places == (CallerPlace(f"program+{0x1000 + BEFORE:#x}", None, None),)
    assert not [problem for problem in resolver.problems if "changed" in problem.reason]


def test_no_header_makes_it_fail(tmp_path: Path) -> None:
    resolver, numbers = Resolver(), count()

    @given(st.binary(max_size=400), st.integers(0, 200))
    def holds(tail: bytes, at: int) -> None:
        whole = bytearray(elf_with_code(b"\x90\xff\xd0" * 20))
        whole[6 + at : 6 + at + len(tail)] = tail
        (path := tmp_path / f"header{next(numbers)}").write_bytes(whole)
        assert resolver(str(path), 0x1003)

    holds()


def test_a_file_that_takes_too_long_is_given_up_and_the_next_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, other = (tmp_path / name for name in ("program", "other"))
    for path in (program, other):
        path.write_bytes(elf_with_code(bytes.fromhex("90909090ffd0")))
    resolver = Resolver()
    asked = resolver._child.ask

    def dies(**request: object) -> object:
        if request["module"] == str(program):
            resolver._child._started().kill()
        return asked(**request)

    monkeypatch.setattr(resolver._child, "ask", dies)
    for path in (program, other):
        assert resolver(str(path), 0x1006) == (CallerPlace(f"{path.name}+0x1006", None, None),)
    assert [
        problem.reason for problem in resolver.problems if "other" not in problem.module
    ] == [
        "its debug information cannot be read in a sensible time and memory",
        "its symbols cannot be read in a sensible time and memory",
    ]
    assert [problem.reason for problem in resolver.problems if "other" in problem.module] == [
        "it has no debug information: lines are unknown (compile it with -g)"
    ]


@pytest.mark.parametrize(
    ("linked", "name"),
    [
        ("_ZN6Domain8CommSendEid", "Domain::CommSend"),
        ("_Z4CalcPd._omp_fn.3", "Calc._omp_fn.3"),
        ("_ZN1aplERKS_", "a::operator+"),
        ("_ZNK6solver3BoxIiE5weighEi", "solver::Box::weigh"),
        ("_Z5solveILi3EEvv.constprop.0", "solve"),
        ("_ZNSt6vectorIiE6insertIJRKiEEEvPiDpOT_", "std::vector::insert"),
        ("_Z6reducePA8_dPd", "reduce"),
        ("_ZN4phys6DomainIdE4eachEPdPA8_dS2_", "phys::Domain::each"),
        ("_Zgarbage", "_Zgarbage"),
        ("__solver_MOD_sweep", "solver::sweep"),
        ("__a_b_MOD_c_d.constprop.1", "a_b::c_d"),
        ("adi_", "adi_"),
        ("MAIN__", "MAIN__"),
        ("main", "main"),
        ("", ""),
    ],
)  # fmt: skip
def test_names_are_those_of_the_paraver_reader(linked: str, name: str) -> None:
    assert plain(demangled(linked) or linked) == name


def test_a_name_that_stands_for_an_endless_one_keeps_its_form_and_others_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resolution, "_SECONDS", 5)
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    pairs = "".join(f"S_IS{digit}_S{digit}_E" for digit in digits)
    doubling = f"_Z1fSt4pairIiiE{pairs}"
    resolver = Resolver()
    names = ["_ZN1a1bEPKcS0_S0_S0_S0_S0_S0_S0_S0_S0_S0_", doubling, "_ZN1a1cEv"]
    assert [resolver._name(name) for name in names] == ["a::b", doubling, "a::c"]


def test_a_file_full_of_endless_names_is_given_up_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(Child, "ask", lambda _, **request: asked.append(request))
    names = [f"_Z1f{'S_' * 20}{number}" for number in range(1000)]
    resolver = Resolver()
    assert [resolver._name(name) for name in names] == names
    assert len(asked) < 10


def test_no_name_holds_what_a_terminal_obeys() -> None:
    assert plain("a\x1b[31m\nb") == "a\ufffd[31m\ufffdb"
