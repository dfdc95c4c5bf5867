"""Pseudo-code says each thing once, in the order of the program."""

from __future__ import annotations

import pytest

import burstline
import by_hand
from burstline.selection import select
from burstline.show import output, view
from burstline.show.code_lines import chosen_counter, counter_value, pseudocode
from burstline.structure import detect
from burstline.testing import trace_of
from loop_programs import Do, loop, run


def written(trace, method="auto", **options):
    found = detect(trace, method=method)
    return ["  " * line.depth + line.text for line in pseudocode(found, **options)]


def test_a_condition_of_the_data_is_a_share_of_iterations_to_the_published_method():
    program = loop(8, Do("Send", 5), Do("Bcast", 6, when=lambda k: k % 2), Do("Recv", 7))

    assert "  MPI_Bcast()  # in 50.0 %" in written(run(program), "seed")


@pytest.mark.parametrize(
    ("branches", "said"),
    [
        (["Bcast path 2", "Gather path 1"], ["if", "else:"]),
        (["Bcast path 2", "Gather path 1", "Scan path 2"], ["if", "elif", "else:"]),
    ],
)
def test_the_branches_of_a_chain_stand_at_one_depth(branches, said):
    # the first is called from a function, another from where that is called
    paths = ["path 0 main file a.c line 3", "path 1 solve file b.c line 7 under 0"]
    paths += ["path 2 backward file b.c line 9 under 1"]
    calls = ["Barrier path 0"]
    for k in range(24):
        calls += ["Send path 1", branches[k % len(branches)]]
    told = [f"{9 * k} enter MPI_{call} | {9 * k + 5} leave" for k, call in enumerate(calls)]
    trace = trace_of(" | ".join(["ranks 1", *paths, "0", *told]))

    text = ["  " * line.depth + line.text for line in pseudocode(detect(trace, method="exact"))]

    heads = [line for line in text if line.strip().startswith(("if", "el"))]
    assert [line.split()[0] for line in heads] == said
    assert len({len(line) - len(line.lstrip()) for line in heads}) == 1


def chain(*frames):
    """Give rows of `call_paths` for chains written as `main:3 f:5`, and the id of each end."""
    rows, ends, known = [], [], {}
    for text in frames:
        parent, above = None, ()
        for step in text.split():
            function, line = step.split(":")
            above = (*above, step)
            if above not in known:
                known[above] = len(rows)
                row = {"call_path": len(rows), "parent": parent, "function": function}
                rows.append(row | {"file": f"{function}.c", "line": int(line)})
            parent = known[above]
        ends.append(parent)
    return rows, ends


def trace_of_paths(*texts, repeat=5):
    """Give a trace of one rank that goes through call paths, again and again."""
    paths, ends = chain(*texts)
    calls = by_hand.calls_of([("Send", 10 * k, 10 * k + 1) for k in range(repeat * len(ends))])
    for k, call in enumerate(calls):
        call["call_path"] = ends[k % len(ends)]
    return by_hand.trace_of(locations=by_hand.threads((0, 1000)), calls=calls, call_paths=paths)


def test_labels_are_shown_and_not_obeyed_and_a_misread_run_is_called_misread(capsys):
    trace = trace_of_paths("main:1 [red]evil\x1b[31m:2", "main:1 [red]evil\x1b[31m:3")
    output(view(detect(trace)), "table")
    shown = capsys.readouterr().out
    assert "[red]evil" in shown
    assert "\x1b" not in shown

    steps = [Do("Send", 5 + k * k % 7) for k in range(40)]
    output(view(detect(run(*steps), method="seed")), "table")
    assert "misread" in capsys.readouterr().out


def test_unknown_counters_and_ranks_are_refused_with_the_known_ones():
    structure = detect(run(loop(5, Do("Send", 5)), counters=True))

    with pytest.raises(burstline.ParameterError, match="there are ins"):
        chosen_counter(structure, "cyc")
    assert chosen_counter(structure, None) is None
    assert counter_value({"instructions": 300.0, "cycles": 100.0}, "IPC") == 3
    with pytest.raises(burstline.ParameterError, match="there are 0, 1"):
        pseudocode(structure, ranks=[7])


def of_different_lengths(ranks=3, times=8):
    """Give a loop in which rank r computes 10 (r + 1) ns and is in MPI_Send for r + 1 ns."""
    told = ["path 0 main file a.c line 3", "path 1 main file a.c line 4", "counter ins"]
    for rank in range(ranks):
        told.append(f"{rank}")
        now = 0
        for _ in range(times):
            for path, name in enumerate(("Send", "Recv")):
                now += 10 * (rank + 1)
                told.append(
                    f"{now} enter MPI_{name} path {path} sent {rank + 1} ins={7 * rank}"
                )
                now += rank + 1
                told.append(f"{now} leave ins=0")
    return trace_of(f"ranks {ranks} | " + " | ".join(told))


@pytest.mark.parametrize("method", ["exact", "seed"])
@pytest.mark.parametrize("ranks", [{0}, {1, 2}])
def test_what_some_ranks_execute_is_measured_on_these_alone(method, ranks):
    trace = of_different_lengths()
    alone = detect(select(trace, ranks=sorted(ranks)), method=method)

    shown = pseudocode(detect(trace, method=method), ranks=ranks, bursts_ns=1, counter="ins")

    def measured(lines):
        columns = [(line.kind, line.time_ns, line.size_bytes, line.counter) for line in lines]
        return [row for row in columns if row[0] != "loop"]

    assert measured(shown) == measured(pseudocode(alone, bursts_ns=1, counter="ins"))
    (loop_line,) = [line for line in shown if line.kind == "loop"]
    (expected,) = alone.loops
    assert loop_line.time_ns == pytest.approx(expected.mean_ns)


@pytest.mark.parametrize("method", ["exact", "seed"])
def test_loops_cover_what_their_shares_say(method):
    found = detect(of_different_lengths(), method=method)

    assert found.coverage.time == pytest.approx(sum(loop.share for loop in found.loops))


def test_a_counter_stands_where_it_was_counted_with_its_unit(capsys):
    told = ["counter cpu unit ns", "path 0 main file a.c line 3", "0"]
    for k in range(6):
        told += [f"{2_000 * k + 1_500} enter MPI_Send path 0 cpu=1200"]
        told += [f"{2_000 * k + 1_600} leave cpu=0"]
    structure = detect(trace_of("ranks 1 | " + " | ".join(told)))

    lines = pseudocode(structure, counter="cpu", bursts_ns=1)
    output(view(structure), "table")

    counted = [(line.kind, line.counter) for line in lines if line.kind != "loop"]
    assert counted == [("burst", 1200.0), ("call", None)]
    printed = capsys.readouterr().out
    assert "E(cpu)" in printed  # what our recorder reads by default
    assert "1.20 µs" in printed
    assert "of the computation just before a call" in printed
