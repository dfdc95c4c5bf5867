"""Event types are known by number; labels decide only where numbers overlap."""

from itertools import pairwise

import pytest

from burstline._core import EventClass, LockStep
from burstline.extrae import event_types
from burstline.extrae.counters import (
    PRESET_COUNTERS,
    classify,
    counter_name,
    is_label_of_counter,
)
from burstline.extrae.event_types import COUNTER_TYPES, REGION_LINES, TABLE
from burstline.extrae.mpi_calls import MPI_EVENTS, MPI_OPERATIONS, MPI_TYPES
from burstline.extrae.regions import LOCK_STEPS, REGION_TYPES, region_kind, region_name
from burstline.extrae.states import STATE_COLORS, STATES
from burstline.formats.paraver.files.pcf import read_pcf
from burstline.model import operations, schema

COUNTERS_OF_OURS = (event_types.NATIVE_TYPES, event_types.WORK_TYPES, event_types.MERGED_TYPES)
OTHERS_OF_OURS = (
    event_types.MOVED_TYPES,
    event_types.STRUCTURE,
    event_types.PARAMETER_TYPES,
    event_types.ATTRIBUTE_TYPES,
)


@pytest.mark.parametrize(
    ("expected", "types"),
    [
        (EventClass.MPI_CALL, [50000001, 50000005]),
        (EventClass.COLLECTIVE_SENT, [50100001]),
        (EventClass.COLLECTIVE_RECEIVED, [50100002]),
        (EventClass.COLLECTIVE_ROOT, [50100003]),
        (EventClass.COLLECTIVE_COMMUNICATOR, [50100004]),
        (EventClass.COUNTER, [42000000, 42000050, 43000050, 44549577, 45000016, 46000005]),
        (EventClass.COUNTER, [47000001, 48000000, 48000005, 49999999]),
        (EventClass.COUNTER_SET, [41999999, 42009999]),
        (EventClass.CALLER_FUNCTION, [70000000, 70000001, 70000100]),
        (EventClass.CALLER_LINE, [80000000, 80000001, 80000100]),
        (EventClass.POLL_COUNT, [50000300, 50000302, 50000304, 50000306]),
        (EventClass.POLL_TIME, [50000301, 50000303, 50000305, 50000307]),
        (EventClass.APPLICATION, [40000001]),
        (EventClass.FLUSH, [40000003]),
        (EventClass.TRACING, [40000012]),
        (EventClass.RMA_SIZE, [50001000]),
        (EventClass.RMA_TARGET, [50001001]),
        (EventClass.IO_SIZE, [50000110]),
        (EventClass.REGION, [60000019, 60000001, 60000018, 60000, 60012, 61000000, 63000000]),
        (EventClass.REGION, [40000000, 40000004, 40000027, 40000040]),
        (EventClass.LOCK, [60000006, 60000007, 60005]),
        (EventClass.REGION_LINE, [60000119, 60000118, 60013]),
        (EventClass.LOCK_ADDRESS, [60000032, 60006]),
        (EventClass.OTHER, [0, 1, 40000018, 40000033, 40000050, 41100001, 50000000, 50000006]),
        (EventClass.OTHER, [45000000, 45000015, 46000004, 48000001, 50001002, 60001, 60014]),
        (EventClass.OTHER, [65000000, 70000101, 80000101, 41999998, 50000308, 2**40, -5]),
    ],
)
def test_a_type_without_a_label_is_classified_by_its_number(expected, types):
    assert [classify(type_) for type_ in types] == [expected] * len(types)


@pytest.mark.parametrize(
    ("expected", "type_", "about"),
    [
        (EventClass.OTHER, 45000003, ("User time used",)),
        (EventClass.COUNTER, 45000003, ("Absolute perf::X [described]",)),
        (EventClass.OTHER, 46000003, ("Total memory in use",)),
        (EventClass.COUNTER, 46000003, ("infiniband:::mlx5_port (received)",)),
        (EventClass.COUNTER, 42009999, ("PAPI_OLD [A native event]",)),
        (EventClass.COUNTER_SET, 42009999, ("Active hardware counter set",)),
        (EventClass.COUNTER_SET, 41999999, ("PAPI_OLD [A native event]",)),
        (EventClass.OTHER, 123456, ("PAPI_TOT_INS [Instr completed]",)),
        (EventClass.COUNTER, 123456, ("PAPI_TOT_INS [Instr completed]", 7)),
        (EventClass.OTHER, 123456, ("PAPI_TOT_INS [Instr completed]", 0)),
        (EventClass.COUNTER, 123456, ("Phase [of mine]", 7)),
        (EventClass.OTHER, 123456, ("Phase of mine", 7)),
    ],
)
def test_a_label_decides_where_numbers_overlap_and_with_its_colour_elsewhere(
    expected, type_, about
):
    assert classify(type_, *about) is expected


