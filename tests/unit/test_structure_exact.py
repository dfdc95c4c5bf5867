"""The exact method on programs whose loops and conditions are known."""

from __future__ import annotations

import json

import numpy as np
import pytest

import burstline
from burstline.identity import sites_of
from burstline.show import output, view
from burstline.show.code_lines import pseudocode
from burstline.structure import Condition, description_length, detect, walk
from burstline.structure.calls import Calls
from burstline.structure.exact.callgraph import call_graph
from burstline.structure.exact.choice import ReadingCosts
from burstline.structure.exact.loopnest import find_nest
from burstline.testing import trace_of
from loop_programs import Do, If, Program, loop, run


def text_of(*program, ranks=2, **options):
    """Give the pseudo-code of a program, but for its initialisation and finalisation."""
    shown = {name: options.pop(name) for name in ("depth", "inside") if name in options}
    found = detect(run(*program, ranks=ranks, **options), method="exact")
    return [
        "  " * line.depth + line.text.partition("  #")[0]
        for line in pseudocode(found, **shown)
        if line.line not in {"1", "999"} or line.kind != "call"
    ]


SEND, RECV = Do("Send", 12), Do("Recv", 14)


@pytest.mark.parametrize(
    ("when", "said"),
    [
        (lambda k: k == 0, "if first iteration:"),
        (lambda k: k > 0, "if not first iteration:"),
        (lambda k: k == 19, "if last iteration:"),
        (lambda k: k < 19, "if not last iteration:"),
        (lambda k: k % 2, "if every 2nd iteration:"),
        (lambda k: k % 2 == 0, "if every 2nd iteration, from iteration 1:"),
        (lambda k: k % 3 == 2, "if every 3rd iteration:"),
        (lambda k: k % 12 == 11, "if iteration == 12:"),
        (lambda k: k in {2, 6, 7}, "if iteration in {3, 7, 8}:"),
        (lambda k: 4 <= k < 9, "if iteration in {5..9}:"),
        (lambda k: k not in {4, 8}, "if iteration not in {5, 9}:"),
        (lambda k: k in {0, 2, 3, 5, 8, 9, 13, 16}, "if in 40.0 % of the iterations:"),
    ],
)
def test_a_condition_is_said_in_few_words(when, said):
    program = loop(20, SEND, Do("Bcast", 13, when=when), RECV)

    assert said in [line.strip() for line in text_of(program)]


def test_conditions_of_which_one_holds_are_one_chain_and_one_node():
    names = ("Bcast", "Gather", "Scan", "Alltoall", "Reduce")
    axes = [
        Do(name, 13 + k, when=lambda i, k=k: i % 3 == k % 3) for k, name in enumerate(names)
    ]
    program = loop(21, SEND, *axes, Do("Recv", 19))

    lines = [line.strip() for line in text_of(program)]
    found = detect(run(program), method="exact")

    heads = [line for line in lines if line.startswith(("if", "elif", "else"))]
    assert heads[0] == "if every 3rd iteration, from iteration 1:"
    assert heads[1] == "elif every 3rd iteration, from iteration 2:"
    assert heads[2] == "else:"
    assert heads[3:] == [heads[0], "if every 3rd iteration, from iteration 2:"]
    assert found.conditions == (5, 0)
    assert found.nodes == sum(1 for _ in walk(found.items)) - 2


