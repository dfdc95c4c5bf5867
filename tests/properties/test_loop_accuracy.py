"""The adjusted Rand index is that of scikit-learn, and knows classes by their members only."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstline.structure import detect
from burstline.structure.computation import innermost_loops
from burstline.studies.loop_labels import Labels, accuracy, adjusted_rand, labels_of
from labelled import labelled, loop_of_line
from loop_programs import Do, loop, run

PAIRS = st.lists(st.tuples(st.integers(-3, 5), st.integers(0, 5)), max_size=40)


def columns(pairs):
    return np.array([p[0] for p in pairs], np.int64), np.array([p[1] for p in pairs], np.int64)


@given(PAIRS.filter(lambda pairs: len(pairs) > 1))
def test_the_adjusted_rand_index_is_that_of_the_oracle(pairs):
    from sklearn.metrics import adjusted_rand_score

    first, second = columns(pairs)

    assert adjusted_rand(first, second) == pytest.approx(adjusted_rand_score(first, second))


@given(PAIRS, st.permutations(range(-3, 6)), st.randoms())
def test_names_of_classes_and_the_order_of_things_do_not_matter(pairs, names, random):
    first, second = columns(pairs)
    renamed = np.array([names[value + 3] for value in first.tolist()], np.int64)
    order = list(range(len(pairs)))
    random.shuffle(order)

    found = adjusted_rand(first, second)
    assert adjusted_rand(second, first) == found
    assert adjusted_rand(renamed[order], second[order]) == found
    assert -0.5 <= found <= 1.0
    assert adjusted_rand(first, renamed) == 1.0


@st.composite
def nests(draw):
    """Give a random nest of loops without conditions; lines go up through the program."""
    lines = iter(range(2, 900))

    def body(depth):
        steps = [Do("Allreduce", next(lines), work_ns=draw(st.integers(1, 200)))]
        for _ in range(draw(st.integers(0, 2 if depth < 3 else 0))):
            steps.append(loop(draw(st.integers(2, 4)), *body(depth + 1)))
            steps.append(Do("Barrier", next(lines), work_ns=draw(st.integers(1, 200))))
        return steps

    return [loop(draw(st.integers(2, 5)), *body(1)) for _ in range(draw(st.integers(1, 2)))]


@given(nests(), st.integers(1, 3))
def test_the_exact_method_agrees_with_the_labels_of_any_nest(program, ranks):
    trace = labelled(run(*program, ranks=ranks), loop_of_line(program))
    structure = detect(trace, method="exact")
    found = accuracy(structure, labels_of(trace, structure.found_in))

    assert found.adjusted_rand == found.adjusted_rand_unique == 1.0
    assert found.loops_found == found.loops_labelled == len(structure.loops)


@given(nests(), st.sampled_from(["seed", "exact", "auto"]))
def test_a_structure_agrees_with_itself(program, method):
    structure = detect(run(*program), method=method)
    labels = Labels(innermost_loops(structure), {}, "events")
    found = accuracy(structure, labels)

    assert found.adjusted_rand == found.adjusted_rand_unique == 1.0
    assert sum(each.calls for each in found.overlaps) == np.count_nonzero(labels.loop)
    assert all(each.share == each.purity == 1.0 for each in found.overlaps)
