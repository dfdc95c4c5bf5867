"""Limits of documents never refuse what burstline itself writes, whatever stands in it."""

from __future__ import annotations

import json
import tempfile
import tomllib
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from burstline.clocks import EffortModel, model_in
from burstline.formats import documents
from burstline.record.counting.plan import plan_sets, read_sets, sets_text
from burstline.signature import Measurement, Stamps, measurement_in, signature_in, to_toml
from burstline.signature.model import Phase, Process, Signature

HERE = Path("here")
ODD = st.text(st.characters(codec="utf-8")) | st.text("[]{}.,='#7\\\"\n")
COUNT = st.integers(0, 2**62 - 1)
REAL = st.floats(0, 2.0**61)


@st.composite
def processes(draw, rank):
    counts = np.array(sorted(draw(st.sets(st.integers(1, 2**62 - 1), max_size=6))), np.int64)
    hashes = draw(st.lists(st.integers(0, 2**64 - 1), min_size=6, max_size=6))[: len(counts)]
    cut = int(counts[-1]) if len(counts) else 0
    span_ns = draw(COUNT)
    early_ns = draw(st.integers(0, span_ns))
    phases, left_ns = [], span_ns
    for _ in range(draw(st.integers(1, 3))):
        weight, total_ns = draw(st.integers(1, 99)), draw(st.integers(0, left_ns))
        late_ns = draw(st.integers(0, min(total_ns, (span_ns - early_ns) // 3)))
        late_weight = draw(st.floats(0, weight))
        of_phase = weight, draw(REAL), total_ns, late_ns, late_weight
        phases.append(Phase(draw(ODD), *of_phase, draw(st.booleans())))
        left_ns -= total_ns
    windows = max(len(counts) - 1, 0)
    return Process(
        rank, draw(st.integers(cut, 2**62 - 1)), cut, span_ns, early_ns,
        tuple(phases), np.zeros(windows, np.int64), counts[:-1], counts[1:], counts[1:],
        counts, np.array(hashes, np.uint64),
    )  # fmt: skip


@given(st.tuples(processes(0), processes(3)), st.dictionaries(ODD, ODD), REAL, ODD)
def test_signatures_are_within_the_limits(both, facts, drift, counter):
    signature = Signature(
        method="loops", work_counter=counter, full=True, representative=3, span_ns=9, runs=2,
        spread=drift, drift=drift, crossing=2**62 - 1, processes=both, facts=facts,
    )  # fmt: skip
    read = signature_in(documents.from_toml(text := to_toml(signature), HERE), HERE)
    assert to_toml(read) == text
    assert read.facts == facts


@given(
    st.sets(st.integers(1, 2**62 - 1), min_size=1, max_size=9),
    st.dictionaries(ODD, ODD),
    st.booleans(),
)
def test_measurements_are_within_the_limits(counts, facts, to_end):
    counted = np.array(sorted(counts), np.int64)
    run = Measurement(
        (Stamps(0, counted, counted, 0, int(counted[-1]) if to_end else None),),
        int(counted[-1]),
        facts,
    )
    told = run.as_dict()
    text = json.dumps(told)
    assert measurement_in(documents.from_json(text, HERE), HERE).as_dict() == told


@given(st.dictionaries(ODD, st.floats(1e-300, 1e9), min_size=1), st.floats(0, 1e9), ODD)
def test_effort_models_are_within_the_limits(weights, call, origin):
    text = EffortModel.of(weights, call, origin).text()
    assert documents.from_toml(text, HERE) == tomllib.loads(text)
    assert model_in(documents.from_toml(text, HERE), HERE).text() == text


@given(
    st.lists(st.from_regex(r"[A-Z][A-Z_0-9:.]{0,90}", fullmatch=True), min_size=1, unique=True)
)
def test_sets_of_counters_are_within_the_limits(events):
    plan = plan_sets(events, lambda names: len(names) <= 3)
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(sets_text(plan))
        file.flush()
        assert list(map(tuple, read_sets(Path(file.name)).values())) == list(
            map(tuple, plan.sets)
        )
