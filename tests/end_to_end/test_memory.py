"""Memory follows the part that is asked for, not the trace: measured in child processes."""

from __future__ import annotations

import json
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.generate import generate

import burstline
import expanding
from command import burstline as call
from supervised import base_bytes, supervised
from two_runs import CYC, INS, Run, value
from vouched import vouch

RANKS = 64
SMALL, LARGE = 26_000_000, 90_000_000
WINDOW = ("--from", "1.2s", "--to", "1.24s")
ANALYSED = ("calls", "messages", "bursts", "readings", "states")
ROOM = {"cut": 100_000_000, "info": 40_000_000}
"""Bytes that may differ by run: how many row groups threads hold at once."""


def run(*words):
    """Run a command; give its exit code, what it said, and the most memory it had."""
    return supervised("-m", "burstline", *words, "--quiet")


def convert(trace, output):
    """Convert a trace of which no memory is looked at."""
    done = call("convert", trace, output, "--memory", "1G", "--quiet")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def base():
    """Give what a process takes before it reads anything."""
    return base_bytes()


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """Give two stores with full row groups, of one program; the second ran thrice as long."""
    folder = tmp_path_factory.mktemp("large")
    made = []
    for name, size in (("small", SMALL), ("large", LARGE)):
        generate(folder / f"{name}.prv", ranks=RANKS, size=size)
        convert(folder / f"{name}.prv", folder / f"{name}.store")
        made.append(folder / f"{name}.store")
    return made


def test_memory_of_a_window_does_not_grow_with_the_trace(stores, tmp_path):
    small, large = map(burstline.read, stores)
    for command, names in (("cut", (*ANALYSED, "events")), ("info", ANALYSED)):
        grown = sum(large.estimate_bytes(name) - small.estimate_bytes(name) for name in names)
        assert grown > 1.5 * ROOM[command]

    peaks = {}
    for command in (("cut", "-o", tmp_path / "part.prv", "--force"), ("info", "--quick")):
        for store in stores:
            words = command[0], store, *command[1:], *WINDOW, "--memory", "64M"
            runs = [run(*words, "--format", "json") for _ in range(3)]
            assert all(code == 0 and json.loads(said) for code, said, _, _ in runs)
            # What a command needs it takes each time; what threads hold at once comes and goes.
            peaks[command[0], store.stem] = min(peak for *_, peak in runs)

    for command, room in ROOM.items():
        assert peaks[command, "large"] < peaks[command, "small"] + room


def test_what_would_not_fit_is_refused_before_it_starts(stores, tmp_path):
    _, large = stores
    base = run("info", "--help")[3]

    for words in (
        ("cut", large, "-o", tmp_path / "part.prv", "--from", "0s"),
        ("structure", large),
        ("info", large, "--quick", "--from", "0s"),
    ):
        code, _, said, peak = run(*words, "--memory", "16M")
        assert code == 5
        assert "--from" in said
        assert peak < base + 130_000_000
    assert not list(tmp_path.iterdir())


def test_the_way_out_of_a_text_that_does_not_fit_works(stores, tmp_path):
    _, store = stores
    text = store.with_suffix(".prv")
    part = tmp_path / "part.prv"

    code, _, said, _ = run("cut", text, "-o", part, *WINDOW, "--memory", "64M")

    assert code == 5
    assert "burstline convert TRACE OUT.store" in said
    assert run("cut", store, "-o", part, *WINDOW, "--memory", "64M")[0] == 0
    again = burstline.read(part)
    whole = burstline.select(burstline.read(text), start_ns=1_200_000_000, end_ns=1_240_000_000)
    assert again.calls.num_rows == whole.calls.num_rows > 1_000


def needed(said):
    """Give the bytes that a refusal asks for, rounded up as they are printed."""
    return int(float(re.search(r"needs about ([0-9.]+) GB", said)[1]) * 1e9)


