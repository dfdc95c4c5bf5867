"""A label names a function, a line or a counter, in the style of any version."""

import pytest

from burstline.extrae.labels import (
    SourceLine,
    is_absolute,
    read_counter,
    read_function,
    read_holders,
    read_line,
)
from burstline.formats.paraver.files.pcf import read_pcf

FUNCTIONS = {
    "main ": "main",
    "adi_": "adi_",
    "CommSend [CommSend(Domain&, int, double& (Domain::**)(int))]": "CommSend",
    "Domain::..ndexSets [Domain::CreateRegionIndexSets]": "Domain::CreateRegionIndexSets",
    "Domain::Domain [Domain::Domain(int, int)]": "Domain::Domain",
    "main._omp_fn.0": "main._omp_fn.0",
    "Calc [Calc(double*) [clone ._omp_fn.3]]": "Calc._omp_fn.3",
    "Calc(double*) [clone ._omp_fn.3]": "Calc._omp_fn.3",
    "solve [solve(int) [clone .isra.0]]": "solve",
    "solve.isra.0.part.1.cold": "solve",
    "CalcQ inlined at /src/lulesh.cc:2437:16 in main": "CalcQ",
    "comm3_ inlined at a.f:1:2 in comm3_ inlined at b.f:3:4 in mg": "comm3_",
    "int driver [int driver<double, int>(Box const&) inlined at d.h:1:2 in x]": "driver",
    "unsigned long m::stats [unsigned long m::stats<m::C<double> >(m::C const&)]": "m::stats",
    "m::TypeTraits [m::TypeTraits<m::V<int>::S>::type m::dot<m::V<int> >(int)]": "m::dot",
    "m::matvec [m::matvec<m::V<int> >::operator()(m::V<int>&)]": "m::matvec::operator()",
    "bool operator< [bool operator< <int>(A<int> const&, int)]": "operator<",
    "operator<< [std::ostream& operator<<(std::ostream&, A const&)]": "operator<<",
    "A::operator [A::operator bool() const]": "A::operator bool",
    "operator new(unsigned long)": "operator new",
    "A::operator[](int)": "A::operator[]",
    "(anonymous namespace)::go(int)": "(anonymous namespace)::go",
    "void (anonymous namespace)::go<int>(int)": "(anonymous namespace)::go",
    "f(int)::{lambda(double)#1}::operator()(double) const": "f",
    "void cut<std::vector<int, std::alloc": "cut",
    "void cut [void cut<std::vector<int, std::alloc": "cut",
} | dict.fromkeys(["??", "?? ", "", "Unresolved", "_NOT_Found"])


@pytest.mark.parametrize("label", FUNCTIONS)
def test_a_function_is_its_name_without_types_and_arguments(label):
    assert read_function(label) == FUNCTIONS[label]


@pytest.mark.parametrize(
    ("label", "holders"),
    [
        ("main", []),
        (
            "CalcQ inlined at /src/lulesh.cc:2437:16 in main ",
            [("main", SourceLine("lulesh.cc", 2437))],
        ),
        (
            "comm3_ inlined at a.f:1:2 in comm3_ inlined at /s/b.f:3:4 in mg",
            [("mg", SourceLine("b.f", 3))],
        ),
        (
            "m::op [m::op<int>::operator()(int) inlined at /s/c.hpp:9:4 in void m::cg<int>(M)]",
            [("m::cg", SourceLine("c.hpp", 9))],
        ),
        ("f inlined at a.c:0:0 in ??", [("??", SourceLine("a.c", None))]),
        ("f inlined at somewhere", []),
        ("f inlined at ", []),
    ],
)
def test_a_function_that_was_inlined_names_those_it_is_in(label, holders):
    assert read_holders(label) == holders


def test_no_label_makes_more_than_a_few_frames():
    pair = " inlined at a.c:1:2 in g inlined at a.c:3:4 in h"

    assert len(read_holders("f" + pair * 500)) == 16


LINES = {
    "f.c:9 [/src/f.c:9, /src/t]": SourceLine("f.c", 9),
    "libc-start.c:360 [./csu/../csu/libc-start.c:360, /usr/lib/libc.so.6]": SourceLine(
        "libc-start.c", 360
    ),
    "101 (lulesh-comm.cc, lulesh2.0)": SourceLine("lulesh-comm.cc", 101),
    "101 (lulesh-comm.cc)": SourceLine("lulesh-comm.cc", 101),
    "7 (sh..rt.c) [7 (shockingly_short.c, run)]": SourceLine("shockingly_short.c", 7),
    "f.c:9, run": SourceLine("f.c", 9),
    "f.c:9": SourceLine("f.c", 9),
    "lo..me.c:9 [/s/long name.c:9, /s/t]": SourceLine("long name.c", 9),
    "f.c:0 [/src/f.c:0, /src/t]": SourceLine("f.c", None),
    "f.c:99999999999": SourceLine("f.c", None),
    "libmpi.so.40": SourceLine("libmpi.so.40"),
}
NO_LINES = ["??:0 [??:0, ??]", "??:0 [??:0, /src/t]", "0 (Unresolved)", "0 (_NOT_Found)"]
NO_LINES += ["Unresolved:0", "??", "End", ""]


@pytest.mark.parametrize("label", [*LINES, *NO_LINES])
def test_a_line_is_read_in_both_styles(label):
    assert read_line(label) == LINES.get(label, SourceLine())


@pytest.mark.parametrize(
    ("label", "name", "absolute"),
    [
        ("PAPI_TOT_INS [Instr completed]", "PAPI_TOT_INS", False),
        ("PAPI_TOT_INS ([Instr completed])", "PAPI_TOT_INS", False),
        ("PAPI_TOT_INS", "PAPI_TOT_INS", False),
        ("perf::TASK-CLOCK:u=1 [x]", "perf::TASK-CLOCK:u=1", False),
        ("Absolute PAPI_TOT_CYC [Total cycles]", "PAPI_TOT_CYC", True),
        ("Absolute ", "Absolute", False),
        ("", "", False),
    ],
)
def test_a_counter_is_the_first_word_of_its_label(label, name, absolute):
    assert read_counter(label) == name
    assert is_absolute(label) is absolute


@pytest.mark.parametrize("piece", [":1, ", "(", "<", ".cold", " [", "operator", "1 (a, ", ")"])
def test_a_label_of_any_length_is_read_in_linear_time(piece):
    label = "1 (" + piece * 100_000

    read_function(label)
    read_line(label)
    read_line(label[3:])


def test_labels_of_real_callers_are_resolved(real_traces):
    functions, lines = set(), set()
    for file in real_traces.rglob("*.pcf"):
        pcf = read_pcf(file.read_bytes())
        if 70000001 in pcf.types:
            functions |= set(pcf.values[pcf.types[70000001].group].values())
            lines |= set(pcf.values[pcf.types[80000001].group].values())

    names = {read_function(label) for label in functions}
    places = {label: read_line(label) for label in lines}

    assert {"CommSend", "miniFE::dot", "main", None} <= names
    assert all(name is None or not set(name) & set("<[ ") for name in names)
    unresolved = {label for label, place in places.items() if place.file is None}
    assert {label.split(" ")[0] for label in unresolved} == {"??:0", "End"}
    assert all(
        label.partition(":" + str(place.line))[0].endswith(place.file) and place.line
        for label, place in places.items()
        if label not in unresolved
    )
