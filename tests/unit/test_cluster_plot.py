"""The clustering plot shows every repeated call once, in its loop, and the same every time."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import burstline
import by_hand
from burstline.show.pictures.characters import character_plot
from burstline.show.pictures.cluster_layout import landmark, layout
from burstline.show.pictures.clusters import cluster_plot, placed_labels
from burstline.structure import detect
from burstline.structure.plane import LEFT_OUT, points
from loop_programs import Do, loop, reduced_calls, run

NESTED = loop(20, loop(8, Do("Send", 9)), Do("Barrier", 12))
EVIL = "<script>alert('x')</script> & $\\frac{1}{2}$ [red]\x1b[31m\ufffe.c"


def placed(trace, method="seed", **options):
    structure = detect(trace, method=method)
    return points(trace, structure, **options), structure


def evil_trace():
    """Give a trace whose functions and files are called what nobody should obey."""
    paths = [
        {"call_path": k, "function": EVIL, "file": EVIL, "line": line}
        for k, line in enumerate((3, 4))
    ]
    calls = by_hand.calls_of([("Send", 10 * k, 10 * k + 1) for k in range(20)])
    for k, call in enumerate(calls):
        call["call_path"] = k % 2
    return by_hand.trace_of(locations=by_hand.threads((0, 1000)), calls=calls, call_paths=paths)


@pytest.mark.parametrize("method", ["seed", "exact"])
def test_every_repeated_call_of_every_rank_is_a_point_in_its_loop(method):
    found, structure = placed(run(NESTED, ranks=3), method)

    assert structure.loops[1].parent == 1
    assert found.loop.tolist() == [1, 1, 1, 2, 2, 2]
    assert found.repetitions.tolist() == [20.0] * 3 + [160.0] * 3
    assert found.once == 6  # MPI_Init and MPI_Finalize of each rank


@pytest.mark.parametrize("paths", [True, False])
def test_a_point_is_where_the_reduction_says(paths):
    trace = run(loop(6, Do("Send", 3), loop(5, Do("Recv", 4)), Do("Send", 7)), paths=paths)
    reduced = reduced_calls(trace)
    again = reduced.repetitions > 1

    found, _ = placed(trace, "exact")

    order = np.lexsort((found.interval_ns, found.repetitions))
    wanted = np.lexsort((reduced.iteration_mean_ns()[again], reduced.repetitions[again]))
    assert np.array_equal(found.repetitions[order], reduced.repetitions[again][wanted])
    assert np.allclose(
        found.interval_ns[order], reduced.iteration_mean_ns()[again][wanted], rtol=1e-12
    )


def test_without_call_paths_calls_still_find_their_loop():
    found, _ = placed(run(NESTED, paths=False), "exact")

    assert sorted(found.loop.tolist()) == [1, 1, 2, 2]


def test_what_the_method_did_not_look_at_is_left_out_and_says_so():
    lines = [Do("Send", 10 + k) for k in range(90)]
    found, structure = placed(run(*lines, loop(5, Do("Recv", 5))), "seed")

    (name,) = layout(found, structure, most=9).loops
    assert found.loop.tolist() == [LEFT_OUT, LEFT_OUT]
    assert name.name == "left out: less than 10 %"


def test_above_the_limit_ranks_share_a_point_that_says_how_far_they_spread():
    trace = run(loop(5, Do("Send", 9)), loop(7, Do("Recv", 11, ranks={0, 2})), ranks=4)

    apart, structure = placed(trace, "exact")
    merged = points(trace, structure, most=len(apart) - 1)

    assert not apart.is_merged
    assert merged.is_merged
    assert merged.unique.sum() == len(apart)
    assert len(merged) == 2
    low, high = merged.interval_range_ns[:, 0], merged.interval_range_ns[:, 1]
    assert np.all((low <= merged.interval_ns) & (merged.interval_ns <= high))


def test_axes_hold_every_point_and_the_curve_of_the_smallest_share():
    found, structure = placed(run(NESTED))

    plane = layout(found, structure, most=9)

    across, up = plane.fractions(found.repetitions, found.interval_ns)
    assert np.all((across > 0) & (across < 1) & (up > 0) & (up < 1))
    assert plane.curves == ((1.0, "100 %"), (0.5, "50 %"), (0.1, "10 %"))
    assert plane.least == 0.1
    assert plane.height(0.1, plane.x[1]) > plane.y[0]


def test_nothing_repeated_is_nothing_to_plot_and_loops_are_where_their_bodies_begin():
    found, structure = placed(run(Do("Send", 3), Do("Recv", 4)), "exact")
    assert len(found) == 0
    with pytest.raises(burstline.NotEnoughDataError, match="nothing to plot"):
        layout(found, structure, most=9)

    _, structure = placed(run(NESTED), "exact")
    assert [landmark(each).line for each in structure.loops] == [9, 9]


def test_labels_cover_neither_each_other_nor_a_point():
    random = np.random.default_rng(3)
    positions = random.uniform(30, 400, (200, 2))
    loops = random.integers(1, 60, 200)

    labels = placed_labels(positions, loops, (430.0, 430.0))

    boxes = [label.box for label in labels]
    assert len(boxes) > 5
    for k, (left, low, right, high) in enumerate(boxes):
        x, y = positions.T
        assert not np.any((x > left) & (x < right) & (y > low) & (y < high))
        for o_left, o_low, o_right, o_high in boxes[:k]:
            assert left >= o_right or o_left >= right or low >= o_high or o_low >= high


@pytest.mark.parametrize("form", ["svg", "png"])
def test_the_same_input_gives_the_same_bytes(form):
    first = cluster_plot(*placed(run(NESTED)), form=form, title="a.prv")
    again = cluster_plot(*placed(run(NESTED)), form=form, title="a.prv")

    assert first == again
    assert first.startswith(b"\x89PNG" if form == "png" else b"<?xml")


def test_a_picture_names_its_loops_its_curves_and_its_axes():
    svg = cluster_plot(*placed(run(NESTED)), form="svg", title="ring.prv").decode()

    texts = "\n".join(ET.fromstring(svg).itertext())  # noqa: S314 -- our own
    for text in (
        "ring.prv",
        "loop 1: 20 iterations, a.c:9",
        "loop 2: 160 iterations, a.c:9",
        "100 %",
        "50 %",
        "10 %",
        "repetitions of a call on its rank",
        "mean time between two of them",
        "fidelity 100.00 %",
    ):
        assert text in texts


def test_labels_of_a_trace_are_text_in_pictures_and_nothing_else():
    found, structure = placed(evil_trace())

    svg = cluster_plot(found, structure, form="svg", title=EVIL).decode()
    drawn = character_plot(found, structure, width=100, height=30)

    root = ET.fromstring(svg)  # noqa: S314 -- that it can be parsed is what is tested
    assert not [each for each in root.iter() if each.tag.endswith("script")]
    assert "\x1b" not in svg
    assert "\ufffe" not in svg
    assert "<script>alert" in "".join(root.itertext())
    assert "$\\frac" in "".join(root.itertext())
    text = "\n".join(line.plain for line in drawn)
    assert "<script>" in text
    assert "\x1b" not in text


def test_a_name_in_any_script_is_drawn_without_a_complaint():
    trace = run(loop(5, Do("Send", 9)))

    assert cluster_plot(*placed(trace), form="png", title="測試 🚀.prv").startswith(b"\x89PNG")


def test_ranges_and_many_loops_fit_into_the_legend():
    program = loop(3, *(loop(2 + k % 5, Do("Send", 10 * k)) for k in range(1, 30)))
    trace = run(program)
    structure = detect(trace, method="exact")

    svg = cluster_plot(points(trace, structure, most=9), structure, form="svg").decode()

    assert "shorter loops" in svg
    assert "with their ranges" in svg


def test_without_matplotlib_a_picture_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)

    with pytest.raises(burstline.MissingExtraError, match=r"burstline\[plot\]"):
        cluster_plot(*placed(run(NESTED)), form="svg")


def test_characters_show_every_loop_and_stay_within_the_width():
    found, structure = placed(run(NESTED))

    lines = [text.plain for text in character_plot(found, structure, width=70, height=24)]

    plane = [line for line in lines if "│" in line or "┤" in line]
    assert max(map(len, lines)) <= 70
    assert sum(line.count("1") for line in (row[9:62] for row in plane)) == 1
    assert sum(line.count("2") for line in (row[9:62] for row in plane)) == 1
    assert any("1 loop 1: 20 iterations, a.c:9" in line for line in lines)


@pytest.mark.parametrize("name", ["npb_cg_S_8r", "npb_mg_S_8r", "tealeaf_cg64_4r"])
@pytest.mark.parametrize("method", ["seed", "exact"])
def test_real_programs_have_all_their_calls_in_the_plot(real_traces, name, method):
    found, structure = placed(burstline.read(real_traces / f"{name}.prv.gz"), method)

    assert found.unique.sum() + found.once == structure.unique_calls
    assert {loop for loop in found.loop.tolist() if loop > 0} <= {
        loop.id for loop in structure.loops
    }
    assert cluster_plot(found, structure, form="svg").startswith(b"<?xml")
