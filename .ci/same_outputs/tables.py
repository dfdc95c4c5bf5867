"""What Python returns for a trace, as text: tables with their types and a hash a column."""

from __future__ import annotations

import hashlib
import importlib
import io
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any


def _hash(column: Any) -> str:  # noqa: ANN401
    """Return a hash of the values of a column, whatever its parts and what lies below nulls."""
    pa = importlib.import_module("pyarrow")
    if pa.types.is_string(column.type):  # a function of glibc that has two names
        names = ("__libc_start_main_impl", "__libc_start_main_alias_2")
        column = importlib.import_module("pyarrow.compute").replace_substring(column, *names)
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(whole, pa.ChunkedArray):  # of no part, or too long for one
        whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else whole
    digest = hashlib.sha256()
    for part in (whole.is_valid(), whole.drop_null()):
        sink = io.BytesIO()
        table = pa.table({"values": part})
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table.combine_chunks())
        digest.update(sink.getvalue())
    return digest.hexdigest()[:16]


def show(name: str, table: Any) -> None:  # noqa: ANN401
    """Print a table: its name and length, then each column's name, type, metadata and hash."""
    print(f"{name}: {table.num_rows} rows, {table.schema.metadata}")
    for field in table.schema:
        column = table[field.name]
        nulls = "" if field.nullable else " not null"
        print(f"  {field.name} {field.type}{nulls} {field.metadata} {_hash(column)}")


def show_trace(trace: Any) -> None:  # noqa: ANN401
    """Print all tables of a trace."""
    schema = importlib.import_module("burstline").schema
    print(f"{trace!r} raw {trace.has_raw} counters {trace.counter_names}")
    print(json.dumps(trace.metadata, indent=1))
    for name in schema.TABLES:
        if name not in ADDED or trace.rows(name):
            show(name, trace.table(name))


def tables(path: str, *words: str) -> None:
    """Print the tables of a trace; words are options of ``burstline.read``."""
    burstline = importlib.import_module("burstline")
    options = {name: json.loads(value) for name, value in (one.split("=") for one in words)}
    show_trace(burstline.read(path, **options))


def calls(path: str) -> None:
    """Print what the functions of the package return for a trace."""
    burstline = importlib.import_module("burstline")
    trace = burstline.read(path)
    print(json.dumps(burstline.summarise(trace).as_dict(), indent=1))
    show("burst_table", burstline.burst_table(trace).to_arrow())
    third = trace.duration_ns // 3
    part = burstline.select(trace, start_ns=third, end_ns=2 * third, ranks=[0, 2])
    show_trace(burstline.shift(part, -third))
    burstline.write(trace, "written.store")
    show_trace(burstline.read("written.store"))


def halve(path: str) -> None:
    """Leave the first half of a file."""
    file = Path(path)
    data = file.read_bytes()
    file.unlink()  # it may be a link to an input
    file.write_bytes(data[: len(data) // 2])


def spoil(path: str) -> None:
    """Change some bytes in the middle of a file."""
    file = Path(path)
    data = bytearray(file.read_bytes())
    file.unlink()
    middle = len(data) // 2
    data[middle : middle + 4] = b"\xff\x00?\xff"
    file.write_bytes(data)


def remove(path: str) -> None:
    """Remove a file."""
    Path(path).unlink()


def listing(*paths: str) -> None:
    """Print names and sizes of tables in parquet files, with their groups of rows."""
    parquet = importlib.import_module("pyarrow.parquet")
    for path in sorted(name for one in paths for name in map(str, Path().glob(one))):
        file = parquet.ParquetFile(path)
        groups = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
        sys.stdout.write(f"{path} {groups}\n")
        show(path, file.read())


def shape(path: str) -> None:
    """Print the calls of each location in their order, without a time."""
    burstline = importlib.import_module("burstline")
    trace = burstline.read(path)
    calls = trace.table("calls")
    for column in ("location", "operation"):
        print(column, calls[column].to_pylist())


def measure(signature: str, path: str) -> None:
    """Write what a run of a signature would have measured where all takes twice as long."""
    found = tomllib.loads(Path(signature).read_text(encoding="utf-8"))
    ranks = []
    for process in found["process"]:
        counts = [count for count, _ in process["boundaries"]]
        times = [2 * process["early_ns"] * count // process["cut"] for count in counts]
        told = {"rank": process["rank"], "init_ns": 0, "finalize_ns": None}
        ranks.append({**told, "counts": counts, "time_ns": times})
    document = {"version": found["version"], "wall_ns": 10**9, "facts": {}, "ranks": ranks}
    Path(path).write_text(json.dumps(document), encoding="utf-8")


def browse(path: str, *keys: str) -> None:
    """Print the screen of the browser after some keys."""
    screens = importlib.import_module("screens")
    try:
        print(screens.browsed(["browse", path], keys, size=(120, 40)))
    except SystemExit as leaving:
        print(f"exit code {leaving.code}")


def papi(path: str) -> None:
    """Build a PAPI whose limits are known, beside the rules that it goes by."""
    words = ["cc", "-shared", "-fPIC", "-o", path, str(TESTS / "record" / "fake_papi.c")]
    subprocess.run(words, check=True)
    Path("rules").write_text(RULES)


def program(path: str) -> None:
    """Write a program that has work to count."""
    Path(path).write_text(PROGRAM)


TESTS = Path(__file__).resolve().parents[2] / "tests"
RULES = """\
event PAPI_TOT_INS
event PAPI_TOT_CYC
event PAPI_L1_DCM
event PAPI_L2_DCM
limit 3
apart PAPI_L1_DCM PAPI_L2_DCM
"""
PROGRAM = """\
double sum(const double *from, int number) {
    double all = 0;
    for (int i = 0; i < number; ++i) all += from[i];
    return all;
}
"""
ADDED = {"loops", "loop_entries", "loop_iterations", "call_loops"}
"""Tables that an older commit does not know: printed where they have rows."""

ACTIONS = {
    "@tables": tables,
    "@calls": calls,
    "@halve": halve,
    "@spoil": spoil,
    "@remove": remove,
    "@listing": listing,
    "@shape": shape,
    "@measure": measure,
    "@browse": browse,
    "@papi": papi,
    "@program": program,
}
