"""How far a counter can be trusted: verdicts, and figures of small runs."""

from __future__ import annotations

import io
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from matplotlib.image import imread

import burstline
from burstline.errors import InconsistentTraceError, NotEnoughDataError, ParameterError
from burstline.merge.matching import match
from burstline.merge.trust.checking import (
    BurstPlaces,
    Quantity,
    check,
    shared,
    variations,
)
from burstline.merge.trust.quality import Limits, compare, judged
from burstline.show import output
from burstline.show.pictures.quality import quality_plot
from burstline.show.quality import CheckView, doubts
from burstline.testing import trace_of

# Relative difference and share below 30 % of the published tables 4 to 8.
STEADY = """
0.019 99.9  0.011 100  0.017 100  0.005 100  0.007 100  0.016 100  0.014 100  0.009 100
0.011 100  0.014 100  0.011 100  0.007 100  0.010 99.9  0.009 99.7  0.005 99.7  0.003 99.7
0.015 97.2  0.015 97.3  0.019 97.3  0.008 97.4
"""

CYCLES_AND_SOME_MISSES = """
0.045 99.3  0.081 96.7  0.085 91.7  0.157 84.5  0.207 74.1  0.204 76.3  0.214 76.1
0.092 87.2  0.174 75.7
"""
OTHER_MISSES = """
0.272 68.5  0.308 63.9  0.262 66.3  0.390 61.7  0.499 51.6  0.512 50.8  0.488 51.3
0.669 38.5
"""


def run(values, *, ranks=1, counters="PAPI_TOT_INS", peer=1, last=None):
    """Write a run whose bursts count `values`, a number or one for each counter."""
    names = counters.split()
    text = [f"ranks {max(ranks, 2)}", *(f"counter {name}" for name in names)]
    text.append("path 0 main file a.c line 3")
    text.append("path 1 main file a.c line 7")
    for rank in range(ranks):
        text += [str(rank), "0 enter MPI_Init", "5 leave" + reading(names, [0] * len(names))]
        for k, value in enumerate(values):
            counted = value if isinstance(value, tuple) else (value,) * len(names)
            begin = 100 * (k + 1)
            operation = ("MPI_Barrier path 0", f"MPI_Send peer {peer} path 1")[k % 2]
            text.append(f"{begin} enter {operation}{reading(names, counted)}")
            text.append(f"{begin + 10 + k} leave{reading(names, [0] * len(names))}")
        if last is not None:
            for begin, name, value in ((90000, "MPI_Bcast", 5), (91000, "MPI_Finalize", last)):
                text.append(f"{begin} enter {name}{reading(names, (value,))}")
                text.append(f"{begin + 10} leave{reading(names, (0,))}")
    return trace_of(" | ".join(text))


def reading(names, values):
    return "".join(f" {name}={value}" for name, value in zip(names, values, strict=True))


def figures(text):
    numbers = [float(word) for word in text.split()]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


@pytest.mark.parametrize(
    ("tables", "word"),
    [(STEADY, "trust"), (CYCLES_AND_SOME_MISSES, "with care"), (OTHER_MISSES, "do not use")],
)
def test_the_published_counters_get_their_words(tables, word):
    assert {judged(away, share / 100)[0] for away, share in figures(tables)} == {word}


ALL_THREE = ["relative_difference", "close", "of_total"]


@pytest.mark.parametrize(
    ("figures", "options", "word", "figures_that_decide"),
    [
        ((0.01, 0.99), {}, "trust", []),
        # of the published counters with the least correlations
        ((0.003, 0.997), {"correlation": 0.875}, "trust", []),
        ((0.174, 0.757), {"correlation": 0.976}, "with care", ALL_THREE[:2]),
        ((0.1, 0.9), {"total": 0.2}, "with care", ALL_THREE),
        ((0.01, 0.99), {"total": 0.2}, "with care", ["of_total"]),
        ((0.3, 0.9), {}, "do not use", ["relative_difference"]),
        ((0.1, 0.9), {"total": 1.035}, "do not use", ["of_total"]),
        ((0.1, 0.9), {"total": 0.2, "correlation": 0.115}, "do not use", ["correlation"]),
        ((0.1, 0.9), {"total": 0.2, "correlation": 0.71}, "with care", ALL_THREE),
        ((None, 0.0), {}, "do not use", ["counted"]),
        ((None, None), {}, "no information", []),
    ],
)
def test_what_keeps_a_counter_from_a_better_verdict_decides(
    figures, options, word, figures_that_decide
):
    found, decided_by = judged(*figures, **options)

    assert found == word
    assert [reason.figure for reason in decided_by] == figures_that_decide


