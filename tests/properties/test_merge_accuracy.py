"""Laws of edited copies, and of matching them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from experiments.merge.accuracy import Judge, pairs_of
from experiments.merge.edits import Edits, check, edit
from hypothesis import given
from hypothesis import strategies as st

from burstline import Trace
from burstline.merge.matching import match
from burstline.model import bursts_of
from burstline.testing import trace_of
from effort import examples
from random_traces import traces

PLACE = ("operation", "peer", "tag", "sent_bytes", "call_path")


@st.composite
def programs(draw):
    """Draw a loop over a few different calls, each with a tag of its own, on two ranks."""
    calls, turns = draw(st.integers(4, 12)), draw(st.integers(2, 12))
    lines = ["ranks 2"]
    for rank in range(2):
        lines.append(str(rank))
        now = 0
        for turn in range(turns):
            for call in range(calls):
                tag = 10 * call + turn % 3
                now += draw(st.integers(1, 50))
                lines.append(f"{now} enter MPI_Send peer {1 - rank} tag {tag} sent 8")
                now += draw(st.integers(1, 9))
                lines.append(f"{now} leave")
            now += 5
            lines += [f"{now} enter MPI_Barrier", f"{now + 3} leave"]
            now += 3
    return trace_of("\n".join(lines))


edits = st.builds(
    Edits,
    share=st.sampled_from([0.0, 0.05, 0.2, 0.6]),
    jitter=st.sampled_from([0.0, 0.2, 0.5]),
    seed=st.integers(0, 99),
)


def places(trace, rows):
    """Tell what the calls before some bursts did."""
    location, before = trace.arrays("bursts", "location", "call_before")
    call = (trace.offsets("calls")[location] + before)[rows]
    operation = np.array(trace.calls["operation"].to_pylist())[call]
    return [
        operation.tolist(),
        *(one[call].tolist() for one in trace.arrays("calls", *PLACE[1:])),
    ]


@examples(0.5)
@given(source=traces(), how=edits)
def test_a_copy_is_a_trace_whose_bursts_do_what_their_origins_did(source, how):
    copy = edit(source, how)

    check(copy)
    known = copy.origin >= 0
    rows = np.flatnonzero(known)
    assert places(copy.trace, rows) == places(source, copy.origin[rows])
    kept = copy.source[copy.source >= 0]
    assert len(np.unique(kept)) == len(kept)


@examples(0.5)
@given(source=programs(), seed=st.integers(0, 99))
def test_a_copy_without_edits_is_its_source(source, seed):
    copy = edit(source, Edits(0.0, 0.5, seed))

    found = match([source, copy.trace])

    assert copy.source.tolist() == list(range(source.rows("bursts")))
    assert set(found.pairs["stage"].to_pylist()) == {"direct"}
    assert found.match_rate.tolist() == [1.0, 1.0]


@examples(0.5)
@given(source=programs(), how=edits)
def test_judgements_are_ordered(source, how):
    """What is strictly right is right; what no edit touched is part of what can be matched."""
    one, other = edit(source, how), edit(source, Edits(how.share, how.jitter, how.seed + 1))
    judge = Judge(source)
    pairs = pairs_of(match([one.trace, other.trace]), one.trace, other.trace)

    strict, fair = judge.strictly(one, other, pairs), judge.judge(one, other, pairs)
    calm = judge.undisturbed(one, other, pairs)

    assert strict.right <= fair.right <= fair.matched == strict.matched
    assert calm.matchable <= fair.matchable <= strict.matchable
    assert fair.found <= fair.matchable


@examples(0.5)
@given(source=programs(), seed=st.integers(0, 99))
def test_one_missing_call_unmatches_nothing_else(source, seed):
    rng = np.random.default_rng(seed)
    copy = edit(source, Edits(0.0, 0.2, seed))
    dropped = int(rng.integers(1, source.rows("calls") // 2 - 1))
    other = without(copy.trace, dropped)

    found = match([source, other])

    assert found.matched[1] == found.bursts[1]


def without(trace, call):
    """Leave a call of the first thread out."""
    kept = [row for row in range(trace.rows("calls")) if row != call]
    ordinals = np.arange(len(kept))
    first = int(trace.offsets("calls")[1]) - 1
    ordinals[first:] -= first
    return rebuilt(trace, kept, ordinals)


def rebuilt(trace, kept, ordinals):
    calls = trace.calls.take(kept)
    column = pa.array(ordinals.astype(np.int32))
    calls = calls.set_column(
        calls.column_names.index("call"), calls.schema.field("call"), column
    )
    tables = {name: trace.table(name) for name in ("locations", "communicators", "call_paths")}
    tables["calls"] = calls
    return Trace({**tables, "bursts": bursts_of(tables)})
