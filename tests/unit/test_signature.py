"""Signatures: what they hold as text, and what is predicted from them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstline.errors import (
    FormatError,
    InconsistentTraceError,
    ParameterError,
    UnsupportedRecordError,
)
from burstline.formats import documents
from burstline.model import TABLES, Trace
from burstline.signature import (
    Measurement,
    Stamps,
    events_of,
    measurement_in,
    phases,
    predict,
    signature_in,
    signature_of,
    to_toml,
)
from burstline.signature.events import Occurrences
from burstline.signature.windows import ENOUGH, early_end, windows_of
from burstline.testing import trace_of

HERE = Path("app.sig")


def solver(ranks=2, steps=100, grow=0, slower=1, tail=50):
    """Steps of computation and a barrier, which may grow, between a start and an end."""
    lines = [f"ranks {ranks}", "path 0 main file solve.c line 7"]
    for rank in range(ranks):
        now = 1000 * slower
        lines += [str(rank), "0 enter MPI_Init", f"{now} leave"]
        for k in range(steps):
            now += slower * (90 + grow * k)
            lines += [f"{now} enter MPI_Barrier path 0", f"{now + slower * 10} leave"]
            now += slower * 10
        now += slower * tail
        lines += [f"{now} enter MPI_Finalize", f"{now + 5} leave"]
    return trace_of(" | ".join(lines))


def measured(trace, signature, factor=1):
    """What a signature run would have measured, had it been `factor` times slower."""
    events = events_of(trace)
    stamps = tuple(
        Stamps(
            process.rank,
            process.counts,
            factor * events.boundaries(number)[process.counts],
            factor * int(events.init_ns[number]),
            factor * int(events.finalize_ns[number]),
        )
        for number, process in enumerate(signature.processes)
    )
    return Measurement(stamps, 10**9, {"command": "mpirun ./app"})


def from_toml(text, path):
    return signature_in(documents.from_toml(text, path), path)


def from_json(text, path):
    return measurement_in(documents.from_json(text, path), path)


def equal(one, other):
    return json.dumps(asdict(one), default=lambda a: a.tolist()) == json.dumps(
        asdict(other), default=lambda a: a.tolist()
    )


class Asked(dict):
    """Tables that count how often each is asked for."""

    def __init__(self, trace):
        super().__init__({name: trace.table(name) for name in TABLES if name in trace})
        self.times = Counter()

    def __getitem__(self, name):
        self.times[name] += 1
        return super().__getitem__(name)


def test_calls_are_loaded_as_often_whatever_the_number_of_processes():
    few, many = (Asked(solver(ranks=ranks)) for ranks in (2, 12))

    for tables in (few, many):
        phases(Trace(tables))

    assert many.times["calls"] == few.times["calls"]


@pytest.mark.parametrize(
    "name", ["größe 😀", 'a "quoted" \\ path', "bell\x07 del\x7f\x85 \n\t"]
)
def test_whatever_a_label_holds_is_read_as_it_was_written(name):
    signature = signature_of([solver(ranks=1)])
    process = signature.processes[0]
    named = replace(process, phases=tuple(each._replace(name=name) for each in process.phases))
    signature = replace(signature, processes=(named,), facts={name: name})
    assert equal(from_toml(to_toml(signature), HERE), signature)


def test_a_run_that_is_three_times_slower_everywhere_is_predicted():
    signature = signature_of([solver(grow=2)])
    run = measured(solver(grow=2), signature, factor=3)
    for estimate in predict(signature, run).estimates:
        assert estimate.actual_ns == 3 * signature.span_ns
        assert abs(estimate.error) < 0.001


def test_the_ratio_predicts_a_solver_that_grows_and_the_mean_does_not():
    signature = signature_of([solver(grow=2)])
    run = measured(solver(grow=2), signature, factor=2)
    by_ratio, by_mean = (
        predict(signature, run, estimator=name).estimate for name in ("ratio", "mean")
    )
    assert abs(by_ratio.error) < 0.001
    assert by_mean.error < -0.3


def test_the_published_sum_leaves_out_what_lies_in_no_phase():
    signature = signature_of([solver(tail=5000)], min_share=0.4)
    run = measured(solver(tail=5000), signature)
    estimate = predict(signature, run).estimate
    assert estimate.predicted_ns == estimate.actual_ns == 15_000
    assert estimate.seed_predicted_ns == 10_000
    assert signature.processes[0].coverage == pytest.approx(10_000 / 15_000)


def test_base_runs_tell_how_far_they_differ():
    one, other = solver(), solver(slower=2)
    assert signature_of([one]).spread is None
    assert signature_of([one, one]).spread == 0
    # Twice as slow everywhere is told by the windows: the spread is what they do not tell.
    assert signature_of([one, other]).spread == 0
    wide = signature_of([one, solver(grow=1)])
    assert wide.spread > 0.05
    narrow = signature_of([one, one])
    run = measured(one, narrow)
    widths = [predict(each, run).estimate.half_width_ns for each in (narrow, wide)]
    assert widths[0] < widths[1]


@pytest.mark.parametrize("runs", [2, 3, 5])
def test_intervals_hold_another_run_in_19_of_20_cases(runs):
    # Parts of a run differ half as much as runs here: of few runs, these tell of it, too.
    random = np.random.default_rng(runs)
    signature = signature_of([solver(steps=50)] * runs)
    run = measured(solver(steps=50), signature)
    actual_ns = predict(signature, run).estimate.predicted_ns
    held = []
    for differences in random.normal(0, 0.03, (400, runs + 1)):
        base, target = differences[:-1], differences[-1]
        pairs = (base[:, None] - base)[~np.eye(runs, dtype=bool)]
        spread = float(np.sqrt(np.mean(pairs**2)))
        estimate = predict(replace(signature, spread=spread, drift=0.015), run).estimate
        held.append(abs(target - base.mean()) * actual_ns <= estimate.half_width_ns)
    assert 0.92 <= np.mean(held) <= 0.98


def wandering(random, steps=160):
    """Steps on a machine whose speed wanders, as much over minutes as over seconds."""
    speed = np.ones(steps)
    for parts in (1, 2, 4, 8, 16, 32):
        speed += np.repeat(random.normal(0, 0.015, parts), steps // parts)
    ends = 1000 + np.cumsum(np.round(10_000 * speed)).astype(int)
    lines = [
        "ranks 1", "path 0 main file solve.c line 7", "0", "0 enter MPI_Init", "1000 leave",
    ]  # fmt: skip
    lines += [f"{end - 10} enter MPI_Barrier path 0 | {end} leave" for end in ends.tolist()]
    return trace_of(" | ".join([*lines, f"{ends[-1]} enter MPI_Finalize", f"{ends[-1]} leave"]))


def test_a_single_base_run_tells_how_far_another_may_be_where_the_machine_wanders():
    random = np.random.default_rng(7)
    held = []
    for _ in range(100):
        base, target = wandering(random), wandering(random)
        signature = signature_of([base])
        estimate = predict(signature, measured(target, signature)).estimate
        low, high = estimate.interval_ns
        held.append(low <= estimate.actual_ns <= high)
    assert 0.9 <= np.mean(held) < 1


def test_the_target_is_known_by_one_early_part_of_which_windows_may_be_unequal():
    signature = replace(signature_of([solver()] * 5), spread=0.0, drift=0.03)
    estimate = predict(signature, measured(solver(), signature)).estimate
    assert estimate.half_width_ns >= 2 * 0.03 * estimate.predicted_ns
    signature = replace(signature_of([solver()]), drift=0.01)
    run = disturbed(measured(solver(), signature), signature, 3, 3000)
    reason = predict(signature, run, estimator="mean").estimate.reason
    assert "occurrences of a phase last unequally" in reason


def test_several_signature_runs_are_predicted_from_by_their_mean():
    signature = signature_of([solver()])
    once, twice = (measured(solver(), signature, factor) for factor in (1, 2))
    alone = [predict(signature, each).estimate for each in (once, twice)]
    together = predict(signature, once, twice).estimate
    for name in ("predicted_ns", "early_ns", "rest_ns", "measured_ns", "set_ns", "actual_ns"):
        assert getattr(together, name) == sum(getattr(each, name) for each in alone) / 2
    phase = together.phases[0]
    assert (phase.ratio, phase.windows) == (1.5, alone[0].phases[0].windows)
    ended = tuple(replace(each, finalize_ns=None) for each in once.stamps)
    cut = replace(once, stamps=ended)
    assert predict(signature, twice, cut).estimate.actual_ns is None
    with pytest.raises(ParameterError, match="at least one measurement"):
        predict(signature)


def test_several_signature_runs_that_are_alike_narrow_the_interval_and_others_widen_it():
    signature = signature_of([solver()])
    runs = [measured(solver(), signature, factor) for factor in (100, 101, 130)]
    (one, alike, apart) = (
        predict(signature, *chosen).estimate for chosen in (runs[:1], runs[:2], runs[::2])
    )
    narrow, single, wide = (
        each.half_width_ns / each.predicted_ns for each in (alike, one, apart)
    )
    assert narrow < single < wide
    low, high = apart.interval_ns
    assert low < 100 / 115 * apart.predicted_ns
    assert high > 130 / 115 * apart.predicted_ns


@pytest.mark.parametrize(
    ("changes", "factors", "because"),
    [
        ({"drift": 0.4}, [1], "parts of the base run as long as the measured one differ"),
        ({"runs": 3, "spread": 0.5}, [1], "base runs predict each other wrongly by 50%"),
        ({}, [100, 300], "signature runs lie apart, up to 50%"),
    ],
)
def test_an_interval_wider_than_half_of_the_prediction_is_of_no_use(changes, factors, because):
    signature = replace(signature_of([solver()]), **changes)
    runs = [measured(solver(), signature, factor) for factor in factors]
    document = predict(signature, *runs).as_dict()
    low, high = document["interval_ns"]
    assert high - low > document["predicted_ns"] / 2
    assert document["usable"] is False
    assert because in document["reason"]
    assert "share" not in document["reason"]
    here = [replace(run, facts={"processors": "1"}) for run in runs]
    assert "2 ranks share the processors, 1" in predict(signature, *here).estimate.reason


def disturbed(measurement, signature, every, late_ns):
    """The same run, where something else lasted for some time in every n-th window."""
    stamps = []
    for process, found in zip(signature.processes, measurement.stamps, strict=True):
        later = np.zeros(len(found.counts), np.int64)
        ends = np.searchsorted(found.counts, process.end)
        later[ends[::every]] = late_ns
        stamps.append(replace(found, time_ns=found.time_ns + np.cumsum(later)))
    return replace(measurement, stamps=tuple(stamps))


def test_a_few_disturbed_windows_do_not_move_the_prediction():
    trace = solver(steps=2000)
    signature = signature_of([trace])
    undisturbed = measured(trace, signature)
    found = disturbed(undisturbed, signature, every=20, late_ns=500)
    expected, estimate = (predict(signature, each).estimate for each in (undisturbed, found))
    # What was run up to the cut counts as it was.
    later = estimate.early_ns - expected.early_ns
    assert later > 0
    assert estimate.predicted_ns == pytest.approx(expected.predicted_ns + later, rel=1e-3)
    assert estimate.phases[0].ratio == 1


def test_the_interval_reaches_to_what_the_mean_of_the_windows_predicts():
    trace = solver(steps=2000)
    signature = signature_of([trace])
    found = disturbed(measured(trace, signature), signature, every=3, late_ns=300)
    estimate = predict(signature, found).estimate
    by_mean = predict(signature, found, estimator="mean").estimate
    assert estimate.predicted_ns < 0.6 * by_mean.predicted_ns
    assert estimate.interval_ns[1] > 0.98 * by_mean.predicted_ns


def test_base_runs_outvote_the_one_that_was_disturbed():
    traces = [solver(), solver(slower=3), solver()]
    windows = [signature_of(chosen).processes[0].base_ns for chosen in (traces, traces[:1])]
    assert windows[0].tolist() == windows[1].tolist()


def test_base_runs_tell_together_how_far_parts_of_a_run_lie_apart_beyond_a_steady_change():
    random = np.random.default_rng(3)
    traces = [wandering(random) for _ in range(3)]
    alone = [signature_of([trace]).drift for trace in traces]
    together = signature_of(traces).drift
    assert together == pytest.approx(np.sqrt(np.mean(np.square(alone))))
    assert signature_of([solver(steps=400, grow=2)]).drift < 0.001


@pytest.mark.parametrize("others", [{"steps": 99}, {"ranks": 1}])
def test_base_runs_make_the_same_calls(others):
    with pytest.raises(InconsistentTraceError, match="a signature is of one program"):
        signature_of([solver(), solver(**others)])


def test_a_measurement_of_another_signature_is_refused():
    signature = signature_of([solver()])
    run = measured(solver(), signature)
    alone = Measurement(run.stamps[:1], run.wall_ns, {})
    with pytest.raises(InconsistentTraceError, match="2 ranks, the measurement of 1"):
        predict(signature, alone)
    short = tuple(
        Stamps(each.rank, each.counts[:-1], each.time_ns[:-1], each.init_ns, None)
        for each in run.stamps
    )
    with pytest.raises(InconsistentTraceError, match="another signature"):
        predict(signature, Measurement(short, 1, {}))
    with pytest.raises(InconsistentTraceError, match=r"^measurement 2 is of another signature"):
        predict(signature, run, Measurement(short, 1, {}))


@pytest.mark.parametrize(
    "wrong",
    [
        {"method": "none"}, {"min_share": 2}, {"within": -1}, {"windows": 0},
        {"similarity": 0, "method": "epas"},
    ],
)  # fmt: skip
def test_choices_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ParameterError):
        phases(solver(), **wrong)


def test_the_first_occurrence_is_no_window_and_others_are_spread():
    found = Occurrences(np.zeros(100, np.int64), np.arange(100), np.arange(1, 101), ("loop",))
    relevant = np.array([True])
    assert windows_of(found, relevant, 50, 200).tolist() == list(range(1, 50))
    assert windows_of(found, relevant, 1, 200).tolist() == [0]
    spread = windows_of(found, relevant, 100, 9)
    assert len(spread) == 9
    assert np.ptp(np.diff(spread)) <= 1
    assert spread[-1] == 99


@pytest.mark.parametrize(
    ("weights", "met"),
    [((20, 3), ENOUGH), ((3, 20), 3 + ENOUGH), ((3, 3), 3 + 1), ((10, 10), 10 + ENOUGH)],
)
def test_a_run_goes_on_until_phases_were_met_that_take_most_of_the_time(weights, met):
    phase = np.repeat([0, 1], weights)
    ends = np.arange(1, len(phase) + 1)
    found = Occurrences(phase, ends - 1, ends, ("one", "other"))
    relevant = np.array([True, True])
    assert early_end(found, np.arange(len(phase) + 1), len(phase), relevant, 0) == met


DAMAGES = [
    ("version = 1", "version = 2"),
    ("version = 1", "version = true"),
    ('method = "loops"', 'method = "magic"'),
    ("full = ", "full = 3 # "),
    ("representative = ", "representative = 9 # "),
    ("span_ns = ", "span_ns = -5 # "),
    ("drift = ", "drift = nan # "),
    ("runs = ", "spread = 0.1\nruns = 1 #"),
    ("runs = ", "runs = 2 #"),
    ("runs = ", "runs = 0 #"),
    ("cut = ", "cut = 1 # "),
    ("[[process]]", "[[other]]"),
    ("windows = [", "windows = [[1, 2],"),
    ("windows = [", "windows = [[99, 1, 2, 3],"),
    ("boundaries = [", 'boundaries = [[0, "0000000000000000"],'),
    ("boundaries = [", 'boundaries = [[1, "zz"],'),
    ("phases = [", "phases = [[1, 2, 3, 4, 5, 6, 7],"),
    ("phases = [", "phases = " + "[" * 100_000),
    ("[facts]", "[facts"),
    ("counted = [", 'counted = ["MPI_Test", '),
]


@pytest.mark.parametrize(("sound", "damaged"), DAMAGES)
def test_a_damaged_signature_is_refused_by_its_file(sound, damaged):
    text = to_toml(signature_of([solver()]))
    assert sound in text
    with pytest.raises(FormatError, match=r"app\.sig"):
        from_toml(text.replace(sound, damaged, 1), HERE)
    with pytest.raises(UnsupportedRecordError, match="Make it anew"):
        from_toml(text.replace("version = 1", "version = 7"), HERE)


@pytest.mark.parametrize(
    "change",
    [
        lambda process, _: {"early_ns": process.span_ns + 1},
        lambda process, _: {"span_ns": process.early_ns},
        lambda process, _: {"events": process.cut - 1},
        lambda _, phase: {"phases": (phase._replace(late_ns=phase.total_ns + 1),)},
        lambda _, phase: {"phases": (phase._replace(late_weight=phase.weight + 0.5),)},
        lambda process, phase: {"phases": (phase._replace(total_ns=2 * process.span_ns),)},
        lambda _, phase: {"phases": (phase, phase._replace(total_ns=0, late_ns=0), phase)},
    ],
)
def test_a_signature_whose_part_is_longer_than_its_run_is_refused(change):
    sound = signature_of([solver(ranks=1)])
    process = sound.processes[0]
    lying = replace(process, **change(process, process.phases[0]))
    with pytest.raises(FormatError, match=r"app\.sig"):
        from_toml(to_toml(replace(sound, processes=(lying,))), HERE)


def test_a_call_within_another_one_makes_no_time_run_backwards():
    """Damaged traces have such calls."""
    calls = "1 enter MPI_Init | 2 leave"
    calls += "".join(
        f" | {k} enter MPI_Send | {k} enter MPI_Recv | {k + 5} leave | {k + 9} leave"
        for k in range(10, 200, 10)
    )
    trace = trace_of(f"ranks 1 | 0 | {calls} | 300 enter MPI_Finalize | 301 leave")

    events = events_of(trace)

    assert (np.diff(events.boundaries(0)) >= 0).all()
    assert phases(trace, method="pas2p").signature.ranks == 1


def run_of(**rank):
    return json.dumps({"version": 1, "wall_ns": 9, "facts": {}, "ranks": [{"rank": 0} | rank]})


@pytest.mark.parametrize(
    "wrong",
    [
        "[]",
        "{",
        "[" * 100_000,
        '{"version": 1}',
        '{"version": 1, "ranks": [3], "facts": {}, "wall_ns": 1}',
        '{"version": 1, "ranks": [{"rank": 0, "counts": [2, 1], "time_ns": [1, 2]}]}',
        '{"version": 1, "ranks": [], "facts": {}, "wall_ns": -1}',
        run_of(counts=[1], time_ns=[4], init_ns=5),
        run_of(counts=[1, 2], time_ns=[6, 9], init_ns=5, finalize_ns=8),
        run_of(counts=[1, 2], time_ns=[0, 0], init_ns=0, finalize_ns=0),
        run_of(counts=[1], time_ns=[40], init_ns=5),  # longer than the run
    ],
)
def test_a_damaged_measurement_is_refused(wrong):
    with pytest.raises(FormatError):
        from_json(wrong, HERE)


@given(st.lists(st.sampled_from([0, 1, 7, 2**31, 2**61]), min_size=99, max_size=99), st.data())
def test_whatever_was_measured_is_predicted_from_or_refused(steps, data):
    """A prediction lies in its interval, which lies within what a clock counts."""
    signature = signature_of([solver(ranks=1)])
    counts = signature.processes[0].counts
    times = np.minimum(np.cumsum(steps[: len(counts)], dtype=np.uint64), 2**62 - 1)
    finalize = data.draw(st.sampled_from([None, int(times[-1])]))
    stamps = Stamps(0, counts, times.astype(np.int64), 0, finalize)
    for estimator in ("ratio", "mean"):
        try:
            found = predict(signature, Measurement((stamps,), 1, {}), estimator=estimator)
        except InconsistentTraceError:
            assert times[-1] > 2**50
            continue
        low, high = found.estimate.interval_ns
        assert 0 <= low <= found.estimate.predicted_ns <= high < 2**63
        assert json.loads(json.dumps(found.as_dict()))["predicted_ns"] >= 0


def test_phases_of_calls_without_paths_on_a_communicator_are_found():
    turn = " | ".join(
        f"{at} enter MPI_Barrier comm 1 | {at} begin | {at + 2} end | {at + 2} leave"
        for at in range(10, 410, 10)
    )
    body = f"1 enter MPI_Init | 2 leave | {turn} | 500 enter MPI_Finalize | 501 leave"
    lines = ["ranks 2", "communicator 1 members 0 1 kind group", f"0 | {body}", f"1 | {body}"]

    found = phases(trace_of("\n".join(lines)))

    assert found.signature.method == "loops"


def sampled(ranks=1):
    """Steps of a computation in two functions, and a barrier in which samples are, too."""
    lines = [
        f"ranks {ranks}", "path 0 main file solve.c line 7",
        "path 1 relax under 0 file solve.c line 3", "path 2 sum under 0 file solve.c line 5",
    ]  # fmt: skip
    for rank in range(ranks):
        lines += [str(rank), "0 enter MPI_Init", "100 leave"]
        for now in range(100, 4100, 100):
            lines += [
                f"{now + 20} sample path 1 periods 2", f"{now + 40} sample path 2 periods 1",
                f"{now + 60} enter MPI_Barrier path 0", f"{now + 80} sample path 2 periods 9",
                f"{now + 100} leave",
            ]  # fmt: skip
        lines += ["4100 enter MPI_Finalize", "4105 leave"]
    return trace_of(" | ".join(lines))


@pytest.mark.parametrize("method", ["loops", "epas", "pas2p"])
def test_the_function_that_computes_most_in_a_phase_is_named(method):
    found = phases(sampled(), method=method)

    named = {each["function"] for each in found.as_dict()["phases"] if each["weight"] > 9}

    assert named == {"relax"}
    assert phases(solver(), method=method).functions.count(None) == len(
        phases(solver(), method=method).functions
    )
