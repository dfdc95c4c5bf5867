"""Loops of small programs whose structure is known, by the published method."""

from __future__ import annotations

import numpy as np
import pytest

import burstline
from burstline import structure
from burstline.structure.calls import Calls
from loop_programs import Do, loop, run, shape


def detect(trace, **options):
    return structure.detect(trace, **({"method": "seed"} | options))


SEND, RECV = loop(6, Do("Send", 11)), loop(6, Do("Recv", 16))


@pytest.mark.parametrize(
    ("program", "found"),
    [
        ([loop(10, Do("Send", 5), Do("Recv", 6))], [(10, [5, 6])]),
        ([loop(20, loop(8, Do("Sendrecv", 9)), Do("Allreduce", 12))], [(20, [(8, [9]), 12])]),
        (
            [loop(10, loop(5, SEND, Do("Recv", 13)), Do("Allreduce", 16))],
            [(10, [(5, [(6, [11]), 13]), 16])],
        ),
        ([loop(10, Do("Bcast", 4), SEND, Do("Barrier", 17))], [(10, [4, (6, [11]), 17])]),
        (
            [loop(10, SEND, Do("Recv", 13)), loop(15, loop(4, Do("Send", 21)), Do("Wait", 26))],
            [(10, [(6, [11]), 13]), (15, [(4, [21]), 26])],
        ),
        ([loop(20, SEND, RECV, Do("Barrier", 26))], [(20, [(6, [11]), (6, [16]), 26])]),
        ([loop(20, SEND, RECV)], [(20, [(6, [11]), (6, [16])])]),
        (
            [loop(5, loop(4, SEND, RECV), Do("Barrier", 20))],
            [(5, [(4, [(6, [11]), (6, [16])]), 20])],
        ),
        (
            [loop(4, SEND, RECV, loop(6, Do("Send", 21)))],
            [(4, [(6, [11]), (6, [16]), (6, [21])])],
        ),
    ],
    ids=[
        "two calls", "a loop in a loop", "three loops",
        "an inner loop that ends where a call after it stands", "phases one after the other",
        "aliased loops", "a superloop without a call", "that in a loop", "that of three loops",
    ],
)  # fmt: skip
def test_loops_are_read_as_they_were_written(program, found):
    read = detect(run(*program))

    assert shape(read.items) == [1, *found, 999]
    assert (read.fidelity, read.coverage.calls) == (1.0, 1.0)


def test_a_loop_in_a_loop_is_its_child_and_measured_and_one_after_another_is_none():
    outer, inner = detect(run(loop(20, loop(8, Do("Sendrecv", 9)), Do("Allreduce", 12)))).loops
    assert (outer.parent, inner.parent) == (None, outer.id)
    assert (outer.total_iterations, inner.total_iterations) == (20, 160)
    assert inner.mean_ns == pytest.approx(110, rel=0.01)
    assert outer.mean_ns == pytest.approx(9 * 110)
    assert inner.share < outer.share
    assert 0.9 < outer.share <= 1.0

    program = loop(2, Do("Barrier", 5, work_ns=5000)), loop(10, Do("Send", 6, work_ns=1000))
    assert [each.parent for each in detect(run(*program)).loops] == [None, None]


@pytest.mark.parametrize(("twice", "hidden"), [(10, True), (9, False)])
def test_a_superloop_has_blocks_of_one_and_a_half_iterations_in_the_mean(twice, hidden):
    times = [2] * twice + [1] * (20 - twice)
    program = loop(20, loop(times, Do("Send", 11)), loop(times, Do("Recv", 16)))

    found = detect(run(program))

    assert any(each.hidden for each in found.loops) == hidden


def odd(iteration):
    return iteration % 2 == 1


@pytest.mark.parametrize("around", [("Send", "Recv"), ("Recv", "Send")])
def test_a_conditioned_call_in_the_middle_has_a_probability(around):
    first, last = around
    program = loop(40, Do(first, 20), Do("Allreduce", 23, when=odd), Do(last, 26))

    found = detect(run(Do("Send", 3), program))

    assert shape(found.items) == [1, 3, (40, [20, 23, 26]), 999]
    probabilities = [call.probability for call in found.loops[0].calls]
    assert probabilities == [1.0, 0.5, 1.0]
    assert found.fidelity == 1.0


def test_a_conditioned_call_at_the_start_is_read_as_a_loop_of_two():
    program = loop(40, Do("Allreduce", 9, when=odd), Do("Sendrecv", 12), Do("Barrier", 14))

    found = detect(run(program))

    assert shape(found.items) == [1, (20, [9, (2, [12, 14])]), 999]
    assert found.fidelity < 1.0


def test_what_happens_twice_in_an_iteration_is_no_condition():
    twice = [2 * (k % 4 == 0) for k in range(40)]
    program = loop(40, Do("Send", 5), loop(twice, Do("Bcast", 6)), Do("Recv", 7))

    found = detect(run(program))

    (home,) = [each for each in found.loops if 5 in [c.caller.line for c in each.calls]]
    assert 6 not in [call.caller.line for call in home.calls]


def test_a_call_missing_in_the_first_iteration_stays_in_its_loop():
    program = loop(
        10, Do("Allreduce", 4, when=bool), Do("Send", 5), Do("Recv", 6), Do("Wait", 7)
    )

    (only,) = detect(run(program)).loops

    assert [call.probability for call in only.calls] == [0.9, 1.0, 1.0, 1.0]