def test_conditions_within_a_condition_are_told_of_its_executions():
    program = loop(
        40,
        SEND,
        Do("Bcast", 13, when=lambda k: k % 2),
        Do("Gather", 14, when=lambda k: k % 4 == 1),
        Do("Scatter", 15, when=lambda k: k % 2),
        Do("Recv", 16),
    )

    found = detect(run(program), method="exact")

    outer, inner = [item for item, _ in walk(found.items) if isinstance(item, Condition)]
    assert [type(item).__name__ for item in outer.items] == ["Call", "Condition", "Call"]
    assert inner.when.values(0).tolist() == list(range(0, 20, 2))
    (steps,) = found.loops
    gather = next(call for call in steps.as_dict()["calls"] if call["line"] == 14)
    assert gather["when"] == [[1, 4, 10]]
    assert gather["probability"] == 0.25


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ([5, 5, 5, 5, 5], "for 1 to 5:"),
        ([3, 5, 4, 6], "for 1 to n, n = 3, 5, 4, 6:"),
        ([2, 3, 4, 5, 6, 7], "for 1 to n, n = 2, 3, .., 7:"),
        ([2, 7, 3, 3, 9, 4], "for 1 to 2..9 (mean 4.67):"),
    ],
)
def test_trip_counts_are_given_as_they_were(times, said):
    program = loop(len(times), loop(times, SEND), RECV)

    assert said in [line.strip() for line in text_of(program)]


def test_what_some_ranks_do_is_no_condition_on_the_iteration():
    program = loop(10, SEND, Do("Bcast", 13, ranks=[0, 2]), RECV)

    found = detect(run(program, ranks=4), method="exact")

    assert not any(isinstance(item, Condition) for item, _ in walk(found.items))
    assert found.classes == ((0, 2), (1, 3))
    assert "if rank in {0, 2}:" in [line.strip() for line in text_of(program, ranks=4)]


def test_a_loop_that_a_rank_executes_once_is_one_of_that_rank():
    sends = loop(10, Do("Send", 9, ranks={0})), Do("Send", 9, ranks={1})

    (only,) = detect(run(*sends), method="exact").loops

    assert only.ranks == (0, 1)
    assert only.iterations == 5.5


def test_deep_loops_fold():
    program = loop(10, loop(3, SEND, loop(2, RECV)), Do("Bcast", 20))

    found = detect(run(program), method="exact")

    (outer,) = [line for line in pseudocode(found, depth=0) if line.kind == "loop"]
    assert outer.text.endswith("5 nodes folded")
    assert [line.kind for line in pseudocode(found, depth=1)].count("loop") == 2
    assert [line.kind for line in pseudocode(found)].count("loop") == 3
    with pytest.raises(burstline.ParameterError, match="0 or more"):
        pseudocode(found, depth=-1)


def test_a_single_rank_and_a_single_call_have_a_structure():
    one = detect(run(loop(7, SEND), ranks=1), method="exact")
    assert [loop_.iterations for loop_ in one.loops] == [7]

    none = detect(run(ranks=1), method="exact")
    assert [item.operation for item in none.items] == ["MPI_Init", "MPI_Finalize"]


def test_places_without_lines_are_told_apart_by_their_order():
    body = (Do("Send", 4), Do("Recv", 5), Do("Send", 6), Do("Barrier", 7))

    found = detect(run(Do("Allreduce", 2), loop(50, *body), paths=False), method="exact")

    (steps,) = found.loops
    assert [call.operation for call in steps.calls] == [
        f"MPI_{step.operation}" for step in body
    ]
    assert found.unique_calls == 2 * len({"Init", "Allreduce", "Send", "Recv", "Barrier", "F"})
    assert found.fidelity == 1.0


def test_a_long_body_of_few_names_is_one_loop():
    # differences of the Thue-Morse sequence: no part of it follows itself
    names = np.diff([k.bit_count() % 2 for k in range(91)]).tolist()
    body = [Do(("Send", "Recv", "Barrier")[name], 10) for name in names]

    (only,) = detect(run(loop(6, *body), paths=False), method="exact").loops

    assert (only.iterations, len(only.calls)) == (6, 90)


def test_irregular_calls_without_lines_stay_few_nodes():
    dice = np.random.default_rng(1)
    program = [Do(("Send", "Recv", "Barrier")[k], 10) for k in dice.integers(0, 3, 400)]

    found = detect(run(*program, paths=False, ranks=1), method="exact")

    assert found.fidelity == 1.0
    assert found.nodes <= 3 * 5