@pytest.mark.parametrize(
    "words",
    [
        ("structure", "STORE"),
        ("structure", "STORE", "--iterations", "1"),
        ("cut", "STORE", "-o", "OUT", "--from", "1s", "--to", "3s"),
        ("cut", "TEXT", "-o", "OUT", "--from", "1s", "--to", "4s"),
        ("merge", "STORE", "STORE", "-o", "OUT"),
        ("merge", "TEXT", "TEXT", "-o", "OUT"),
        ("table", "TEXT"),
        ("waits", "STORE"),
        ("waits", "STORE", "--clock", "lt_1"),
        ("retime", "STORE", "--clock", "lt_1", "-o", "OUT"),
        ("annotate", "TEXT", "-o", "OUT"),
        ("annotate", "ARCHIVE", "-o", "OUT"),
        ("check-merge", "TEXT", "TEXT"),
        ("check-merge", "STORE", "STORE"),
        ("plot", "STORE"),
        ("learn", "STORE", "STORE", "--features", "base", "--most", "400"),
    ],
)
def test_what_is_asked_for_is_enough_and_not_much_more_than_that(stores, base, tmp_path, words):
    """A peak is within the limit and what a process takes before it reads."""
    if "ARCHIVE" in words:
        convert(stores[1], tmp_path / "run.otf2")
    if words[0] == "learn":
        pytest.importorskip("sklearn")
    names = {
        "STORE": stores[1],
        "ARCHIVE": tmp_path / "run.otf2",
        "TEXT": stores[1].with_suffix(".prv"),
        "OUT": tmp_path / "x.prv",
    }
    words = [names.get(word, word) for word in words]
    refused = call(*words, "--memory", "1M", "--quiet")
    assert refused.returncode == 5
    limit = needed(refused.stderr)
    code, _, said, peak = run(*words, "--memory", limit)
    if code == 5:  # of a text, the reading was refused, then what is made of it
        limit = needed(said)
        code, _, _, peak = run(*words, "--memory", limit)

    assert code == 0
    assert peak < limit + base
    assert limit < 1.3 * peak


_ASKED = """
import sys
import burstline
store, limit, *names = sys.argv[1:]
run = burstline.open(store, memory=int(limit))
try:
    for name in names:
        run.ask(name)
except burstline.MemoryBudgetError as error:
    print(error.needed_bytes)
    raise SystemExit(5)
"""
"""Analyses asked of a run from Python; prints what is needed where that is not allowed."""


@pytest.mark.parametrize(
    "names",
    [
        ("structure",),
        ("phases",),
        ("timeline",),
        ("waits", "structure", "lines"),
    ],
    ids=" ".join,
)
def test_what_python_asks_is_refused_before_it_starts_or_stays_within_the_limit(
    stores, base, names
):
    """Peaks are measured; the largest need of several analyses is enough for all of them."""
    code, needed_bytes, _, refused_peak = supervised("-c", _ASKED, stores[1], 1_000_000, *names)
    assert code == 5
    assert refused_peak < base
    needs = []
    while code == 5:
        needs.append(int(needed_bytes))
        code, needed_bytes, said, peak = supervised("-c", _ASKED, stores[1], needs[-1], *names)

    assert code == 0, said
    assert needs == sorted(set(needs))
    assert peak < needs[-1] + base
    assert needs[-1] < 1.3 * peak


def write_texts(path, texts):
    """Write a table of metadata with some values, which take little on disk."""
    table = pa.table({"key": pa.array(["x"] * len(texts)), "value": texts})
    with pq.ParquetWriter(
        path,
        table.schema,
        compression="zstd",
        dictionary_pagesize_limit=2 << 20,
        store_schema=False,
    ) as file:
        file.write_table(table)
    assert path.stat().st_size < 1_000_000


@pytest.mark.parametrize("name", ["run.store", "run.parquet"])
def test_texts_that_fit_are_read_within_the_limit(base, tmp_path, name):
    Run({42000059: value(1), INS: value(3), CYC: value(2)}).write(tmp_path / "run.prv")
    convert(tmp_path / "run.prv", tmp_path / name)
    write_texts(tmp_path / name / "metadata.parquet", expanding.repeated("x" * 1_000_000, 200))
    if name == "run.store":
        vouch(tmp_path / name, metadata=200)

    codes = []
    for limit in (256, 420, 640):
        words = "convert", tmp_path / name, tmp_path / "x.prv", "--force"
        code, _, said, peak = run(*words, "--memory", f"{limit}M")
        assert code in {0, 5}, said
        assert peak < limit * 1_000_000 + base
        codes.append(code)

    assert (codes[0], codes[-1]) == (5, 0)