@pytest.mark.parametrize(
    ("expected", "gradient", "labels"),
    [
        (True, 7, ["PAPI_TOT_INS [Instr completed]", "PAPI_TOT_INS ([Instr completed])"]),
        (True, 7, ["Absolute PAPI_TOT_INS [x]", "TASK-CLOCK [PERF_COUNT_SW_TASK_CLOCK]"]),
        (True, None, ["PAPI_TOT_INS (Instr completed)"]),
        (True, None, ["perf::TASK-CLOCK [PERF_COUNT_SW_TASK_CLOCK]"]),
        (True, 0, ["PAPI_TOT_INS"]),
        (False, 0, ["TASK-CLOCK [PERF_COUNT_SW_TASK_CLOCK]", "Parallel (OMP)"]),
        (False, 0, ["Maximum resident set size (in kilobytes)"]),
        (False, 7, ["Active hardware counter set", ""]),
        (False, 6, ["fork() depth"]),
    ],
)
def test_a_counter_is_told_by_its_label(expected, gradient, labels):
    assert [is_label_of_counter(label, gradient) for label in labels] == [expected] * len(
        labels
    )


def test_counters_of_real_files_are_told_by_label_and_by_number(real_traces):
    by_label, by_number, names = set(), set(), set()
    for file in real_traces.rglob("*.pcf"):
        for number, known in read_pcf(file.read_bytes()).types.items():
            if is_label_of_counter(known.label, known.gradient):
                by_label.add(number)
            if classify(number, known.label, known.gradient) is EventClass.COUNTER:
                by_number.add(number)
                names.add(counter_name(number, known.label))
            if number in PRESET_COUNTERS:
                assert PRESET_COUNTERS[number] == counter_name(number, known.label) or (
                    number == 42000106
                )

    assert by_label == by_number
    assert {44549577, 44448855, 44525128, 44953060, 42000050} <= by_number
    assert {"TASK-CLOCK", "CONTEXT-SWITCHES", "PAGE-FAULTS", "fake_native::EV_A"} <= names


PRESETS = """
    0 L1_DCM   2 L2_DCM   4 L3_DCM   6 L1_TCM   7 L2_TCM   8 L3_TCM  20 TLB_DM  23 L1_LDM
   24 L1_STM  46 BR_MSP  47 BR_PRC  48 FMA_INS 50 TOT_INS 52 FP_INS  53 LD_INS  54 SR_INS
   55 BR_INS  56 VEC_INS 57 RES_STL 59 TOT_CYC 60 LST_INS
  102 FP_OPS 103 SP_OPS 104 DP_OPS 105 VEC_SP 106 VEC_DP 107 REF_CYC
"""


def test_a_counter_has_a_name_in_any_case_and_presets_by_number():
    words = PRESETS.split()
    for index, name in zip(map(int, words[::2]), words[1::2], strict=True):
        assert PRESET_COUNTERS[42000000 + index] == f"PAPI_{name}"
        assert counter_name(43000000 + index) == f"PAPI_{name}"
    assert counter_name(42000050, "MINE [x]") == "MINE"
    assert counter_name(42000050, "") == "PAPI_TOT_INS"
    assert counter_name(44000001) == "counter_44000001"


def test_every_call_of_mpi_has_one_value_and_a_known_name():
    missing = {"MPI_Init_thread", "MPI_Finalized"}
    assert set(MPI_OPERATIONS.values()) == set(operations.NAMES) - missing
    assert len(set(MPI_OPERATIONS.values())) == len(MPI_OPERATIONS)
    assert tuple(range(50000001, 50000006)) == MPI_TYPES
    assert all(MPI_EVENTS[name][1] == value for value, name in MPI_OPERATIONS.items())
    assert MPI_EVENTS["MPI_Init_thread"] == MPI_EVENTS["MPI_Init"] == (50000003, 31)
    known = {39: "Test", 69: "Win_start", 70: "Win_complete", 111: "Address"}
    known |= {161: "Iallgatherv", 210: "File_write_shared"}
    assert {value: MPI_OPERATIONS[value][4:] for value in known} == known


def test_real_labels_of_calls_agree_but_for_the_known_swap(real_traces):
    seen = set()
    for file in real_traces.rglob("*.pcf"):
        pcf = read_pcf(file.read_bytes())
        for kind in set(MPI_TYPES) & set(pcf.types):
            for value, label in pcf.values[pcf.types[kind].group].items():
                if value:
                    seen.add(value)
                    assert MPI_EVENTS[MPI_OPERATIONS[value]][0] == kind
                    assert label == MPI_OPERATIONS[value] or value in {69, 70}
    assert {1, 7, 39, 69, 70} <= seen


def test_states_are_those_of_extrae():
    assert list(STATES) == list(STATE_COLORS) == list(range(34))
    assert (STATES[1], STATES[12], STATES[33]) == ("Running", "I/O", "Stream Registration")
    assert STATE_COLORS[17] == (255, 0, 96)