def test_a_cut_trace_is_read_as_the_loops_it_was_cut_from():
    program = loop(30, Do("Bcast", 3, when=lambda k: k % 2), loop(4, SEND), RECV)
    trace = run(program)
    end = int(trace.arrays("locations", "died_ns")[0].max())

    part = burstline.select(trace, start_ns=end // 3 + 7, end_ns=2 * end // 3)
    found = detect(part, method="exact")

    steps, inner = found.loops
    assert found.fidelity == 1.0
    assert (inner.parent, [call.caller.line for call in inner.calls]) == (steps.id, [12])
    assert [call.caller.line for call in steps.calls] == [3, 14]
    assert set(inner.trips.values(0).tolist()[1:-1]) == {4}


@pytest.mark.parametrize("method", ["auto", "exact", "seed"])
@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("MPI_Init", "MPI_Finalize"),
        ("MPI_Init_thread", "MPI_Finalize"),
        ("MPI_Session_init", "MPI_Session_finalize"),
    ],
)
def test_what_starts_and_ends_mpi_is_in_no_loop_whatever_its_lines(method, first, last):
    # gfortran gives both the line on which the program begins
    body = " | ".join(
        f"{10 * k} enter MPI_Send path 2 | {10 * k + 2} leave | "
        f"{10 * k + 4} enter MPI_Recv path 3 | {10 * k + 6} leave"
        for k in range(1, 6)
    )
    lines = " | ".join(
        f"path {k} main file a.f90 line {at}" for k, at in enumerate((1, 9, 20, 22))
    )
    trace = trace_of(
        f"ranks 1 | {lines} | 0 | 0 enter {first} path 0 | 1 leave | "
        f"3 enter MPI_Comm_rank path 1 | 4 leave | {body} | 90 enter {last} path 0 | 91 leave"
    )

    found = detect(trace, method=method, min_share=0)

    assert [call.operation for call in found.outside] == [first, "MPI_Comm_rank", last]
    assert [len(each.calls) for each in found.loops] == [2]
    assert found.items[-1].operation == last
    assert found.fidelity == 1


def test_calls_against_the_order_of_their_lines_are_in_a_loop():
    sweep = loop(2, Do("Recv", 68, when=lambda k: k), Do("Isend", 344, when=lambda k: not k))

    found = detect(run(loop(9, sweep, Do("Barrier", 400))), method="exact")

    steps, stages = found.loops
    assert (stages.parent, stages.iterations) == (steps.id, 2)
    assert [call.caller.line for call in stages.calls] == [68, 344]


@pytest.mark.parametrize("times", [(2, 2), (5, 4)])
def test_a_nest_of_one_rank_stays_a_nest_behind_a_call_of_a_later_line(times):
    steps, each = times
    nest = loop(steps, Do("Send", 2, ranks={1}), loop(each, Do("Recv", 3, ranks={1})))

    outer, inner = detect(run(Do("Send", 58), nest), method="exact").loops

    assert (inner.parent, [call.caller.line for call in inner.calls]) == (outer.id, [3])


def test_a_loop_left_in_the_middle_keeps_one_body():
    program = loop(12, Do("Send", 3), Do("Recv", 4, when=lambda k: k < 11))

    found = detect(run(program), method="exact")

    (steps,) = found.loops
    (condition,) = [item for item, _ in walk(found.items) if isinstance(item, Condition)]
    assert steps.iterations == 12
    assert condition.when.values(0).tolist() == list(range(11))


REDUCE, SYNC, SWAP = Do("Allreduce", 10), Do("Barrier", 12), Do("Sendrecv", 16)


