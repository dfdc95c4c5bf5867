"""What `.ci/run` does, in a repository whose targets only say what they were asked."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from repository.source import ROOT

README = """\
```console
$ git clone <this repository>
```

```console
$ make demo
$ make test
```

```console
$ make other
```
"""
MAKEFILE = """\
.RECIPEPREFIX = >
.venv/.%: ; @mkdir -p .venv && touch $@
demo install lint types layers docs bench fuzz fuzz-commands:
>@echo "did $@"
same:
>@echo "compared with $(COMMIT): $(ARGS)"
test:
>@env | sort | sed 's/^/environment: /'
>@ls .. | sed 's/^/beside: /'
>@case "$(ARGS)" in \\
>  "") echo "2 tests were left out: 2 need BURSTLINE_TRACES"; \\
>    echo "=== 7 passed, 2 deselected in 1.50s ===" ;; \\
>  *) echo "asked: $(ARGS)"; \\
>    echo "= 1 failed, 1 passed, 7 deselected in 61.00s (0:01:01) ="; exit $(CODE) ;; \\
>esac
CODE = 0
"""


@pytest.fixture
def run(tmp_path):
    """Commit a repository beside a folder of traces, and run its `.ci/run`."""
    place = tmp_path / "place"
    (place / "shared" / "traces").mkdir(parents=True)
    repository = place / "repository"
    (repository / ".ci").mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "run", repository / ".ci")
    settings = os.environ | {"BURSTLINE_TRACES": "here", "TMPDIR": str(tmp_path)}
    settings |= {"PYTHONPATH": "/nowhere", "PIP_QUIET": "1"}

    def of(readme=README, makefile=MAKEFILE, *, folders=True, **given):
        if not folders:
            shutil.rmtree(place / "shared", ignore_errors=True)
        (repository / "README.md").write_text(readme)
        (repository / "Makefile").write_text(makefile)
        git = ["git", "-c", "user.name=n", "-c", "user.email=e"]
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
            subprocess.run([*git, *words], cwd=repository, check=True)
        done = subprocess.run(
            [repository / ".ci" / "run"],
            env=settings | given,
            capture_output=True,
            text=True,
            check=False,
        )
        assert sorted(path.name for path in tmp_path.iterdir()) == ["place"]
        return done.returncode, done.stdout.splitlines()

    return of


def test_the_commands_of_the_readme_run_without_a_variable_or_a_neighbour(run):
    code, lines = run()
    first = lines[: lines.index("=== install")]

    assert code == 0
    assert "as README.md says: make demo; make test;" in lines
    assert "beside: burstline" in first
    assert "beside: shared" not in first
    names = {line.split("=")[0].removeprefix("environment: ") for line in first if "=" in line}
    assert {"PATH", "PIP_QUIET"} <= names
    assert not [
        name for name in names if name.startswith(("BURSTLINE", "PYTHON", "HYPOTHESIS"))
    ]


def test_tests_that_need_the_folders_run_last_and_alone_and_the_sum_closes(run):
    _, lines = run()
    last = lines[lines.index("=== tests with real traces") :]

    assert any(line.startswith("environment: BURSTLINE_TRACES=") for line in last)
    assert any(line.startswith("asked: -m given") for line in last)
    assert lines[-1] == "8 passed, 1 failed in 62.50s"
    assert lines[-2] == "2 tests were left out: 2 need BURSTLINE_TRACES"


def test_all_steps_run_and_the_end_says_which_failed(run):
    code, lines = run(makefile=MAKEFILE.replace("= 0", "= 1") + "lint: ; @false\n")

    assert code == 1
    assert "did docs" in lines
    assert "did fuzz-commands" in lines
    assert "FAILED: lint, types, layers, docs, fuzz, benchmarks tests with real traces" in lines
    assert lines[-1] == "8 passed, 1 failed in 62.50s"


def test_a_readme_with_other_commands_fails(run):
    code, lines = run(readme=README.replace("$ make test", "$ pip install ."))

    assert code == 1
    assert "FAILED: README.md: two commands that begin with make" in lines


def test_without_folders_beside_it_the_tests_that_need_them_are_left_out_once(run):
    code, lines = run(folders=False)

    assert code == 0
    assert "=== tests with real traces" not in lines
    assert lines[-2:] == ["2 tests were left out: 2 need BURSTLINE_TRACES", "7 passed in 1.50s"]


@pytest.mark.parametrize(
    ("given", "said"), [({}, []), ({"SAME_AS": "abc"}, ["compared with abc: --choice few"])]
)
def test_outputs_are_compared_with_those_of_a_commit_that_is_given(run, given, said):
    _, lines = run(folders=False, **given)

    assert [line for line in lines if line.startswith("compared with")] == said
