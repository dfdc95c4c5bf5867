"""The recorder's runtime, driven by a C program in the place of MPI wrappers."""

from __future__ import annotations

import os
import resource
import signal
import subprocess

import pytest

from raw_records import GAP, PROCESSORS, files, header, kinds, of_kind, records, stacks, texts
from runtime_building import recorded

CALLS = 3000  # of the program's "many"
ENDED = ["OVERHEAD", "OVERHEAD", "LEFT"]  # of calls, and of the thread


@pytest.fixture
def record(runtime_program, tmp_path):
    def run(*words, code=0, folder=tmp_path / "raw", **settings):
        folder.mkdir(exist_ok=True)
        done = recorded(runtime_program, folder, *words, **settings)
        assert done.returncode == code, done.stderr
        return files(folder), done.stderr

    return run


def only(result):
    (path,), errors = result
    assert errors == ""
    return path


@pytest.mark.parametrize("settings", [{"BURSTLINE_DIR": ""}, {"BURSTLINE_MODE": "off"}])
def test_without_a_folder_or_a_mode_nothing_is_recorded_and_nothing_said(record, settings):
    assert record("threads", **settings) == ([], "")


def test_a_call_is_an_enter_what_it_did_and_a_leave(record):
    path = only(record("calls"))

    assert kinds(path) == ["ENTER", "SEND", "LEAVE"] * 4 + ENDED
    assert [int(op) for op in of_kind(path, "LEAVE")["op"]] == [1, 2, 3, 4]
    assert of_kind(path, "SEND")[0].tolist() == (0, 12, 0, 1, 2, 3)


def test_a_file_goes_on_from_window_to_window_in_order_and_is_trimmed(record):
    path = only(record("many"))
    found = records(path)
    timed = found[[kind in {1, 2} for kind in found["kind"]]]["time"]

    assert kinds(path) == ["ENTER", "SEND", "LEAVE"] * CALLS + ENDED
    assert (timed[1:] >= timed[:-1]).all()
    placed = len(records(path, placed=True)) - len(found)
    assert path.path.stat().st_size == 4096 + 32 * (1 + placed + 3 * CALLS + len(ENDED))
    assert of_kind(path, "OVERHEAD")[["op", "c"]].tolist() == [(0, CALLS), (2, 1)]
    # no counters, no time to read them
    assert of_kind(path, "OVERHEAD")["a"].tolist() == [0, 0]


def test_every_thread_says_where_it_may_run_and_was_seen(record):
    allowed = sum(1 << processor for processor in os.sched_getaffinity(0) if processor < 64)
    found, _ = record("threads")

    assert len(found) > 1
    for thread in found:
        told = [row for row in records(thread, placed=True) if row["kind"] == 76]
        sets = {op: [int(row["b"]) for row in told if row["op"] == op] for op in (1, 2)}
        assert sets[1] == [allowed]
        assert sets[2]
        assert all(bits & allowed == bits for bits in sets[2])


def test_reading_counters_is_a_part_of_what_a_call_costs(record):
    cost, _ = of_kind(only(record("many", BURSTLINE_COUNTERS="cpu")), "OVERHEAD")

    assert cost["a"] > 0


def test_every_thread_writes_its_own_file(record):
    found, errors = record("threads")

    assert errors == ""
    assert [header(path)[0] for path in found] == list(range(8))
    assert all(kinds(path, "ENTER") == ["ENTER"] * CALLS for path in found)
    assert all(kinds(path)[-1] == "LEFT" for path in found)


def test_the_end_of_the_process_leaves_the_files_of_busy_threads_whole(record):
    found, _ = record("busy")
    own, other = sorted(found, key=lambda path: set(of_kind(path, "ENTER")["op"]) == {3})

    assert len(of_kind(own, "ENTER")) == CALLS  # none after the end
    assert kinds(own)[-3:] == kinds(other)[-3:] == ENDED
    assert list(other.path.parent.iterdir()) == [other.path]


def test_a_call_inside_a_call_is_not_recorded(record):
    assert kinds(only(record("nested"))) == ["ENTER", "LEAVE", *ENDED]


@pytest.mark.parametrize(("what", "calls"), [("forked", 5), ("forked_inside", 1)])
def test_a_forked_child_writes_nothing(record, what, calls):
    path = only(record(what))

    assert kinds(path, "ENTER", "LEAVE") == ["ENTER", "LEAVE"] * calls
    assert kinds(path, "SEND", "EVENT") == (["SEND"] * 5 if what == "forked" else [])
    assert kinds(path).count("LEFT") == 1


def test_a_program_started_over_a_recorded_one_gets_files_of_its_own(record):
    (before, after), _ = record("replaced")

    assert kinds(before, "ENTER") == ["ENTER"] * 2
    assert kinds(after, "ENTER") == ["ENTER"] * 4


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGSEGV, signal.SIGABRT])
def test_a_program_that_dies_of_a_signal_still_does_and_says_which(record, number):
    path = only(record("die", int(number), code=-number))

    left = of_kind(path, "LEFT")
    assert kinds(path) == ["ENTER", "SEND", "LEAVE"] * CALLS + ["LEFT"]
    assert (left["op"].tolist(), left["a"].tolist()) == ([4], [int(number)])