@pytest.mark.parametrize(
    ("tail", "said"),
    [
        (
            [If(lambda k: k > 0, (loop(3, SWAP),))],
            ["  if not first iteration:", "    for 1 to 3:", "      MPI_Sendrecv()"],
        ),
        (
            [If(lambda k: k > 1, (loop(3, SWAP),))],
            ["  if iteration in {3..14}:", "    for 1 to 3:", "      MPI_Sendrecv()"],
        ),
        (
            [loop(int, SWAP)],
            [
                "  if not first iteration:",
                "    for 1 to n, n = 1, 2, .., 13:",
                "      MPI_Sendrecv()",
            ],
        ),
        (
            [Do("Bcast", 14, when=lambda k: k % 3 == 2), loop(2, SWAP)],
            [
                "  if every 3rd iteration:",
                "    MPI_Bcast()",
                "  for 1 to 2:",
                "    MPI_Sendrecv()",
            ],
        ),
        (
            [loop(2, SWAP), Do("Bcast", 18, when=lambda k: k in {2, 3, 7, 10})],
            [
                "  for 1 to 2:",
                "    MPI_Sendrecv()",
                "  if iteration in {3, 4, 8, 11}:",
                "    MPI_Bcast()",
            ],
        ),
    ],
    ids=["from the 2nd", "from the 3rd", "growing", "behind a call", "before a call"],
)
def test_an_inner_loop_at_the_end_of_a_step_is_read_as_written(tail, said):
    assert text_of(loop(14, REDUCE, SYNC, *tail)) == [
        "for 1 to 14:",
        "  MPI_Allreduce()",
        "  MPI_Barrier()",
        *said,
    ]


def test_entries_are_told_by_counting_where_nothing_stands_between_them():
    inner = loop(9, Do("Bcast", 12), Do("Recv", 14, when=lambda k: k % 4 == 3))
    program = loop(8, inner, Do("Barrier", 20, when=lambda k: k % 3 == 1))

    assert text_of(program) == [
        "for 1 to 8:",
        "  for 1 to 9:",
        "    MPI_Bcast()",
        "    if every 4th iteration:",
        "      MPI_Recv()",
        "  if every 3rd iteration, from iteration 2:",
        "    MPI_Barrier()",
    ]


def test_iterations_are_parted_that_run_on_into_each_other():
    # on rank 1, the third iteration ends with 14 and the fourth begins with 16
    program = loop(
        5,
        Do("Bcast", 10, when=lambda k: k in {0, 2}),
        Do("Recv", 11, when=lambda k: k in {2, 3}, ranks=(0, 2)),
        Do("Bcast", 14, when=lambda k: k not in {0, 3}),
        Do("Barrier", 16, when=lambda k: k in {0, 3}),
    )

    assert text_of(program, ranks=3) == [
        "for 1 to 5:",
        "  if iteration in {1, 3}:",
        "    MPI_Bcast()",
        "  if rank in {0, 2}:",
        "    if iteration in {3, 4}:",
        "      MPI_Recv()",
        "  if iteration not in {1, 4}:",
        "    MPI_Bcast()",
        "  else:",
        "    MPI_Barrier()",
    ]


def test_a_loop_of_one_iteration_is_none():
    found = detect(Program(2033).trace(), method="exact")

    loops = [loop for loop in found.loops if (loop.executions == loop.entered).all()]
    assert loops == []


def test_iterations_are_those_of_the_program():
    program = loop(6, loop([2, 3, 2, 4, 2, 2], SEND), RECV)
    trace = run(program)
    found = detect(trace, method="exact")

    outer, inner = found.iterations(1), found.iterations(2)

    own = inner.lane == 0
    assert np.bincount(inner.entry[own]).tolist() == [2, 3, 2, 4, 2, 2]
    assert outer.iteration[outer.lane == 1].tolist() == list(range(6))
    lines = trace.call_paths["line"].to_numpy()[trace.arrays("calls", "call_path")[0]]
    assert set(lines[inner.first].tolist()) == {12}
    assert set(lines[outer.last].tolist()) == {14}
    assert (inner.end_ns[own][:-1] <= inner.start_ns[own][1:]).all()
    with pytest.raises(burstline.ParameterError, match="no loop 3"):
        found.iterations(3)


