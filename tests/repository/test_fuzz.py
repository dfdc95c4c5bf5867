"""What CI says where it cannot fuzz."""

from __future__ import annotations

import os
import shutil
import subprocess

from repository.source import ROOT

NEEDED = ("bash", "dirname", "mkdir", "grep", "sort")


def test_without_clang_fuzzing_fails(tmp_path):
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in NEEDED:
        (tools / name).symlink_to(str(shutil.which(name)))
    done = subprocess.run(
        [ROOT / ".ci" / "fuzz", tmp_path / "build", "1"],
        env=os.environ | {"PATH": str(tools)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert done.stderr == "there is no clang with its fuzzer\n"


def test_every_target_has_a_stored_corpus():
    targets = {path.stem for path in (ROOT / "core" / "fuzz").glob("*.cpp")}
    corpora = {path.parent.name for path in (ROOT / "core" / "fuzz" / "corpus").glob("*/*")}

    assert targets == corpora
    assert {"journal", "otf2", "prv", "splice"} <= targets