def test_what_decided_a_verdict_is_on_the_screen(capsys):
    steps = "".join(
        f" | {100 * k} enter MPI_Barrier ins={{0}} | {100 * k + 9} leave ins=0"
        for k in range(9)
    )
    runs = [trace_of("ranks 1 | counter ins | 0" + steps.format(count)) for count in (100, 160)]

    output(CheckView(check(runs), ["a", "b"]), "table")

    assert "ins: do not use, because rel diff 0.600 > 0.25" in capsys.readouterr().out


@pytest.mark.parametrize(
    "limits",
    [
        *({"trust_difference": 0.5}, {"trust_close": 0.5}, {"trust_close": 1.1}),
        *({"care_close": -0.1}, {"trust_total": 0.5}, {"tolerance": 0.0}),
    ],
)
def test_limits_that_contradict_each_other_are_refused(limits):
    with pytest.raises(ParameterError):
        Limits(**limits)


def test_limits_are_the_callers_to_choose_and_bursts_that_others_alone_counted_count():
    table, mostly = [[100, 105], [200, 210]], [[0, 1]] * 5 + [[100, 100]] * 95

    assert compare("C", table).verdict == "with care"
    assert compare("C", table, limits=Limits(trust_difference=0.05)).verdict == "trust"
    assert compare("C", mostly).below_30 == 1
    assert compare("C", mostly).verdict == "with care"


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ([[1], [2]], {}), ([1, 2], {}), ([[1, 2]], {"base": 2}), ([[1, 2]], {"base": -1}),
        ([[1, 2]], {"present": [[True]]}),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused(values, options):
    with pytest.raises(ParameterError):
        compare("C", values, **options)


def test_another_partner_is_a_doubt_about_the_match():
    values = [5] * 12
    one, other = run(values, ranks=1), run(values, ranks=1, peer=0)

    found = check([one, other], method="seed")

    (partner,) = (each for each in found.features if each.name == "partner")
    assert (partner.verdict, partner.mae) == ("do not use", 1.0)
    assert any("partner" in said for said in doubts(found))


@pytest.mark.parametrize("method", ["align", "seed"])
def test_a_run_that_was_cut_is_a_doubt(method):
    found = check([run([5, 6, 7], last=9), run([5, 6])], method=method)

    assert any(said.startswith("run 2 was cut") for said in doubts(found))


def test_counters_that_one_run_alone_has_are_named_and_not_judged():
    one = run([(5, 1), (6, 2)], counters="PAPI_TOT_INS PAPI_L1_DCM")
    other = run([(5, 1), (6, 2)], counters="PAPI_TOT_INS PAPI_L2_DCM")

    found = check([one, other])

    assert [each.name for each in found.counters] == ["PAPI_TOT_INS"]
    assert found.alone == ("PAPI_L1_DCM", "PAPI_L2_DCM")


def test_shared_counters_of_a_merge_are_compared_where_two_runs_have_them():
    traces = [
        run([(5, 1), (6, 2)], counters="PAPI_TOT_INS PAPI_L1_DCM"),
        run([(9, 10), (8, 20)], counters="PAPI_FP_OPS PAPI_VEC_DP"),
        run([(10, 1), (12, 3)], counters="PAPI_TOT_INS PAPI_FP_OPS"),
    ]
    matching = match(traces)

    found = {each.name: each for each in shared(traces, matching)}

    assert list(found) == ["PAPI_TOT_INS", "PAPI_FP_OPS"]
    assert found["PAPI_TOT_INS"].relative_difference == 1.0
    assert found["PAPI_FP_OPS"].mae == pytest.approx((8 + 5) / 2)  # its base is the second run


def test_ranks_of_one_number_in_two_applications_are_told_apart():
    def run(values):
        counter = 'counter A unit "" mode delta type 42000050'
        lines = [
            f"{application}/0 | 0 enter MPI_Init | 5 leave A=0 | 9 enter MPI_Barrier A={value}"
            " | 12 leave"
            for application, value in enumerate(values)
        ]
        head = "application 0 ranks 1 | application 1 ranks 1"
        return trace_of(" | ".join([head, counter, *lines]))

    runs = [run((7, 100)), run((7, 200))]
    (found,) = shared(runs, match(runs))
    assert (found.bursts, found.relative_difference) == (2, 0.5)


def test_without_a_common_counter_there_is_nothing_to_check():
    traces = [run([5, 6]), run([5, 6], counters="PAPI_L1_DCM")]

    with pytest.raises(NotEnoughDataError, match=r"run 1: PAPI_TOT_INS; run 2: PAPI_L1_DCM"):
        check(traces)
    assert shared(traces, match(traces)) == ()


