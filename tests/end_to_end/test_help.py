"""Help is instant, complete and shows examples."""

import subprocess
import sys

import pytest

from burstline.cli.parser import COMMANDS
from command import burstline

NAMES = tuple(COMMANDS)
MODULES = {f"burstline.cli.commands.{module}": name for name, module in COMMANDS.items()}
HEAVY = ("numpy", "pyarrow", "polars", "sklearn", "rich", "burstline._core")


def loading(words, names):
    """Run a command in a new Python, which says in the end which of some modules it loaded."""
    probe = (
        "import sys\n"
        "from burstline import cli\n"
        "try:\n"
        f"    cli.main({words})\n"
        "except SystemExit:\n"
        f"    sys.exit(','.join(sorted(set({names}) & set(sys.modules))))\n"
    )
    words = [sys.executable, "-c", probe]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("words", [["--help"], *([name, "--help"] for name in NAMES)])
def test_help_loads_no_library_that_is_slow_to_load(words):
    run = loading(words, HEAVY)

    assert run.stderr.strip() == ""
    assert "usage: burstline" in run.stdout


@pytest.mark.parametrize(
    ("words", "modules"),
    [
        (["--help"], ""),
        (["--version"], ""),
        (["info", "--help"], "burstline.cli.commands.info"),
        (["c++", "--help"], "burstline.cli.commands.compile"),
        (["nothing"], ""),
    ],
)
def test_only_the_command_that_is_named_is_loaded(words, modules):
    run = loading(words, sorted(MODULES))

    assert run.stderr.split("\n")[-2:][0] == modules


def test_help_lists_every_command_in_a_group():
    lines = burstline("--help").stdout.splitlines()

    for name in NAMES:
        assert any(line.startswith(f"  {name} ") for line in lines)


@pytest.mark.parametrize("name", NAMES)
def test_every_command_shows_an_example(name):
    run = burstline(name, "--help")

    assert run.returncode == 0
    assert f"  burstline {name}" in run.stdout


def test_the_package_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "burstline", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.startswith("burstline ")


@pytest.mark.parametrize(
    ("word", "way_out"),
    [
        ("wait", "did you mean waits?"),
        ("checkmerge", "did you mean check-merge?"),
        ("run.prv", "burstline --help lists them"),
    ],
)
@pytest.mark.parametrize("before", [[], ["--traceback"]])
def test_of_an_unknown_command_the_one_that_was_meant_is_named(before, word, way_out):
    done = burstline(*before, word, "run.prv")

    assert done.returncode == 2
    assert done.stderr.endswith(f"error: there is no command {word}: {way_out}\n")