def test_auto_takes_the_published_result_only_if_it_is_true():
    regular = run(loop(20, loop(8, SEND), RECV))
    conditioned = run(loop(40, Do("Bcast", 3, when=lambda k: k % 2), SEND, RECV))

    assert detect(regular, method="seed").nodes == detect(regular).nodes
    assert detect(regular).method == "exact"
    assert detect(conditioned).method == "exact"
    assert detect(conditioned, method="seed").fidelity < 0.999


FEW = {101, 1937, 2222}


@pytest.mark.parametrize(
    "program",
    [
        loop(20, SEND, Do("Bcast", 13, when=lambda k: k % 2), RECV),
        loop(4000, SEND, Do("Bcast", 13, when=lambda k: k not in FEW), RECV),
        loop(4000, loop(lambda k: 3 + (k in FEW), SEND), RECV),
        loop(4000, SEND, Do("Bcast", 13, when=lambda k: k < 3), RECV),
    ],
    ids=["half", "nearly always", "trips", "left out"],
)
def test_auto_takes_no_shorter_program_that_explains_less(program):
    trace = run(program)

    seed, exact = (detect(trace, method=method) for method in ("seed", "exact"))

    assert seed.fidelity >= 0.999
    assert description_length(seed.items) < description_length(exact.items)
    assert detect(trace).method == "exact"


def test_auto_takes_the_shorter_of_programs_that_explain_as_much():
    exceptions = {number * number + 5 for number in range(9, 17)}
    trace = run(loop(8000, SEND, Do("Bcast", 13, when=lambda k: k not in exceptions), RECV))

    seed, exact = (detect(trace, method=method) for method in ("seed", "exact"))

    assert seed.fidelity >= 0.999
    assert seed.conditions.unexplained == exact.conditions.unexplained == 1
    assert detect(trace).method == "seed"


def wrong_lines(times):
    """A loop whose body is in the order given: inlining gave its calls lines of others."""
    return loop(
        times,
        Do("Irecv", 52),
        Do("Irecv", 31),
        Do("Send", 53, when=lambda k: k == 0),
        Do("Send", 55, when=lambda k: k == 0),
        Do("Bsend", 31, when=lambda k: k == 1),
        Do("Bsend", 43, when=lambda k: k == 2),
        Do("Wait", 33),
        Do("Wait", 31),
    )


def test_lines_that_are_wrong_after_inlining_make_no_conditions():
    text = text_of(loop(4, Do("Barrier", 60), wrong_lines(3), Do("Allreduce", 70)))

    heads = [line.strip() for line in text if line.endswith(":")]
    assert heads[:2] == ["for 1 to 4:", "for 1 to 3:"]
    assert set(heads[2:]) == {"if iteration == 2:", "elif first iteration:", "else:"}
    calls = [line.strip().partition("(")[0] for line in text if "MPI_" in line]
    assert calls[1:3] == ["MPI_Irecv"] * 2
    assert calls[-3:] == ["MPI_Wait", "MPI_Wait", "MPI_Allreduce"]


def test_lines_are_believed_where_all_conditions_follow_a_rule():
    # two stages of a sweep: what is received on an earlier line comes second
    receive, send = Do("Recv", 10, when=lambda k: k > 0), Do("Send", 12, when=lambda k: k < 1)

    assert text_of(loop(20, loop(2, receive, send), Do("Barrier", 14)))[:2] == [
        "for 1 to 20:",
        "  for 1 to 2:",
    ]