def test_a_killed_program_leaves_all_it_recorded(record):
    path = only(record("die", int(signal.SIGKILL), code=-signal.SIGKILL))

    assert kinds(path) == ["ENTER", "SEND", "LEAVE"] * CALLS


def test_the_handlers_of_the_program_are_its_own(record):
    assert kinds(only(record("handled")), "ENTER") == ["ENTER"] * 3


@pytest.mark.usefixtures("one_processor")
def test_without_room_records_are_dropped_and_counted(record):
    (path,), errors = record("limited")

    gap = of_kind(path, "GAP")
    kept = len(records(path)) - 4  # gap, overhead of calls and of the thread, left
    assert kinds(path)[-4:] == ["GAP", *ENDED]
    assert path.path.stat().st_size <= 200_000
    assert kept + gap["c"][0] == 3 * 10_011
    assert gap["b"][0] < gap["time"][0]
    assert "File too large; records are dropped" in errors
    assert f"{gap['c'][0]} records were dropped" in errors.splitlines()[-1]


@pytest.mark.usefixtures("one_processor")
def test_with_room_again_recording_goes_on_after_a_gap(record):
    (path,), _ = record(
        "limited", AGAIN="1", BURSTLINE_STACK_DEPTH="2", BURSTLINE_COUNTERS="cpu"
    )

    after = kinds(path)[kinds(path).index("GAP") + 1 :]
    told = records(path, placed=True)["kind"].tolist()
    enter = of_kind(path, "ENTER")[-6:]
    assert [kind for kind in after if kind in {"ENTER", "LEAVE"}] == ["ENTER", "LEAVE"] * 6
    assert {"COUNTER", "MODULE", "STACK"} <= set(after[: after.index("ENTER")])
    assert PROCESSORS in told[told.index(GAP) :]
    assert set(enter["a"].tolist()) <= set(stacks(path))


def test_a_folder_that_cannot_be_written_is_said_once_and_harms_nothing(record, tmp_path):
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    if os.geteuid() == 0:  # whom no permission stops: a limit does
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, limit[1]))
    blocked.chmod(0o500)
    try:
        found, errors = record("calls", folder=blocked)
    finally:
        blocked.chmod(0o700)
        if os.geteuid() == 0:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)

    assert found == []
    assert "cannot write" in errors
    assert len(errors.splitlines()) == 2  # why, and how much was dropped


def test_a_folder_that_is_not_there_is_said(record, tmp_path):
    found, errors = record("calls", BURSTLINE_DIR=str(tmp_path / "nowhere"))

    assert found == []
    assert "nothing is recorded" in errors


def test_errno_is_the_programs(record):
    record("errno")


def test_events_and_regions_of_the_program_are_recorded_by_name(record):
    path = only(record("regions"))

    event = of_kind(path, "EVENT")
    names = texts(path, "NAME")
    entered = [names[int(row["a"])] for row in of_kind(path, "REGION_ENTER")]
    left = [names[int(row["a"])] for row in of_kind(path, "REGION_LEAVE")]
    long_name = "a name of more than twenty-eight bytes"
    assert event[["a", "b"]].tolist() == [(7, 42)]
    assert entered == ["solve", long_name, "solve"]
    assert left == [long_name, "solve", "solve"]
    assert len(of_kind(path, "NAME")) == 2  # once each


def test_a_pause_is_marked_and_nothing_recorded_in_it(record):
    path = only(record("paused"))

    marks = kinds(path, "ENTER", "PAUSE")
    assert marks == ["ENTER"] * 2 + ["PAUSE"] * 2 + ["ENTER"] * 3
    assert of_kind(path, "PAUSE")["a"].tolist() == [1, 0]


def test_rank_and_library_are_kept(record):
    path = only(record("ranked"))

    rank, left = of_kind(path, "RANK"), of_kind(path, "LEFT")
    assert header(path)[1:] == (os.path.realpath(header(path)[1]), "Fake MPI 1.0")
    assert rank[["a", "b", "c"]].tolist() == [(3, 4, 2)]
    assert left[["op", "a"]].tolist() == [(3, 5)]


def test_work_counters_are_read_at_every_enter_and_leave(record):
    path = only(record("counted", BURSTLINE_COUNTERS="IR_TOT_INS,IR_LOOP_ITER"))

    assert list(texts(path, "COUNTER").values()) == ["IR_TOT_INS", "IR_LOOP_ITER"]
    values = of_kind(path, "COUNTERS")[["a", "b", "c"]].tolist()
    assert values == [(0, 100 * i, 3 * i) for i in range(1, 6) for _ in ("enter", "leave")]


