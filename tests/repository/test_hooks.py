"""What git checks of a commit is what CI checks, by the same programs."""

from __future__ import annotations

import re

import pytest

from repository.source import ROOT

HOOKS = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def values(key):
    """Give what a key has in all hooks."""
    return re.findall(rf"^ *(?:- )?{key}: (.*)$", HOOKS, re.MULTILINE)


def test_no_hook_fetches_anything():
    assert values("repo") == ["local"]
    assert values("language") == ["system"] * len(values("id"))


@pytest.mark.parametrize("target", ["lint", "types", "layers"])
def test_each_check_of_ci_is_one_of_a_commit(target):
    (recipe,) = re.findall(rf"^{target}:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
    checks = re.findall(r"^\t\$\(VENV\)/bin/(\S+(?: [a-z.][\w./]*)?)", recipe, re.MULTILINE)

    hooks = [entry.removeprefix(".venv/bin/") for entry in values("entry")]

    assert checks
    for check in checks:
        assert any(check in hook for hook in hooks), check