def test_trip_counts_that_vary_are_given_as_their_mean():
    found = detect(run(loop(3, loop([53, 51, 50], Do("Send", 5)), Do("Allreduce", 9))))

    outer, inner = found.loops
    assert outer.iterations == 3
    assert inner.iterations == pytest.approx(154 / 3)
    assert inner.total_iterations == 154


def test_a_delayed_iteration_does_not_split_a_body():
    slow = Do("Send", 5, when=lambda k: k == 0, work_ns=40 * 200)
    program = loop(15, slow, Do("Send", 6), Do("Recv", 7), Do("Wait", 8))

    found = detect(run(program))

    assert (15, [6, 7, 8]) in shape(found.items)


def test_ranks_that_do_different_things_are_different_classes():
    program = loop(
        10, Do("Send", 5, ranks={0, 2}), Do("Recv", 6, ranks={1, 3}), Do("Barrier", 8)
    )

    found = detect(run(program, ranks=4))

    assert found.classes == ((0, 2), (1, 3))
    assert [call.ranks for call in found.loops[0].calls] == [(0, 2), (1, 3), (0, 1, 2, 3)]
    assert found.fidelity == 1.0


def test_calls_that_span_little_are_left_out_and_counted():
    program = (loop(3, Do("Bcast", 3)), loop(100, Do("Send", 5), Do("Recv", 6)))

    found = detect(run(*program))

    assert [call.caller.line for call in found.left_out] == [3]
    assert found.as_dict()["left_out"]["calls"] == 6
    assert found.coverage.calls < 1.0
    assert found.fidelity < 1.0
    assert detect(run(*program), min_share=0).fidelity == 1.0


def test_without_call_paths_operation_and_partner_take_their_place():
    found = detect(run(loop(10, Do("Send", 5), Do("Barrier", 6)), paths=False))

    assert found.callpath == "none"
    assert [call.operation for call in found.loops[0].calls] == ["MPI_Send", "MPI_Barrier"]
    assert found.fidelity == 1.0


def test_partners_at_one_distance_are_given_by_it():
    (call,) = detect(run(loop(10, Do("Send", 5)), ranks=4)).loops[0].calls

    assert call.offset == 1
    assert call.partners.ranks == (0, 1, 2, 3)
    assert call.partners.law.text == "(rank+1)%4"
    assert not call.partners.vary
    assert call.size_bytes == 40.0


def test_counters_are_given_before_a_call_and_over_an_iteration():
    program = loop(10, Do("Send", 5, work_ns=70), Do("Recv", 6, work_ns=30))

    send, recv = detect(run(program, counters=True)).loops[0].calls

    assert (send.counters, recv.counters) == ({"ins": 70.0}, {"ins": 30.0})
    assert send.iteration_counters == recv.iteration_counters == {"ins": 100.0}
    assert send.burst_ns == 70.0


def test_an_entry_of_one_iteration_lasts_until_the_next():
    sends = loop(4, Do("Send", 9, ranks={0})), Do("Send", 9, ranks={1})

    found = detect(run(loop(20, *sends, Do("Barrier", 12))), rank_merge="early")

    _, inner = found.loops
    assert inner.executions.tolist() == [80, 20]
    assert inner.mean_ns == pytest.approx((80 * 110 + 20 * 220) / 100)


def test_a_program_that_repeats_nothing_has_no_loops_and_one_without_calls_is_refused():
    found = detect(run(Do("Barrier", 5), Do("Bcast", 6)))

    assert found.loops == ()
    assert found.fidelity == 1.0
    assert found.coverage.time == 0.0
    with pytest.raises(burstline.NotEnoughDataError, match="no MPI calls"):
        detect(burstline.Trace({}))


def test_two_applications_that_call_mpi_need_a_choice():
    import by_hand

    trace = by_hand.trace_of(
        locations=[*by_hand.threads((0, 9)), *by_hand.threads((0, 9), application=1, first=1)],
        calls=by_hand.calls_of([("Init", 0, 1), ("Finalize", 5, 6)], [("Init", 0, 1)]),
    )

    with pytest.raises(burstline.ParameterError, match="`application`"):
        detect(trace)
    assert detect(trace, application=1).calls == 1


def test_calls_of_an_application_are_its_own_where_locations_alternate():
    import by_hand

    rows = [by_hand.threads((0, 99), application=k % 2, first=k)[0] for k in range(4)]
    trace = by_hand.trace_of(
        locations=[row | {"rank": k // 2} for k, row in enumerate(rows)],
        calls=by_hand.calls_of(
            *([("Init", k, 50 + k), ("Finalize", 60, 70)] for k in range(4))
        ),
    )

    assert Calls(trace, 0).enter_ns.tolist() == [0, 60, 2, 60]
    assert Calls(trace, 1).leave_ns.tolist() == [51, 70, 53, 70]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"method": "magic"}, "method 'magic'"),
        ({"eps": 0.0}, "eps"),
        ({"eps": np.nan}, "eps"),
        ({"scale": "square"}, "scale 'square'"),
        ({"min_share": 1.5}, "min_share"),
    ],
)
def test_arguments_outside_their_domain_are_refused(wrong, message):
    with pytest.raises(burstline.ParameterError, match=message):
        detect(run(loop(5, Do("Send", 5))), **wrong)