def sweeps(steps, ranks):
    """Time steps of two sweeps over planes, from the first rank to the last and back."""
    lower, upper = range(1, ranks), range(ranks - 1)
    others = ("Bcast", "Gather", "Scatter") * 2
    return loop(
        steps,
        Do("Sendrecv", 10),
        loop(6, Do("Recv", 20, ranks=lower), Do("Send", 21, ranks=upper)),
        loop(6, Do("Recv", 30, ranks=upper), Do("Send", 31, ranks=lower)),
        *(Do(operation, 40 + k) for k, operation in enumerate(others)),
        Do("Allreduce", 50, when=lambda k: k == steps - 1),
    )


def test_the_time_step_is_found_without_call_paths():
    found = detect(run(sweeps(300, 4), ranks=4, paths=False))

    steps = [loop for loop in found.loops if loop.parent is None]
    assert {rank for loop in steps for rank in loop.ranks} == {0, 1, 2, 3}
    assert {loop.iterations for loop in steps} == {300}
    assert found.conditions == (0, 0)


def test_ranks_that_differ_in_a_call_and_in_partners_are_read_as_one_program():
    told = ["ranks 3"]
    for rank, peer in enumerate([1, 0, 1]):
        told.append(f"{rank}")
        for k in range(9):
            told.append(f"{20 * k} enter MPI_Send peer {peer} | {20 * k + 5} leave")
            told.append(f"{20 * k + 10} enter MPI_Barrier | {20 * k + 15} leave")
        if rank:
            told.append("200 enter MPI_Allreduce | 205 leave")
    found = detect(trace_of(" | ".join(told)), method="exact")

    assert [(loop.iterations, len(loop.calls)) for loop in found.loops] == [(9, 2)]
    assert found.fidelity == 1.0


def test_partners_tell_what_is_repeated_and_do_not_part_ranks():
    # each rank exchanges with two others, in the same order: one program for all
    exchange = "{t} enter MPI_Sendrecv peer {peer} | {end} leave"
    told = []
    for rank in range(8):
        told.append(f"{rank}")
        for k in range(60):
            peer = rank ^ (1 + k % 3)
            told.append(exchange.format(t=10 * k, end=10 * k + 5, peer=peer))
    found = detect(trace_of(" | ".join(["ranks 8", *told])))

    assert [(loop.iterations, len(loop.calls)) for loop in found.loops] == [(20, 3)]
    assert found.classes == (tuple(range(8)),)


def test_what_the_order_of_calls_does_not_tell_is_said(capsys):
    dice = np.random.default_rng(5)
    steps = [Do(("Send", "Recv", "Barrier")[k], 12) for k in dice.integers(0, 3, 200)]

    output(view(detect(run(*steps, paths=False))), "table")
    unclear = capsys.readouterr().out
    output(view(detect(run(sweeps(9, 4), paths=False))), "table")

    assert "this is no reading of the program" in unclear
    assert "this is no reading" not in capsys.readouterr().out


def test_conditions_are_counted_by_whether_they_follow_a_rule():
    some = {0, 2, 3, 5, 8, 9, 13, 16}
    bcast = Do("Bcast", 13, when=lambda k: k in some)
    gather = Do("Gather", 15, when=lambda k: k % 4 == 0)
    program = loop(20, SEND, bcast, RECV, gather, Do("Barrier", 16))
    found = detect(run(program), method="exact")

    assert found.conditions == (1, 1)
    assert found.as_dict()["conditions"] == {"explained": 1, "unexplained": 1}


def test_the_whole_program_is_in_json_as_a_tree():
    program = loop(10, SEND, Do("Bcast", 13, when=lambda k: k > 3), RECV)

    document = detect(run(program), method="exact").as_dict()

    kinds = [node["kind"] for node in document["program"]]
    assert kinds == ["call", "loop", "call"]
    steps = document["program"][1]
    assert (steps["trips"], steps["when"]) == ([[10, 0, 1]], [[0, 0, 1]])
    condition = steps["items"][1]
    assert (condition["kind"], condition["when"]) == ("condition", [[4, 1, 6]])
    assert [node["line"] for node in condition["items"]] == [13]


