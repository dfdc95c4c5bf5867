"""What holds of symbolization whatever the compilers of this machine do."""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstline.record.symbols import demangling
from burstline.record.symbols.demangling import Demangler
from burstline.record.symbols.dwarf import DwarfError, Work, sleb, uleb
from burstline.record.symbols.elf import Elf, ElfError
from burstline.record.symbols.functions import Intervals
from burstline.record.symbols.lines import Lines
from burstline.record.symbols.resolution import Place, Resolver

if TYPE_CHECKING:
    from pathlib import Path

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
NO_X86_CALLS = [
    "90",
    "ff e0",
    "ff 20",
    "e9 00 10 00 00",
    "48 89 c3",
    "0f 92 c3",
    "ff 35 00 10 00 00",
]


def elf_with_code(code: bytes, machine: int = 62) -> bytes:
    """Give an ELF file of one executable segment, at 0x1000, and no sections."""
    header = struct.pack(
        "<16sHHIQQQIHHHHHH",
        b"\x7fELF\x02\x01\x01",
        3,
        machine,
        1,
        0,
        64,
        0,
        0,
        64,
        56,
        1,
        0,
        0,
        0,
    )
    segment = struct.pack("<IIQQQQQQ", 1, 5, 120, 0x1000, 0x1000, len(code), len(code), 4096)
    return header + segment + code


def opened(path: Path, code: bytes, machine: int = 62) -> Elf:
    path.write_bytes(elf_with_code(code, machine))
    return Elf(path)


@pytest.mark.parametrize("call", X86_CALLS)
def test_every_form_of_call_is_known_by_its_bytes(tmp_path: Path, call: str) -> None:
    code = b"\x90" * 16 + bytes.fromhex(call)
    assert opened(tmp_path / "program", code).follows_call(0x1000 + len(code)) is True


@pytest.mark.parametrize("other", NO_X86_CALLS)
def test_what_is_no_call_is_not_taken_for_one(tmp_path: Path, other: str) -> None:
    code = b"\x90" * 16 + bytes.fromhex(other)
    assert opened(tmp_path / "program", code).follows_call(0x1000 + len(code)) is False


def test_calls_of_aarch64_are_known_and_other_machines_are_believed(tmp_path: Path) -> None:
    code = struct.pack("<4I", 0xD503201F, 0x94000010, 0xD63F0100, 0xD503201F)
    arm = opened(tmp_path / "arm", code, 183)
    assert [arm.follows_call(0x1000 + at) for at in (4, 8, 12, 16)] == [
        False,
        True,
        True,
        False,
    ]
    other = opened(tmp_path / "other", code, 243)
    assert other.follows_call(0x1008) is None
    assert other.follows_call(0x2000) is False


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file cannot be understood: it is no 64-bit little-endian ELF file"),
        (
            b"#!/bin/sh\n",
            "the file cannot be understood: it is no 64-bit little-endian ELF file",
        ),
        (
            b"\x7fELF\x01\x01" + bytes(60),
            "the file cannot be understood: it is no 64-bit little-endian ELF file",
        ),
    ],
)
def test_of_what_is_no_program_a_place_is_its_offset_and_the_reason_is_told(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    (path := tmp_path / "program").write_bytes(content)
    resolver = Resolver()
    assert resolver(str(path), 16) == (Place("program+0x10", None, None),)
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
    assert Resolver()(str(tmp_path / "pipe"), 1) == (Place("pipe+0x1", None, None),)


@pytest.mark.parametrize("name", ["libc.so.6", "libc-2.31.so", "libpthread.so.0"])
def test_what_starts_the_program_is_no_place_in_it(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(elf_with_code(bytes.fromhex("90909090ffd0")))
    resolver = Resolver()
    assert resolver(str(tmp_path / name), 0x1006) == (Place("??", None, None),)
    assert resolver.problems == []


@pytest.mark.parametrize("offset", [0, -1, 1 << 63, 1 << 64, 1 << 100])
def test_addresses_that_cannot_be_are_offsets(tmp_path: Path, offset: int) -> None:
    (tmp_path / "program").write_bytes(elf_with_code(b"\x90" * 32))
    places = Resolver()(str(tmp_path / "program"), offset)
    assert places == (Place(f"program+{offset:#x}", None, None),)


def test_one_address_that_follows_no_call_does_not_discredit_the_others(tmp_path: Path) -> None:
    (path := tmp_path / "program").write_bytes(
        elf_with_code(bytes.fromhex("90909090ffd0ffd090"))
    )
    resolver = Resolver()
    resolver.resolve(str(path), [0x1006, 0x1008])
    assert not [problem for problem in resolver.problems if "changed" in problem.reason]
    resolver.resolve(str(path), [0x1009])
    assert [problem for problem in resolver.problems if "changed" in problem.reason]


@given(st.binary(max_size=400), st.integers(0, 200))
def test_no_header_makes_it_fail(
    tmp_path_factory: pytest.TempPathFactory, tail: bytes, at: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "header"
    whole = bytearray(elf_with_code(b"\x90\xff\xd0" * 20))
    whole[6 + at : 6 + at + len(tail)] = tail
    path.write_bytes(whole)
    assert Resolver()(str(path), 0x1003)
    try:
        elf = Elf(path)
    except ElfError:
        return
    assert all(isinstance(name, str) for name in elf.sections)


@given(st.integers(0, 2**64 - 1), st.integers(-(2**62), 2**62))
def test_numbers_of_any_length_are_read_back(natural: int, whole: int) -> None:
    def encoded(number: int, *, signed: bool) -> bytes:
        out = bytearray()
        while True:
            low, number = number & 0x7F, number >> 7
            done = number == -(low >> 6) if signed else number == 0
            out.append(low | (0 if done else 0x80))
            if done:
                return bytes(out)

    text = encoded(natural, signed=False)
    assert uleb(text, 0) == (natural, len(text))
    text = encoded(whole, signed=True)
    assert sleb(text, 0) == (whole, len(text))


def test_a_number_without_end_is_refused() -> None:
    with pytest.raises(DwarfError, match="too long"):
        uleb(b"\x80" * 1_000_000, 0)


def test_work_beyond_what_a_file_can_ask_for_is_refused() -> None:
    work = Work(2)
    work.spend(2)
    with pytest.raises(DwarfError, match="over and over"):
        work.spend(1)


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 5)), max_size=12),
    st.integers(0, 31),
)
def test_intervals_over_an_address_are_found_the_nearest_start_first(
    intervals: list[tuple[int, int, int]], address: int
) -> None:
    over = sorted((each for each in intervals if each[0] <= address < each[1]), reverse=True)
    assert Intervals(intervals).over(address) == list(dict.fromkeys(each[2] for each in over))