@pytest.mark.parametrize(
    ("by", "one", "other", "place", "figures"),
    [
        (
            "call-path",
            run([100, 100] * 10),
            run([100, 150] * 10),
            "MPI_Barrier main@a.c:3 → MPI_Send main@a.c:7",
            {"share": 1.0, "difference": 0.5, "below_30": 0.0},
        ),
        (
            "phase",
            run([100] * 20, last=50),
            run([100] + [110] * 19, last=50),
            "loop 1",
            {"share": 1.0},
        ),
        (
            "phase",
            run([100] + [7] * 20, last=300),
            run([150] + [7] * 20, last=450),
            "outside all loops",
            {"difference": 0.5, "bursts": 2},
        ),
    ],
    ids=["a call path", "a loop", "before and after a loop"],
)
def test_the_place_that_differs_is_named(by, one, other, place, figures):
    (only,) = check([one, other], by=by).variations

    assert only.place == place
    assert {name: getattr(only, name) for name in figures} == figures


def test_runs_of_different_ranks_and_unknown_ways_to_tell_bursts_apart_are_refused():
    three = trace_of("ranks 3 | counter PAPI_TOT_INS | 0 | 0 read PAPI_TOT_INS=1")
    with pytest.raises(InconsistentTraceError, match="numbers of ranks"):
        check([run([5, 6]), three])
    with pytest.raises(ParameterError, match="call-path, phase"):
        check([run([5, 6])] * 2, by="rank")


def test_the_matrix_holds_the_correlations_of_the_base_with_the_others():
    traces = [run([10, 50, 20, 90, 5]), run([12, 47, 26, 80, 9])]

    found = check(traces)

    at = found.names.index("PAPI_TOT_INS")
    assert found.matrix[at, at] == pytest.approx(found.counters[0].correlation)
    assert found.names == ("PAPI_TOT_INS", "duration", "position", "sizes")
    constant = found.names.index("sizes")
    assert np.isnan(found.matrix[constant]).all()
    assert np.isnan(found.matrix[:, constant]).all()


def test_a_picture_is_the_same_for_the_same_runs_and_obeys_no_name():
    evil = '"<script>alert(1)</script> & $\\\\frac{1}{2}$"'
    text = (
        f"ranks 1 | counter {evil} | 0 | 0 enter MPI_Init | 5 leave {evil}=0"
        f" | 9 enter MPI_Barrier {evil}=7 | 12 leave {evil}=0 | 20 enter MPI_Barrier {evil}=900"
        " | 22 leave"
    )
    found = check([trace_of(text), trace_of(text)])

    pictures = [quality_plot(found, form="svg", title="<b>") for _ in range(2)]

    assert pictures[0] == pictures[1]
    drawn = "".join(ET.fromstring(pictures[0]).itertext())  # noqa: S314 -- drawn by ourselves
    assert "<script>alert(1)" in drawn
    assert quality_plot(found, form="png").startswith(b"\x89PNG")


def test_nothing_of_a_picture_of_many_counters_is_cut_off():
    names = [f"A{number}" for number in range(16)]
    lines = ["ranks 1", *(f"counter {name}" for name in names), "0", "0 enter MPI_Init"]
    zeros = " ".join(f"{name}=0" for name in names)
    lines.append(f"5 leave {zeros}")
    for burst in range(1, 4):
        read = " ".join(f"{name}={burst * (k + 1)}" for k, name in enumerate(names))
        lines += [f"{10 * burst} enter MPI_Barrier {read}", f"{10 * burst + 5} leave {zeros}"]
    text = " | ".join(lines)

    picture = quality_plot(check([trace_of(text), trace_of(text)]), form="png")

    pixels = imread(io.BytesIO(picture))[:, :, :3]
    for edge in (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]):
        assert (edge == 1).all()


def test_without_matplotlib_a_picture_of_counters_names_the_extra(monkeypatch):
    found = check([run([5, 6])] * 2)
    monkeypatch.setitem(sys.modules, "matplotlib", None)

    with pytest.raises(burstline.MissingExtraError, match=r"burstline\[plot\]"):
        quality_plot(found, form="svg")


def test_bursts_that_no_other_run_measured_do_not_dilute_how_much_a_counter_differs():
    values, present = np.array([[10.0, 15], [90, 0]]), np.array([[True, True], [True, False]])
    places = BurstPlaces(np.array([0, 0]), ["main"])

    (found,) = variations(Quantity("A", 0, values, present), places, 0.3)

    assert (found.bursts, found.difference) == (1, 0.5)