def test_an_odd_number_of_counters_fills_up_with_zero(record):
    path = only(record("counted", BURSTLINE_COUNTERS="cpu,IR_TOT_INS,IR_LD_INS"))

    values = of_kind(path, "COUNTERS")
    assert values["a"].tolist() == [0, 2] * 10
    assert values["c"][1::2].tolist() == [0] * 10
    assert (values["b"][2::2] >= values["b"][:-2:2]).all()


def test_perf_events_count_or_are_said_to_be_missing(record):
    (path,), errors = record("many", BURSTLINE_COUNTERS="perf:task-clock,perf:page-faults")

    names = list(texts(path, "COUNTER").values())
    assert len(names) + errors.count("no counter perf:") == 2
    assert len(of_kind(path, "COUNTERS")) == (2 * CALLS if names else 0)


@pytest.mark.parametrize("name", ["perf:nonsense", "PAPI_NO_SUCH_EVENT", "nonsense", "IR_NONE"])
def test_a_counter_that_is_not_there_is_said_and_the_others_go_on(record, name):
    (path,), errors = record("calls", BURSTLINE_COUNTERS=f"{name},cpu")

    assert list(texts(path, "COUNTER").values()) == ["cpu"]
    assert len(errors.splitlines()) == 1


FAKE_PAPI = """
#include <string.h>
static long long reads;
int PAPI_library_init(int version) { return version == (7 << 24 | 1 << 16) ? version : -1; }
int PAPI_thread_init(unsigned long (*self)(void)) { return self() == 0; }
int PAPI_create_eventset(int *set) { static int sets; *set = sets++; return 0; }
int PAPI_add_named_event(int set, const char *name) { return strstr(name, "INS") ? 0 : -7; }
int PAPI_start(int set) { return set < 1; }
int PAPI_stop(int set, long long *values) { return values[0] = set; }
int PAPI_unregister_thread(void) { return 0; }
int PAPI_read(int set, long long *values) {
    values[0] = ++reads;
    values[1] = 1000 * set;
    return 0;
}
"""


def test_papi_counts_where_it_is_there(record, tmp_path):
    source = tmp_path / "papi.c"
    source.write_text(FAKE_PAPI)
    papi = tmp_path / "libpapi.so"
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", papi], check=True)

    (path,), errors = record(
        "calls",
        LD_LIBRARY_PATH=str(tmp_path),
        BURSTLINE_COUNTERS="PAPI_TOT_INS,PAPI_TOT_CYC,papi:native::INS",
    )

    values = of_kind(path, "COUNTERS")
    assert list(texts(path, "COUNTER").values()) == ["PAPI_TOT_INS", "native::INS"]
    assert "no counter PAPI_TOT_CYC" in errors
    assert (values["b"][1:] - values["b"][:-1]).tolist() == [1] * 7
    assert values["c"].tolist() == [1000] * 8


def test_a_stack_is_defined_once_per_thread_and_holds_the_callers(record, runtime_program):
    (first, second), _ = record("stacks", BURSTLINE_STACK_DEPTH="8")

    shallow, deep = stacks(first).values()
    (other,) = stacks(second).values()
    assert texts(first, "MODULE")[1] == str(runtime_program)
    assert shallow[0][0] == deep[0][0] == other[0][0] == 1
    assert set(deep) - set(shallow)  # one frame more, of the function that calls itself
    assert {len(shallow), len(deep)} <= set(range(2, 9))
    assert len(of_kind(first, "STACK")) == 2
    used = [row["a"] for row in of_kind(first, "ENTER")]
    assert used == [*stacks(first)] * 5
    words = ["nm", "-n", "--defined-only", runtime_program]
    listed = subprocess.run(words, capture_output=True, text=True, check=True)
    symbols = [line.split() for line in listed.stdout.splitlines()]
    starts = [(int(address, 16), name) for address, kind, name in symbols if kind in "tT"]

    def function(frame):
        return max(start for start in starts if start[0] < frame[1])[1]

    for frames in stacks(first).values():
        names = [function(frame) for frame in frames if frame[0] == 1]
        assert names[0].startswith("by_depth") or names[0] == "call"
        assert names[-1] in {"main", "_start"}


def test_depth_limits_the_frames(record):
    (first, _), _ = record("stacks", BURSTLINE_STACK_DEPTH="1")

    assert {len(frames) for frames in stacks(first).values()} == {1}


def test_profile_mode_keeps_one_count_and_time_per_operation(record):
    path = only(record("many", BURSTLINE_MODE="profile"))

    sums = {int(row["a"]): int(row["b"]) for row in of_kind(path, "EVENT")}
    counts = [sums[1000 + op] for op in range(1, 8)]
    assert kinds(path) == ["EVENT"] * 14 + ENDED
    assert sum(counts) == CALLS
    assert all(sums[2000 + op] > 0 for op in range(1, 8))