REGIONS = {
    "openmp parallel": [(60000001, 3), (60002, 1)], "openmp loop": [(60000002, 4), (60003, 12)],
    "openmp sections": [(60000002, 5)], "openmp single": [(60000002, 6), (60003, 24)],
    "openmp barrier": [(60000005, 1), (60004, 26)],
    "openmp implicit_barrier": [(60000016, 1), (60004, 27)], "openmp join": [(60000016, 2)],
    "openmp outlined": [(60000018, 9), (60012, 2)],
    "openmp taskwait": [(60000022, 1), (60004, 34)],
    "openmp task": [(60000023, 9), (60009, 48)],
    "openmp task_create": [(60000024, 9), (60009, 47)], "openmp call": [(60000, 43)],
    "openmp team": [(60002, 2)], "openmp dispatch": [(60003, 9)],
    "openmp critical": [(60004, 30)], "user function": [(60000019, 9)],
    "pthread function": [(60000020, 9)], "pthread call": [(61000000, 8)],
    "gpu call": [(63000000, 1), (63100000, 3)], "gpu kernel": [(63100000, 1)],
    "io call": [(40000004, 1)], "memory call": [(40000040, 1)], "other call": [(1234, 1)],
}  # fmt: skip


@pytest.mark.parametrize("kind", REGIONS)
def test_a_region_is_told_by_type_and_value(kind):
    assert {" ".join(region_kind(*event)) for event in REGIONS[kind]} == {kind}


def test_kinds_of_regions_are_those_of_the_schema():
    found = {region_kind(type_, value) for type_ in REGION_TYPES for value in range(60)}

    assert {kind.paradigm for kind in found} <= set(schema.PARADIGMS)
    assert all(region_name(type_, value) for type_ in REGION_TYPES for value in range(60))


def test_a_line_is_of_a_region():
    lines = REGION_LINES.values()

    assert set(REGION_LINES) <= REGION_TYPES
    assert {TABLE[line].event_class for line in lines} == {EventClass.REGION_LINE}


def test_a_number_of_ours_means_one_thing():
    ours = sorted((*COUNTERS_OF_OURS, *OTHERS_OF_OURS), key=min)

    assert all(one.stop <= following.start for one, following in pairwise(ours))
    assert not [number for number in TABLE if any(number in some for some in ours)]


def test_only_counters_of_ours_lie_among_those_of_extrae():
    assert all(n in COUNTER_TYPES for some in COUNTERS_OF_OURS for n in (some[0], some[-1]))
    assert not any(n in COUNTER_TYPES for some in OTHERS_OF_OURS for n in (some[0], some[-1]))


@pytest.mark.parametrize(
    ("type_", "value", "label", "name"),
    [
        (60000018, 2, "Calc [Calc(int) [clone ._omp_fn.0]]", "Calc._omp_fn.0"),
        (60000018, 1, "?? ", "60000018:1"), (60000019, 7, None, "60000019:7"),
        (60000002, 4, "DO", "DO"), (60000005, 1, None, "barrier"), (60003, 24, None, "single"),
        (60, 43, None, "60:43"), (60000, 43, "GOMP_parallel", "GOMP_parallel"),
        (60000, 43, None, "60000:43"), (40000004, 15, None, "fclose"),
        (40000040, 15, None, "kmpc_aligned_malloc"),
        (61000000, 13, None, "pthread_barrier_wait"), (63000000, 18, None, "cudaHostAlloc"),
        (63500000, 1, " ", "hipLaunch"),
    ],
)  # fmt: skip
def test_a_region_has_a_name_in_any_case(type_, value, label, name):
    assert region_name(type_, value, label) == name


def test_locks_of_both_families_go_through_the_same_steps():
    steps = [LockStep.REQUESTED, LockStep.ACQUIRED, LockStep.RELEASING, LockStep.RELEASED]

    assert [LOCK_STEPS[value] for value in (3, 6, 5, 0)] == steps
    assert [LOCK_STEPS[value] for value in (38, 39, 40, 0)] == steps
    assert 4 not in LOCK_STEPS


@pytest.mark.parametrize(
    ("trace", "region_types", "lock_types"),
    [
        (
            "omp-classic",
            {60000001, 60000002, 60000005, 60000016, 60000018, 60000022, 60000023, 60000024},
            {60000007},
        ),
        ("omp-new", {60000, 60002, 60003, 60004, 60009, 60012, 60015, 60018}, {60005}),
    ],
)
def test_real_openmp_regions_close_and_locks_are_taken(
    real_traces, trace, region_types, lock_types
):
    depth: dict[tuple[str, int], int] = {}
    orphans, locks, found = set(), set(), set()
    for line in (real_traces / "fixtures" / f"{trace}.prv").read_text().splitlines():
        fields = line.split(":")
        if fields[0] != "2":
            continue
        thread = ":".join(fields[2:5])
        for kind, value in zip(map(int, fields[6::2]), map(int, fields[7::2]), strict=True):
            match classify(kind):
                case EventClass.REGION:
                    found.add(kind)
                    level = depth.get((thread, kind), 0) + (1 if value else -1)
                    orphans |= {kind} if level < 0 else set()
                    depth[thread, kind] = max(level, 0)
                case EventClass.LOCK:
                    locks.add(kind)
                    assert value in LOCK_STEPS
    assert not any(depth.values())
    assert (found, locks) == (region_types, lock_types)
    # the classic library ends a dynamic loop whose begin it did not see
    assert orphans <= {60000002}