def test_of_rows_at_one_address_the_last_counts_and_line_0_is_none() -> None:
    lines = Lines(files=["", "a.c", "b.h"])
    for address, file, line in [(16, 1, 5), (16, 2, 7), (20, 1, 0), (24, 9, 8), (32, 1, 9)]:
        lines.add(address, file, line)
    lines.end_sequence(32, 0)
    assert [lines.at(address) for address in (15, 16, 19, 20, 24, 31, 32)] == [
        (None, None), ("b.h", 7), ("b.h", 7), ("a.c", None), (None, 8), (None, 8), (None, None),
    ]  # fmt: skip


def test_code_that_the_linker_left_out_does_not_hide_what_lies_there() -> None:
    lines = Lines(files=["gone.c", "real.c"])
    lines.add(0, 0, 1)
    lines.end_sequence(5000, 0)
    lines.add(4096, 1, 2)
    lines.end_sequence(4100, 1)
    assert lines.at(4097) == ("real.c", 2)


@pytest.mark.parametrize(
    ("linked", "name"),
    [
        ("_ZN6Domain8CommSendEid", "Domain::CommSend"),
        ("_Z4CalcPd._omp_fn.3", "Calc._omp_fn.3"),
        ("_ZN1aplERKS_", "a::operator+"),
        ("_ZNK6solver3BoxIiE5weighEi", "solver::Box::weigh"),
        ("_Z5solveILi3EEvv.constprop.0", "solve"),
        ("_ZNSt6vectorIiE6insertIJRKiEEEvPiDpOT_", "std::vector::insert"),
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
    assert Demangler()(linked) == name


def test_a_name_that_stands_for_an_endless_one_keeps_its_form_and_others_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(demangling, "_PATIENCE_S", 1)
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    pairs = "".join(f"S_IS{digit}_S{digit}_E" for digit in digits)
    doubling = f"_Z1fSt4pairIiiE{pairs}"
    usual = "_ZN1a1bEPKcS0_S0_S0_S0_S0_S0_S0_S0_S0_S0_"
    demangle = Demangler()
    demangle.learn([usual, doubling, usual + "i", "_ZN1a1cEv"])
    assert [demangle(name) for name in (usual, usual + "i", "_ZN1a1cEv")] == [
        "a::b",
        "a::b",
        "a::c",
    ]
    assert demangle(doubling) == doubling


def test_a_file_full_of_endless_names_is_given_up_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def fails(_: str, names: list[str]) -> list[str]:
        asked.append(len(names))
        return []

    monkeypatch.setattr(demangling, "_one_process", fails)
    names = [f"_Z1f{'S_' * 20}{number}" for number in range(1000)]
    demangle = Demangler()
    demangle.learn(names)
    assert [demangle(name) for name in names] == names
    assert len(asked) < 10


def test_no_name_holds_what_a_terminal_obeys() -> None:
    assert Demangler()("a\x1b[31m\nb") == "a\ufffd[31m\ufffdb"
