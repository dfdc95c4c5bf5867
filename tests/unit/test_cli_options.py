"""Options that commands share mean the same everywhere, and wrong ones are refused."""

import argparse
import os

import pytest

from burstline import ParameterError
from burstline.cli import inputs, limits, usage
from burstline.run import available_memory


def parsed(*words):
    parser = argparse.ArgumentParser()
    usage.add(parser, usage.ANALYSIS)
    return parser.parse_args(["run.prv", *words])


def test_a_size_has_decimal_or_binary_units_and_the_way_out_is_named():
    sizes = {
        "1": 1, "2G": 2 * 10**9, "2g": 2 * 10**9, "2GB": 2 * 10**9, "2Gi": 2 * 2**30,
        "2GiB": 2 * 2**30, "1.5M": 1_500_000, "3k": 3_000, "1T": 10**12,
    }  # fmt: skip
    assert {text: limits.parse_size(text) for text in sizes} == sizes
    for text in ("", "G", "2X", "-2G", "0", "2GG", "2iG", "two", "inf", "nan", "1e999", "2i"):
        with pytest.raises(ParameterError, match="2GiB"):
            limits.parse_size(text)


def test_memory_and_threads_follow_the_arguments_or_are_what_this_process_may_use():
    arguments = parsed("--memory", "2G", "--threads", "3")
    assert limits.memory_budget(arguments) == 2 * 10**9
    assert limits.thread_count(arguments) == 3

    arguments = parsed()
    assert limits.thread_count(arguments) == len(os.sched_getaffinity(0))
    assert 0 < limits.memory_budget(arguments) < available_memory() * 2


def test_quiet_draws_nothing(capsys):
    with inputs.progress_bar(parsed("--quiet", "--progress")) as progress:
        progress.step("Reading", 10, "B")
        progress.advance(10)

    assert capsys.readouterr().err == ""


def kernel_files(tmp_path, *, group, files):
    proc, groups = tmp_path / "proc", tmp_path / "cgroup"
    (proc / "self").mkdir(parents=True)
    (proc / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable:    8000 kB\n")
    (proc / "self" / "cgroup").write_text(group)
    for name, text in files.items():
        path = groups / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return proc, groups


SECOND = {
    "job/step/memory.max": "max\n",
    "job/step/memory.current": "10\n",
    "job/memory.max": "5000000\n",
    "job/memory.current": "2000000\n",
    "job/memory.stat": "anon 7\ninactive_file 500000\n",
}
FIRST = {
    "memory/job/memory.limit_in_bytes": "3000000\n",
    "memory/job/memory.usage_in_bytes": "1000000\n",
    "memory/memory.limit_in_bytes": "9223372036854771712\n",
    "memory/memory.usage_in_bytes": "1000000\n",
}


@pytest.mark.parametrize(
    ("group", "files", "available"),
    [
        ("", {}, 8000 * 1024),
        ("0::/job/step\n", SECOND, 3_500_000),  # of any group around, and cached files are free
        ("4:memory:/job\n3:cpu,cpuacct:/job\n", FIRST, 2_000_000),
    ],
    ids=["without groups", "second version of groups", "first version of groups"],
)
def test_available_memory_is_what_the_machine_and_its_groups_have(
    tmp_path, group, files, available
):
    assert available_memory(*kernel_files(tmp_path, group=group, files=files)) == available


def test_a_system_that_tells_nothing_is_taken_for_a_small_one(tmp_path):
    assert available_memory(tmp_path, tmp_path) == 2 * 10**9


@pytest.mark.parametrize(
    ("least", "said"), [(0, "--max-depth must not be negative"), (2, "must be at least 2")]
)
def test_the_least_number_is_allowed_and_a_smaller_one_is_refused(least, said):
    usage.require_at_least(argparse.Namespace(max_depth=least), max_depth=least)
    usage.require_at_least(argparse.Namespace(max_depth=None), max_depth=least)

    with pytest.raises(ParameterError, match=f"{said}.*, got {least - 1}"):
        usage.require_at_least(argparse.Namespace(max_depth=least - 1), max_depth=least)