def test_the_search_ends_on_graphs_that_no_program_has():
    dice = np.random.default_rng(3)
    program = [Do("Send", int(line)) for line in dice.integers(2, 120, 6000)]
    calls = Calls(run(*program, ranks=1), None)
    trace = run(*program, ranks=1)
    sites = sites_of(trace, calls.row, calls.world_size)

    judge = ReadingCosts.of(sites, calls.lane_begin)
    program = find_nest(call_graph(sites, calls.lane_begin), judge)

    assert sorted(sites_in(program)) == list(range(len(sites)))


@pytest.mark.parametrize("depth", [40, 300])
def test_loops_in_loops_of_any_depth_are_read_and_printed(depth):
    inwards = [Do("Send", 10 + k) for k in range(depth)]
    outwards = [Do("Recv", 10 + 2 * depth - k) for k in range(depth)]
    program = list(inwards)  # and each loop turns once more, without those in it
    for first, last in zip(reversed(inwards), reversed(outwards), strict=True):
        program += [last, first, last]

    found = detect(run(*program, ranks=1), method="exact")
    lines = [line for line in pseudocode(found) if line.kind == "loop"]

    assert len(lines) == max(loop.id for loop in found.loops)
    assert len(lines) == 40 if depth == 40 else 64 <= len(lines) <= 66
    assert found.fidelity == 1.0
    assert json.loads(json.dumps(found.as_dict()))["fidelity"] == 1.0


def sites_in(body):
    for element in body.elements:
        yield from [element] if isinstance(element, int) else sites_in(element)


def test_a_regular_nest_is_preferred_to_fewer_nodes_that_are_irregular():
    inner = loop(7, Do("Send", 3), Do("Recv", 4))
    other = loop(5, Do("Send", 6), Do("Recv", 7), Do("Barrier", 8))
    program = (Do("Allreduce", 2), loop(10, inner, Do("Allreduce", 5), other), Do("Barrier", 9))

    found = detect(run(*program, paths=False), method="exact")

    steps, first, second = found.loops
    trips = [entry.trips.values(0).tolist() for entry in (steps, first, second)]
    assert trips == [[10], [7] * 10, [5] * 10]
    assert (first.parent, second.parent) == (steps.id, steps.id)


def sends(*lines, times=6):
    return [loop(times, Do("Sendrecv", line)) for line in lines]


@pytest.mark.parametrize("method", ["seed", "exact"])
@pytest.mark.parametrize(
    "program",
    [
        [loop(20, *sends(11, 16), Do("Allreduce", 26))],
        [loop(20, *sends(11, 16, 21), Do("Allreduce", 26))],
        [loop(20, *sends(11, 16))],
        [loop(20, *sends(11, 16, 21))],
    ],
    ids=["two", "three", "two, hidden superloop", "three, hidden superloop"],
)
def test_aliased_loops_in_a_superloop_are_told_apart(program, method):
    found = detect(run(*program, ranks=4), method=method)

    (outer,) = [each for each in found.loops if each.parent is None]
    inner = [each for each in found.loops if each.parent == outer.id]
    lines = [step.body[0].line for step in program[0].body if hasattr(step, "body")]
    assert outer.iterations == 20
    assert [(each.iterations, each.calls[0].caller.line) for each in inner] == [
        (6, line) for line in lines
    ]
    assert found.fidelity == 1.0


def test_a_loop_that_makes_the_same_calls_again_is_in_one_that_nothing_else_shows():
    # the last iteration of an entry and the first of the next make calls of different lines
    inner = loop(
        lambda turn: 3 + turn.rank,
        Do("Allreduce", 12, when=lambda k: k not in {0, 3}),
        Do("Irecv", 13, when=lambda k: k in {0, 3, 5}),
    )

    assert text_of(loop(6, inner), ranks=3) == [
        "for 1 to 6:",
        "  for 1 to 3..5 (by rank):",
        "    if iteration not in {1, 4}:",
        "      MPI_Allreduce()",
        "    else:",
        "      MPI_Irecv()",
    ]


