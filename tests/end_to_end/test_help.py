"""Help is instant, complete and shows examples."""

import subprocess
import sys

import pytest

COMMANDS = (
    "info",
    "structure",
    "browse",
    "plot",
    "cut",
    "annotate",
    "convert",
    "demo",
    "completion",
    "record",
    "counters",
)
HEAVY = ("numpy", "pyarrow", "polars", "sklearn", "rich", "burstline._core")


def burstline(*words):
    return subprocess.run(
        [sys.executable, "-m", "burstline", *words], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("words", [["--help"], *([name, "--help"] for name in COMMANDS)])
def test_help_loads_no_library_that_is_slow_to_load(words):
    probe = (
        "import sys\n"
        "from burstline import cli\n"
        "try:\n"
        f"    cli.main({words})\n"
        "except SystemExit:\n"
        f"    sys.exit(','.join(sorted(set({HEAVY}) & set(sys.modules))))\n"
    )

    run = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=False
    )

    assert run.stderr.strip() == ""
    assert "usage: burstline" in run.stdout


def test_help_lists_every_command_in_a_group():
    lines = burstline("--help").stdout.splitlines()

    for name in COMMANDS:
        assert any(line.startswith(f"  {name} ") for line in lines)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_shows_an_example(name):
    run = burstline(name, "--help")

    assert run.returncode == 0
    assert f"  burstline {name}" in run.stdout


def test_the_package_runs_as_a_module():
    assert burstline("--version").stdout.startswith("burstline ")
