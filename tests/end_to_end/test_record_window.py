"""The window through which the recorder writes: what is left of it, and when."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest

from raw_records import HEADER_BYTES, files, kinds
from runtime_building import ROOT, build, recorded

BLOCK = 8192
CALLS = 3000  # of the program's "many" and "die"


@pytest.fixture
def record(runtime_program, tmp_path):
    def run(*words, block):
        recorded(runtime_program, tmp_path, *words, BURSTLINE_BLOCK=str(block))
        return files(tmp_path)

    return run


@pytest.mark.parametrize("block", [8192, 1 << 20])
def test_a_program_that_ends_in_order_leaves_no_window(record, tmp_path, block):
    (path,) = record("many", block=block)

    assert list(tmp_path.iterdir()) == [path.path]
    assert kinds(path, "ENTER") == ["ENTER"] * CALLS


@pytest.mark.parametrize("block", [8192, 12288, 1 << 20])
def test_a_killed_program_leaves_its_window_and_nothing_is_in_both(record, tmp_path, block):
    (path,) = record("die", int(signal.SIGKILL), block=block)

    assert sorted(tmp_path.iterdir()) == [path.path, path.path.with_suffix(".tail")]
    assert kinds(path) == ["ENTER", "SEND", "LEAVE"] * CALLS


@pytest.fixture(scope="module")
def on_taken_disk(built_once, tmp_path_factory):
    sources = [
        ROOT / "tests" / "record" / f"{name}.c" for name in ("runtime_program", "taken_disk")
    ]
    target = tmp_path_factory.mktemp("taken") / "program"
    return build(built_once, target, *sources, "-rdynamic")


@pytest.mark.parametrize(
    ("most", "left"), [(HEADER_BYTES, {}), (BLOCK, {".raw": HEADER_BYTES, ".tail": BLOCK})]
)
def test_what_was_taken_while_others_took_the_rest_is_given_back(
    on_taken_disk, tmp_path, most, left
):
    """First the window, then what is written behind the file."""
    settings = {"BURSTLINE_BLOCK": str(BLOCK), "MOST": str(most)}

    done = recorded(on_taken_disk, tmp_path, "die", 9, **settings)

    assert "No space left on device" in done.stderr
    assert {path.suffix: path.stat().st_size for path in tmp_path.iterdir()} == left


TOGETHER = """
for i in 1 2 3 4 5 6 7 8; do BURSTLINE_DIR="$1" "$2" die 9 & done
wait
stat -f -c '%a %S' "$1"
"""


@pytest.mark.parametrize("block", [32 << 10, 1 << 20])
@pytest.mark.parametrize("wanted", ["1", None])
def test_processes_that_fill_a_disk_together_leave_free_what_is_to_stay_free(
    runtime_program, tmp_path, small_disk, wanted, block
):
    settings = {"BURSTLINE_BLOCK": str(block), "BURSTLINE_STACK_DEPTH": "0"}
    if wanted is not None:
        settings["BURSTLINE_LEAVE_FREE"] = wanted  # MiB

    words = ["sh", "-c", TOGETHER, "sh", str(tmp_path), runtime_program]
    done = subprocess.run(
        small_disk(tmp_path, "2m") + words,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    blocks, size = map(int, done.stdout.split()[-2:])
    assert "No space left on device" in done.stderr
    assert blocks * size >= ((2 << 20) // 100 if wanted is None else 1 << 20)
