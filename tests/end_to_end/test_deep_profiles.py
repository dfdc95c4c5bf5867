"""A profile that burstline wrote is read again, however deep its call paths are."""

from __future__ import annotations

import json

import pytest

from command import burstline as call


def written(folder, name, levels, received):
    """The profile of a run of two ranks whose messages are `levels` calls deep."""
    deeper = "\n".join(f"path {k} f{k} under {k - 1}" for k in range(1, levels))
    (folder / f"{name}.txt").write_text(f"""
ranks 2
path 0 main
{deeper}
0 | 0 enter MPI_Init | 5 leave | 10 enter MPI_Send path {levels - 1}
  | 40 send to 1 tag 7 bytes 8 | 42 leave | 90 enter MPI_Finalize | 100 leave
1 | 0 enter MPI_Init | 5 leave | 10 enter MPI_Recv path {levels - 1}
  | {received} receive from 0 tag 7 bytes 8 | {received + 5} leave
  | 90 enter MPI_Finalize | 100 leave
""")
    profile = folder / f"{name}.cubex"
    done = call("waits", folder / f"{name}.txt", "-o", profile)
    assert done.returncode == 0, done.stderr
    return profile


@pytest.mark.parametrize("levels", [1_000, 5_000])
def test_compare_reads_what_waits_has_written_of_deep_call_paths(levels, tmp_path):
    profiles = [written(tmp_path, *run) for run in (("a", levels, 45), ("b", levels, 80))]

    done = call("compare", *profiles, "--format", "json")

    assert done.returncode == 0, done.stderr
    assert f"f{levels - 1}" in json.dumps(json.loads(done.stdout)["differences"])
