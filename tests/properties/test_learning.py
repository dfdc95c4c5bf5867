"""Folds, features and errors keep their laws for any input."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from burstline.merge.tables.columns import table_schema
from burstline.studies.burst_features import parts_of, roles
from burstline.studies.scoring import folds, relative_errors

GROUPS = st.lists(st.integers(0, 9), min_size=2, max_size=60).filter(lambda g: len({*g}) > 1)
COUNTERS = st.lists(
    st.sampled_from(["PAPI_TOT_INS", "PAPI_TOT_CYC", "cpu", "TASK-CLOCK", "IR_BB", "A"]),
    unique=True,
)
TARGETS = st.sampled_from(["duration_ns", "ipc", "frequency"])
POSITIVE = st.floats(1e-3, 1e9)


@given(GROUPS, st.sampled_from(["rank", "application", "code"]))
def test_folds_part_the_bursts_and_split_no_group(group, by):
    numbers = np.array(group)

    found = folds(numbers, by)

    assert sorted(np.concatenate([test for _, test in found]).tolist()) == [*range(len(group))]
    for train, test in found:
        assert len(train) + len(test) == len(group)
        assert not {*numbers[train].tolist()} & {*numbers[test].tolist()}
        assert len(test)


@given(COUNTERS, TARGETS)
def test_no_feature_is_the_target_or_a_part_of_it(counters, target):
    found = roles(table_schema(counters), target)

    used = {name.rpartition(":")[2].lower() for name in (*found.base, *found.merged)}
    assert not used & parts_of(target)
    assert {*counters} <= {*found.base, *found.merged, *found.left_out}


@given(POSITIVE, POSITIVE)
def test_an_error_is_a_share_and_the_same_either_way(measured, predicted):
    one, other = np.array([measured]), np.array([predicted])

    error = relative_errors(one, other)[0]

    assert 0 <= error <= 1
    assert error == relative_errors(other, one)[0]
    assert (error == 0) == (measured == predicted)
