"""Who includes and who calls whom in C and C++: never in a circle, and the recorder in layers.

The order of the recorder's layers stands at the top of ``runtime.h``. A unit is a C file with
the header of its name; inline functions and macros of a header belong to its unit.
"""

from __future__ import annotations

import graphlib
import re
from pathlib import Path

import pytest

from burstline.record.building.wrappers import operations_source, wrappers_source
from repository.source import PACKAGE, ROOT

NATIVE = PACKAGE / "record" / "native"
RECORD = PACKAGE / "record"
FOLDERS = (NATIVE, RECORD / "pass", RECORD / "kernels", ROOT / "core", ROOT / "core" / "fuzz")
SUFFIXES = {".c", ".cpp", ".h", ".hpp"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
LAYER = re.compile(r"^ \*     (\w+(?: \w+)*)(?:  +\S.*)?$", re.MULTILINE)

COMMENT = r"/\*.*?\*/|//[^\n]*"
STRING = r'"(?:\\.|[^"\\\n])*"' + r"|'(?:\\.|[^'\\\n])+'"
NOT_CODE = re.compile(f"{COMMENT}|{STRING}", re.DOTALL)
ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
TAG = re.compile(r"\b(?:struct|enum|union)\s+\w+")
PROTOTYPE = re.compile(r"^[A-Za-z_][^;{}=]*\([^;{}]*\)[\w\s]*;", re.MULTILINE)
DEFINITION = re.compile(r"^[A-Za-z_][^;{}=]*?\b(\w+)\s*\([^;{}]*\)\s*\{", re.MULTILINE)
MACRO = re.compile(r"^#define (\w+)\(", re.MULTILINE)


def includes(folder):
    """Return the files of a folder by name, each with those that it includes."""
    files = [path for path in folder.iterdir() if path.suffix in SUFFIXES]
    return {path.name: INCLUDE.findall(path.read_text(encoding="utf-8")) for path in files}


def circle(graph):
    """Return the nodes of a circle in a graph; none if there is no circle."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


def bare(text):
    """Return C code without comments, strings, prototypes and the names of structures."""
    text = TAG.sub("type", ATTRIBUTE.sub("attribute", NOT_CODE.sub(" ", text)))
    return PROTOTYPE.sub("", text)


def public_functions(name, code):
    """Return what others can call: functions; of a header its inline functions and macros."""
    if name.endswith(".h"):
        return {*DEFINITION.findall(code), *MACRO.findall(code)}
    found = DEFINITION.finditer(code)
    return {match[1] for match in found if not re.search(r"\bstatic\b", match[0])}


def calls(files):
    """Return the calls between units, as (caller, function, called), of files by name."""
    codes = {name: bare(text) for name, text in files.items()}
    homes = {
        function: Path(name).stem
        for name, code in codes.items()
        for function in public_functions(name, code)
    }
    return {
        (Path(name).stem, word, homes[word])
        for name, code in codes.items()
        for word in homes.keys() & re.findall(r"\w+", code)
        if homes[word] != Path(name).stem
    }


def layers(header):
    """Return the layer of each unit, 0 the highest, as the first comment of a header says."""
    lines = LAYER.findall(header.partition("*/")[0])
    return {unit: height for height, line in enumerate(lines) for unit in line.split()}


def wrong_calls(files, order):
    """Return the calls that do not lead to a lower layer."""
    return sorted(
        f"{caller} calls {function} of {called}"
        for caller, function, called in calls(files)
        if order[caller] >= order[called]
    )


@pytest.fixture(scope="module")
def recorder():
    """Return the C files of the recorder by name, those that are generated too."""
    files = {path.name: path.read_text(encoding="utf-8") for path in NATIVE.glob("*.[ch]")}
    return files | {"operations.c": operations_source(), "wrappers.c": wrappers_source()}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_files_do_not_include_each_other_in_a_circle(folder):
    graph = includes(folder)

    assert any(graph.values())
    assert circle(graph) == []


def test_a_circle_of_includes_is_found(tmp_path):
    (tmp_path / "a.hpp").write_text('#include <vector>\n#include "b.hpp"\n')
    (tmp_path / "b.hpp").write_text('  # include "c.h"\n')
    (tmp_path / "c.h").write_text('#include "a.hpp"\n')

    assert set(circle(includes(tmp_path))) == {"a.hpp", "b.hpp", "c.h"}


def test_every_unit_of_the_recorder_has_a_layer(recorder):
    units = {
        Path(name).stem
        for name, text in recorder.items()
        if name.endswith(".c") or public_functions(name, bare(text))
    }

    assert set(layers(recorder["runtime.h"])) == units


def test_the_recorder_calls_lower_layers_only(recorder):
    assert wrong_calls(recorder, layers(recorder["runtime.h"])) == []


def test_storing_a_record_calls_no_other_file_and_output_not_the_runtime(recorder):
    made = {(caller, called) for caller, _, called in calls(recorder)}

    assert {called for caller, called in made if caller == "put"} == set()
    assert ("output", "runtime") not in made
    assert {("runtime", "put"), ("output", "put"), ("runtime", "output")} <= made


@pytest.mark.parametrize(
    ("name", "text", "wrong"),
    [
        ("low.c", "int low(void) { return high(1); }", ["low calls high of high"]),
        ("low.c", "int (*hook)(int) = high;", ["low calls high of high"]),
        (
            "low.h",
            "static inline int low(void) { return high(1); }",
            ["low calls high of high"],
        ),
        ("low.h", "#define LOW(a) \\\n    (a + \\\n     high(a))", ["low calls high of high"]),
        ("low.c", "int low(void) { return beside(); }", ["low calls beside of beside"]),
        ("low.h", "struct high;\nint high(int);", []),
        ("low.c", 'int low(struct high *a) { return a == "high"; /* high(2) */ }', []),
    ],
)
def test_a_call_upwards_or_aside_is_found(name, text, wrong):
    files = {
        "high.c": "int high(int a) {\n    return low() + a;\n}\n",
        "beside.c": "struct high b;\n__attribute__((cold)) int beside(void) { return 1; }\n",
        name: text,
    }

    assert wrong_calls(files, {"high": 0, "low": 1, "beside": 1}) == wrong
