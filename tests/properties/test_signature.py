"""What holds for phases of the published methods, whatever the events."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import by_hand
from burstline import signature
from burstline.errors import NotEnoughDataError, ParameterError
from burstline.model import CODES
from burstline.signature import Events
from burstline.signature.published import SIMILARITY, epas, logical_times, noise, pas2p
from effort import examples
from oracles import signature as oracle
from random_traces import traces
from repository.source import ROOT

AMOUNTS = st.sampled_from([0, 1, 84, 85, 86, 100, 117, 118, 2**40])
RUNS = st.lists(st.tuples(st.integers(0, 3), AMOUNTS), max_size=60)
SIMILARITIES = st.sampled_from([0.0, 0.5, 0.85, 0.99, 1.0])


def events_of(*runs, counter="PAPI_TOT_INS", full=True):
    """Events of some processes: the operation of each, and the work before it."""
    rows = [row for run in runs for row in run]
    operation = np.array([operation for operation, _ in rows], np.int16)
    number = np.arange(len(rows))
    ranks = np.arange(len(runs))
    return Events(
        application=0,
        ranks=ranks,
        begin=np.cumsum([0, *map(len, runs)]),
        row=number,
        operation=operation,
        token=operation.astype(np.uint64) << np.uint64(48),
        enter_ns=number,
        leave_ns=number + 1,
        init_ns=ranks * 0,
        finalize_ns=ranks * 0 + len(rows),
        work=np.array([work for _, work in rows], np.int64),
        work_counter=counter,
        full=full,
    )


def stretches(occurrences):
    columns = occurrences.phase, occurrences.begin, occurrences.end
    return list(zip(*(column.tolist() for column in columns), strict=True))


def twin(run, similarity):
    return oracle.phases([kind for kind, _ in run], [work for _, work in run], similarity)


@examples(2)
@given(run=RUNS, similarity=SIMILARITIES)
def test_phases_of_a_process_are_those_of_the_slow_twin(run, similarity):
    found = epas(events_of(run), 0, similarity=similarity)

    assert stretches(found) == twin(run, similarity)
    assert found.similarity == similarity


@examples(1)
@given(
    work=st.lists(
        st.one_of(st.integers(0, 10**4), st.integers(2**61, 2**63 - 1)),
        min_size=60,
        max_size=150,
    ),
    kinds=st.integers(1, 3),
    similarity=st.sampled_from([0.9, 0.99, 1.0]),
)
def test_hundreds_of_phases_of_the_same_types_are_those_of_the_slow_twin(
    work, kinds, similarity
):
    run = [(k % kinds, amount) for k, amount in enumerate(work)]

    assert stretches(epas(events_of(run), 0, similarity=similarity)) == twin(run, similarity)


def test_thousands_of_phases_of_the_same_types_are_those_of_the_slow_twin():
    work = np.random.default_rng(0).lognormal(10, 2, 3_000).astype(int).tolist()
    run = [(k % 2, amount) for k, amount in enumerate(work)]

    found = epas(events_of(run), 0, similarity=0.95)

    assert (found.weights == 1).sum() > 200
    assert stretches(found) == twin(run, 0.95)


@examples(1)
@given(runs=st.lists(RUNS, min_size=1, max_size=3), similarity=SIMILARITIES)
def test_occurrences_cover_the_events_of_a_process_without_overlap(runs, similarity):
    events = events_of(*runs)
    for process, run in enumerate(runs):
        found = epas(events, process, similarity=similarity)

        borders = [0, *found.end.tolist()] if run else []
        assert [*found.begin.tolist(), *borders[-1:]] == borders
        assert borders[-1:] == [len(run)][: len(run)]
        assert found.weights.sum() == len(found.phase)
        assert (found.weights > 0).all()
        assert list(found.names) == [f"phase {k + 1}" for k in range(len(found.weights))]


@examples(1)
@given(kinds=st.lists(st.integers(0, 2), max_size=60), work=AMOUNTS)
def test_of_equal_work_weights_count_sequences_of_types(kinds, work):
    found = epas(events_of([(kind, work) for kind in kinds]), 0, similarity=1.0)

    stretches_of_types = [tuple(kinds[a:b]) for _, a, b in stretches(found)]
    assert found.weights.tolist() == list(Counter(stretches_of_types).values())


@examples(1)
@given(run=RUNS, factor=st.integers(1, 2**10), similarity=SIMILARITIES)
def test_a_factor_of_all_work_changes_nothing(run, factor, similarity):
    scaled = [(kind, factor * work) for kind, work in run]

    found, other = (epas(events_of(each), 0, similarity=similarity) for each in (run, scaled))

    assert stretches(found) == stretches(other)


@examples(1)
@given(run=RUNS, before=RUNS, behind=RUNS, similarity=st.one_of(st.none(), SIMILARITIES))
def test_phases_of_a_process_depend_on_no_other(run, before, behind, similarity):
    alone = epas(events_of(run, counter="cpu"), 0, similarity=similarity)
    among = epas(events_of(before, run, behind, counter="cpu"), 1, similarity=similarity)

    assert stretches(alone) == stretches(among)
    assert alone.similarity == among.similarity


@examples(1)
@given(run=RUNS)
def test_the_noise_is_that_of_the_slow_twin_and_never_asks_for_more_than_is_published(run):
    events = events_of(run, counter="time")
    kinds, work = events.operation.astype(np.uint64), events.work
    nothing = np.zeros(0, np.int64)

    told = noise((kinds, nothing.astype(np.int32), work, nothing))

    assert told == pytest.approx(oracle.noise(kinds.tolist(), work.tolist()))
    assert epas(events, 0).similarity == min(told, SIMILARITY)
    assert epas(events_of(run), 0).similarity == SIMILARITY


def test_noise_of_the_counter_leaves_one_phase():
    work = np.random.default_rng(0).lognormal(10, 0.3, 2_000).astype(int).tolist()
    run = [(k % 4, amount) for k, amount in enumerate(work)]

    noisy, exact = (epas(events_of(run, counter=name), 0) for name in ("cpu", "PAPI_TOT_INS"))

    assert noisy.weights.max() > 0.8 * len(noisy.phase)
    assert exact.weights.max() < 0.2 * len(exact.phase)


def test_work_that_takes_turns_is_no_noise():
    random = np.random.default_rng(0)
    work = (random.lognormal(10, 0.1, 2_000) * np.resize([1, 20, 400], 2_000)).astype(int)

    found = epas(events_of([(0, amount) for amount in work.tolist()], counter="cpu"), 0)

    assert 0.5 < found.similarity < SIMILARITY
    assert sorted(found.weights.tolist())[-3] > 600


def test_types_may_tell_partners_apart():
    run = [(0, 1), (1, 1), (0, 1), (1, 1)]
    events = events_of(run)
    events.token[2] += np.uint64(1)

    assert stretches(epas(events, 0)) == [(0, 0, 2), (0, 2, 4)]
    assert stretches(epas(events, 0, key="full")) == [(0, 0, 3), (1, 3, 4)]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"similarity": 1.1}, "similarity"),
        ({"similarity": float("nan")}, "similarity"),
        ({"key": "peer"}, "key"),
        ({"key": "full"}, "does not tell the partners"),
    ],
)
def test_what_is_no_similarity_and_no_key_is_refused(wrong, said):
    with pytest.raises(ParameterError, match=said):
        epas(events_of([(0, 1)], full=False), 0, **wrong)


def test_the_example_of_the_page_is_true():
    page = (ROOT / "docs" / "concepts" / "signature.md").read_text(encoding="utf-8")
    _, _, example = page.partition("## Phases, by an example\n")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in example.splitlines()
        if line.startswith("| ") and line[2].isdigit()
    ]
    events, weights = rows[:12], rows[12:]
    run = [(CODES[f"{call.strip('`')}"], int(work)) for _, call, work, *_ in events]

    found = epas(events_of(run), 0)

    told = [int(phase) for *_, phase, _ in events]
    assert np.repeat(found.phase + 1, found.end - found.begin).tolist() == told
    assert [int(weight) for *_, weight in weights] == found.weights.tolist()


class Story:
    """A program told in the order of cause and effect: calls, and what they exchange."""

    def __init__(self, ranks):
        self.calls = [[] for _ in range(ranks)]
        self.messages, self.collectives, self.members = [], [], []
        for rank in range(ranks):
            self.call(rank, "Init")

    def call(self, rank, operation):
        now = 2 * len(self.calls[rank])
        self.calls[rank].append((operation, now, now + 1))
        return len(self.calls[rank]) - 1

    def message(self, sender, send, receiver, receive):
        row = {"sender_location": sender, "send_call": send}
        self.messages.append(row | {"receiver_location": receiver, "receive_call": receive})

    def sent(self, sender, receiver, call, completion):
        send = self.call(sender, call)
        if completion != "Recv":
            self.call(receiver, "Irecv")
        self.message(sender, send, receiver, self.call(receiver, completion))

    def ring(self):
        calls = [self.call(rank, "Sendrecv") for rank in range(len(self.calls))]
        for rank, call in enumerate(calls):
            receiver = (rank + 1) % len(calls)
            self.message(rank, call, receiver, calls[receiver])

    def all_meet(self, operation, completions):
        starts = [self.call(rank, operation) for rank in range(len(self.calls))]
        for rank, start in enumerate(starts):
            row = {"collective": len(self.collectives), "location": rank, "call": start}
            completion = completions[rank % len(completions)]
            if completion:
                row["done_call"] = self.call(rank, completion)
            self.members.append(row)
        self.collectives.append({"operation": f"MPI_{operation}", "complete": True})

    def trace(self):
        ranks = len(self.calls)
        end = 2 * max(map(len, self.calls)) + 2
        messages = sorted(self.messages, key=lambda row: row["sender_location"])
        return by_hand.trace_of(
            locations=by_hand.threads(*[(0, end)] * ranks),
            calls=by_hand.calls_of(*self.calls),
            messages=messages,
            collectives=self.collectives,
            collective_members=self.members,
        )


@st.composite
def stories(draw):
    """Traces of programs with messages, polls, exchanges in a ring, and collectives."""
    story = Story(draw(st.integers(1, 3)))
    rank = st.integers(0, len(story.calls) - 1)
    completion = st.sampled_from(["Wait", "Test"])
    for step in draw(st.lists(st.integers(0, 4), max_size=12)):
        if step < 2:
            receive = draw(st.sampled_from(["Recv", "Wait", "Test"]))
            send = draw(st.sampled_from(["Send", "Isend"]))
            story.sent(draw(rank), draw(rank), send, receive)
        elif step == 2:
            story.ring()
        elif step == 3:
            story.all_meet("Barrier", [None])
        else:
            ends = draw(st.lists(completion, min_size=1, max_size=3))
            story.all_meet("Ibarrier", ends)
    return story.trace()


def events_in(trace):
    try:
        return signature.events_of(trace)
    except NotEnoughDataError:
        return None


@examples(2)
@given(trace=st.one_of(stories(), traces(most_ranks=3, most_steps=15)))
def test_logical_times_are_those_of_the_slow_twin(trace):
    events = events_in(trace)
    assume(events is not None)

    expected = oracle.logical_times(trace, events)
    assume(expected is not None)  # calls of two threads of a process may lie in each other

    times, *_ = logical_times(trace, events)

    assert times.tolist() == expected


@examples(1)
@given(trace=stories(), similarity=SIMILARITIES)
def test_phases_of_all_processes_together_are_those_of_the_slow_twin(trace, similarity):
    events = events_in(trace)
    assume(events is not None)
    events.work[:] = np.arange(len(events.work)) % 7 * 20
    times, messages, agreements = logical_times(trace, events)

    found, coordination = pas2p(trace, events, similarity=similarity)

    twin, ticks = oracle.global_phases(
        events, times.tolist(), events.operation.tolist(), similarity
    )
    assert [stretches(each) for each in found] == twin
    assert coordination.decisions == ticks
    assert (coordination.messages, coordination.agreements) == (messages, agreements)
    for process, each in enumerate(found):
        assert (each.end - each.begin).sum() == events.count(process)
        assert len({each.names for each in found}) == 1


@examples(1)
@given(run=RUNS, similarity=st.one_of(st.none(), SIMILARITIES))
def test_of_one_process_alone_both_methods_find_the_same(run, similarity):
    assume(run)
    names = ("Send", "Recv", "Wait", "Barrier")
    trace = by_hand.trace_of(
        locations=by_hand.threads((0, 9)),
        calls=by_hand.calls_of([(names[kind], k, k) for k, (kind, _) in enumerate(run)]),
    )
    events = signature.events_of(trace)
    events.work[:] = [work for _, work in run]

    (together,), coordination = pas2p(trace, events, similarity=similarity)

    alone = epas(events, 0, similarity=similarity)
    assert stretches(together) == stretches(alone)
    assert together.similarity == alone.similarity
    assert (coordination.messages, coordination.agreements) == (0, 0)


def test_messages_between_processes_and_collectives_of_the_program_are_counted():
    story = Story(2)
    story.sent(0, 0, "Isend", "Wait")
    story.sent(0, 1, "Send", "Recv")
    story.ring()
    story.all_meet("Barrier", [None])
    trace = story.trace()

    found, coordination = pas2p(trace, signature.events_of(trace))

    assert coordination.messages == 3
    assert coordination.agreements == 1
    # Rank 0: Isend 1, Irecv 2, Wait 3, Send 4, Sendrecv 7 (sends at 5), Barrier 8.
    # Rank 1: Recv 5, Sendrecv 6, Barrier 8.
    assert coordination.decisions == 8
    assert [stretches(each) for each in found] == [[(0, 0, 6)], [(0, 0, 3)]]


def test_what_waits_for_itself_does_not_hang():
    story = Story(2)
    receives = [story.call(rank, "Recv") for rank in range(2)]
    sends = [story.call(rank, "Send") for rank in range(2)]
    for rank in range(2):
        story.message(rank, sends[rank], 1 - rank, receives[1 - rank])
    trace = story.trace()
    events = signature.events_of(trace)

    times, *_ = logical_times(trace, events)
    found, _ = pas2p(trace, events)

    assert all((np.diff(times[events.of(rank)]) > 0).all() for rank in range(2))
    assert [each.end[-1] for each in found] == [2, 2]
