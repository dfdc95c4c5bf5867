"""Marks that a program sets with ``burstline.h``, with and without the recorder."""

from __future__ import annotations

import os
import subprocess

import pytest

from raw_records import files, kinds
from runtime_building import NATIVE, build


@pytest.fixture(scope="module")
def library(built_once, tmp_path_factory):
    target = tmp_path_factory.mktemp("runtime") / "libruntime.so"
    return build(built_once, target, "-fvisibility=hidden", "-fPIC", "-shared")


HOST = """
#include "burstline.h"
int main(void) {
    burstline_event(7, 1);
    { burstline_region("inner"); burstline_event(8, 2); }
    burstline_region_begin("outer");
    burstline_region_end("outer");
    burstline_pause();
    burstline_event(9, 3);
    burstline_resume();
    return 0;
}
"""


@pytest.mark.parametrize("options", [("-fPIE", "-pie"), ("-fno-pie", "-no-pie")])
@pytest.mark.parametrize("compiler", ["cc", "c++"])
def test_marks_in_a_program_count_when_recorded_and_are_nothing_else(
    library, tmp_path, compiler, options
):
    source = tmp_path / ("host.c" if compiler == "cc" else "host.cpp")
    source.write_text(HOST)
    host = tmp_path / "host"
    subprocess.run(
        [compiler, *options, "-Wall", "-Wextra", "-Werror", "-I", NATIVE, source, "-o", host],
        check=True,
    )
    raw = tmp_path / "raw"
    raw.mkdir()
    recorded = {**os.environ, "LD_PRELOAD": str(library), "BURSTLINE_DIR": str(raw)}

    subprocess.run([host], check=True)
    assert files(raw) == []
    subprocess.run([host], env=recorded, check=True)

    (path,) = files(raw)
    marks = kinds(path, "EVENT", "REGION_ENTER", "REGION_LEAVE", "PAUSE")
    region = ["REGION_ENTER", "REGION_LEAVE"]
    assert marks == ["EVENT", region[0], "EVENT", region[1], *region, "PAUSE", "PAUSE"]


def test_the_runtime_exports_what_programs_call_and_nothing_else(library):
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
    )

    exported = {line.split()[-1].split("@")[0] for line in listed.stdout.splitlines()}
    assert exported == {
        "burstline_event", "burstline_region_begin", "burstline_region_end",
        "burstline_pause", "burstline_resume",
        "burst_is_defined", "burst_miss", "burst_now", "burst_put", "burst_put_moment",
        "burst_put_text", "burst_self", "burst_work", "burst_label", "burst_compiled",
        "burst_loop_static", "burst_loop_chunk", "burst_loop_labels",
        "burst_loop_enter", "burst_loop_iteration", "burst_loop_leave",
        "burst_made_by", "burst_uncounted",
        # what keeps the program's signals apart from ours
        "sigaction", "signal", "sigtimedwait", "sigwait", "sigwaitinfo",
    }  # fmt: skip