def test_entries_that_grow_begin_small_again_in_a_loop_that_nothing_else_shows():
    inner = loop(
        lambda turn: 3 + turn, Do("Bcast", 10, when=lambda k: k % 4 == 3), Do("Barrier", 13)
    )

    assert text_of(loop(8, loop(9, inner))) == [
        "for 1 to 8:",
        "  for 1 to 9:",
        "    for 1 to 3..11 (mean 7.00):",
        "      if every 4th iteration:",
        "        MPI_Bcast()",
        "      MPI_Barrier()",
    ]


def test_entries_within_entries_that_nothing_shows_are_both_kept():
    # six passes of 3 to 5 iterations, in some of the 4 to 6 of a loop that is repeated, too
    passes = loop(
        6,
        loop(
            lambda turn: 3 + turn.rank,
            Do("Allreduce", 12, when=lambda k: k not in {0, 3}),
            Do("Irecv", 13, when=lambda k: k in {0, 3, 5}),
        ),
    )
    some = loop(
        lambda turn: 4 + turn.rank,
        Do("Send", 9, when=lambda k: k not in {0, 3}),
        If(lambda k: k in {0, 3, 5}, (passes,)),
    )

    found = detect(run(loop(4, some), ranks=3), method="exact")

    assert found.fidelity == 1
    assert found.conditions.unexplained == 0
    assert text_of(loop(4, some), ranks=3)[-5:] == [
        "      for 1 to 3..5 (by rank):",
        "        if iteration not in {1, 4}:",
        "          MPI_Allreduce()",
        "        else:",
        "          MPI_Irecv()",
    ]


def test_iterations_are_parted_where_that_makes_trip_counts_alike():
    # rank 3 alone shows where a step begins, and nothing where the second pass does
    pack = loop(lambda turn: 7 + turn.rank, Do("Isend", 19), Do("Send", 20))
    passes = loop(
        2,
        Do("Recv", 17, when=lambda k: k == 1),
        Do("Irecv", 18, when=lambda k: k == 0, ranks=(1,)),
        If(lambda k: k == 0, (pack,)),
    )

    assert text_of(loop(6, Do("Barrier", 14, ranks=(3,)), passes), ranks=4) == [
        "for 1 to 6:",
        "  if rank == 3:",
        "    MPI_Barrier()",
        "  for 1 to 2:",
        "    if not first iteration:",
        "      MPI_Recv()",
        "    else:",
        "      if rank == 1:",
        "        MPI_Irecv()",
        "      for 1 to 7..10 (by rank):",
        "        MPI_Isend()",
        "        MPI_Send((rank+1)%4)",
    ]


@pytest.mark.parametrize(
    ("is_made", "rule"),
    [
        (lambda turn: turn != 2, "iteration not in {3}"),
        (lambda turn: turn == turn.total - 1, "last iteration"),
    ],
    ids=["from the begin", "from the end"],
)
def test_an_inner_loop_that_no_call_shows_is_as_long_as_makes_its_lanes_alike(is_made, rule):
    # a period of 2 on ranks 0 and 1 and of 3 on rank 2 repeats as much, on each rank alone
    inner = loop(
        lambda turn: 1 + turn.rank,
        Do("Wait", 15, when=is_made, ranks=(1, 2)),
        Do("Isend", 16),
    )

    found = detect(run(loop(6, inner), ranks=3))

    texts = [line.text.partition("  #")[0] for line in pseudocode(found)]
    assert texts[1:-1] == [
        "for 1 to 6:",
        "for 1 to 1..3 (by rank):",
        "if rank in {1, 2}:",
        f"if {rule}:",
        "MPI_Wait()",
        "MPI_Isend()",
    ]
