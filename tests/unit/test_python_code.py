"""Code objects of Python: lines as CPython says them, and stacks without what runs Python."""

from __future__ import annotations

import asyncio
import inspect
import json
import typing

import pytest

from burstline.formats.raw.files.layout import EXECUTED, PYTHON_MODULE, CodePart
from burstline.formats.raw.processes.call_paths import CallPaths
from burstline.formats.raw.processes.processes import ProcessDefinitions
from burstline.formats.raw.processes.python_code import CodeObject
from raw_files import Resolver


def recorded(code):
    """What the recorder copies of a code object."""
    texts = {
        CodePart.NAME: code.co_qualname.encode(),
        CodePart.FILE: code.co_filename.encode(),
        CodePart.LINES: code.co_linetable,
    }
    return CodeObject(code.co_firstlineno, texts)


def nested(code):
    """A code object and all that it makes functions of."""
    yield code
    for constant in code.co_consts:
        if inspect.iscode(constant):
            yield from nested(constant)


@pytest.mark.parametrize("module", [json.decoder, asyncio.base_events, typing, inspect])
def test_each_instruction_has_the_line_that_python_gives_it(module):
    source = inspect.getsource(module)
    for code in nested(compile(source, "module.py", "exec")):
        copy = recorded(code)
        lines = [line for line, *_ in code.co_positions()]

        assert [copy.line(k + 1) for k in range(len(lines))] == lines


def test_code_has_the_line_of_its_definition_and_names_say_what_is_around_it():
    code = recorded(compile("\n\ndef f():\n    pass\n", "a.py", "exec").co_consts[0])
    assert code.line(0) == 3

    name = b"Solver.run.<locals>.relax"
    code = CodeObject(1, {CodePart.NAME: name, CodePart.FILE: b"/a/b.py"})
    assert (code.function, code.file) == ("Solver.run.relax", "b.py")


@pytest.mark.parametrize("table", [b"", b"\x80", b"\xf8\x7f", b"\xf0\xff\xff", b"\x01\x02"])
def test_a_table_that_is_cut_or_damaged_gives_lines_or_none(table):
    code = CodeObject(7, {CodePart.LINES: table})

    assert all(isinstance(code.line(k), int | None) for k in range(20))


def test_lines_that_cannot_be_are_unknown():
    table = bytes([0x80 | 13 << 3, *[0x7E] * 5, 0x3F])  # by 2**34 down
    code = CodeObject(3, {CodePart.NAME: b"f", CodePart.FILE: b"/a.py", CodePart.LINES: table})
    stacks = {1: ((PYTHON_MODULE, 1), (PYTHON_MODULE, 5 << 24))}  # the other was not recorded
    paths = CallPaths(None)
    row = paths.rows(ProcessDefinitions(stacks=stacks, codes={0: code}))[1]

    assert paths.table().to_pylist()[row]["line"] is None
    assert paths.table().num_rows == 1


PLACES = {
    "step": (PYTHON_MODULE, 0 << 24 | 1), "main": (PYTHON_MODULE, 1 << 24 | 1),
    "import": (PYTHON_MODULE, 2 << 24 | 1), "mpi4py.py": (PYTHON_MODULE, 3 << 24 | 1),
    "unknown": (PYTHON_MODULE, 9 << 24 | 1), "interpreter": (1, 16), "mpi4py": (2, 16),
    "numpy": (3, 16), "libc": (4, 16), "ctypes": (5, 16), "executed libc": (4, 16 | EXECUTED),
}  # fmt: skip


@pytest.mark.parametrize(
    ("stack", "path"),
    [
        ("mpi4py interpreter step main libc", "main step"),
        ("numpy interpreter step interpreter main", "main step numpy"),
        ("executed libc|interpreter step main", "main step"),
        ("numpy libc", "libc numpy"),
        ("ctypes step numpy main import mpi4py.py libc", "main numpy step"),
        ("step libc main", "main libc step"),
        ("mpi4py.py import", "import mpi4py.py"),
        ("unknown step", "step"),
    ],
)
def test_what_runs_python_is_no_part_of_a_path(stack, path):
    words = stack.split("|")[0].strip()
    names = [words] if words in PLACES else words.split()
    names += stack.split("|")[1].split() if "|" in stack else []
    files = {0: "/a/step.py", 1: "/a/main.py", 2: "<frozen importlib>", 3: "/s/mpi4py/run.py"}
    defined = ProcessDefinitions(
        stacks={1: tuple(PLACES[name] for name in names)},
        modules={
            1: "/usr/lib/libpython3.11.so.1.0",
            2: "/s/mpi4py/MPI.cpython-311-x86_64-linux-gnu.so",
            3: "/s/numpy/_core/_multiarray_umath.so",
            4: "/lib/libc.so.6",
            5: "/usr/lib/python3.11/lib-dynload/_ctypes.so",
        },
        codes={
            number: CodeObject(
                5, {CodePart.NAME: name.encode(), CodePart.FILE: files[number].encode()}
            )
            for number, name in enumerate(("step", "main", "import", "mpi4py.py"))
        },
    )
    resolver = Resolver(lambda module, _: [(SHORT[module.rpartition("/")[2]], None, None)])
    paths = CallPaths(resolver)
    row = paths.rows(defined)[1]

    assert _names(paths.table().to_pylist(), row) == path.split()


def test_a_sample_in_a_package_that_calls_no_mpi_is_the_line_that_calls_it():
    packages = b"/e/site-packages/"
    files = [b"/a/run.py", packages + b"numeric/sort.py", packages + b"solver/it.py"]
    codes = {
        number: CodeObject(5, {CodePart.NAME: b"f", CodePart.FILE: file})
        for number, file in enumerate(files)
    }
    run, numeric, solver = ((PYTHON_MODULE, number << 24) for number in codes)
    stacks = {1: (solver, run), 2: (numeric, solver, run), 3: (numeric, run), 4: (run, numeric)}
    paths = CallPaths(None)
    rows = paths.rows(ProcessDefinitions(stacks=stacks, codes=codes, sampled={2, 3, 4}))

    table = paths.table().to_pylist()
    assert [[table[rows[k]][name] for name in ("file", "line")] for k in stacks] == [
        ["it.py", 5], [None, None], [None, None], ["run.py", 5],
    ]  # fmt: skip


SHORT = {
    "libpython3.11.so.1.0": "interpreter", "MPI.cpython-311-x86_64-linux-gnu.so": "mpi4py",
    "_multiarray_umath.so": "numpy", "libc.so.6": "libc", "_ctypes.so": "ctypes",
}  # fmt: skip


def _names(rows, row):
    names = []
    while row is not None:
        names.append(rows[row]["function"])
        row = rows[row]["parent"]
    return names[::-1]
