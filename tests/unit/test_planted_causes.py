"""Programs written down with a planted cause: the first sentence names it, and no other.

What `tests/end_to_end/test_worked.py` records, as it is on a machine that nobody else uses.
"""

from __future__ import annotations

import re
from collections import Counter

import pytest

import burstline
from burstline.testing import trace_of
from burstline.timeline import timeline
from burstline.timeline.kinds import Kind
from command import burstline as burstline_command
from halo import halo
from verdicts import MS

STEPS = 40
SMOOTH, ASSEMBLE = 4, 5
PATHS = {"MPI_Barrier": 1, "MPI_Send": 2, "MPI_Recv": 3}
HEAD = """
    counter "cpu" unit "ns" mode delta
    path 0 main file worked.c line 90
    path 1 main file worked.c line 93
    path 2 main file worked.c line 94
    path 3 main file worked.c line 95
    path 4 smooth under 0 file worked.c line 33
    path 5 assemble under 0 file worked.c line 39
"""


class Lane:
    """What a rank does one after the other, ms; it works on a processor of its own."""

    def __init__(self):
        self.now = self.worked = 1
        self.events = ["0 enter MPI_Init path 0 cpu=0", f"{MS} leave cpu=0"]

    def compute(self, path, ms):
        samples = range(self.now + 2, self.now + ms + 1, 4)
        self.events += [f"{at * MS} sample path {path} periods 1" for at in samples]
        self.now += ms
        self.worked += ms

    def call(self, operation, end, what=""):
        begin, self.worked, used = self.now, 0, self.worked
        enter = f"{begin * MS} enter {operation} path {PATHS.get(operation, 0)} cpu={used * MS}"
        self.events += [enter, *filter(None, [what]), f"{end * MS} leave cpu=0"]
        self.now = end


def run(*programs):
    """The trace of ranks that do what their programs say, as generators of statements.

    A statement is a function and ms of work in it, a rank to send to, or -1 to receive from
    whoever comes first, or -2 - rank; None meets all others.
    """
    lanes = [Lane() for _ in programs]
    waiting = [next(each, "end") for each in programs]
    sent: list[tuple[int, int, int]] = []  # when, from, to

    def step(rank):
        lane, what = lanes[rank], waiting[rank]
        if isinstance(what, tuple):
            lane.compute(*what)
        elif what is None:
            if any(each is not None for each in waiting):
                return False
            end = max(each.now for each in lanes)
            for k, each in enumerate(lanes):
                collective = f"{each.now * MS} begin | {end * MS} end"
                each.call("MPI_Barrier", end, collective)
                waiting[k] = next(programs[k], "end")
            return True
        elif what >= 0:
            sent.append((lane.now, rank, what))
            lane.call("MPI_Send", lane.now, f"{lane.now * MS} send to {what} bytes 8")
        else:
            here = [each for each in sent if each[2] == rank and what in (-1, -2 - each[1])]
            if not here:
                return False
            first = min(here)
            sent.remove(first)
            end = max(lane.now, first[0])
            lane.call("MPI_Recv", end, f"{end * MS} receive from {first[1]} bytes 8")
        waiting[rank] = next(programs[rank], "end")
        return True

    while any(each != "end" for each in waiting):
        ready = (rank for rank, each in enumerate(waiting) if each != "end")
        assert any(step(rank) for rank in sorted(ready, key=lambda rank: lanes[rank].now))
    for lane in lanes:
        lane.call("MPI_Finalize", lane.now + 1)
    rows = (f"{rank} | " + " | ".join(lane.events) for rank, lane in enumerate(lanes))
    return trace_of("\n".join([f"ranks {len(lanes)}", HEAD, *rows]))


def imbalance(rank, slow=1):
    for _ in range(STEPS):
        yield SMOOTH, 20
        yield ASSEMBLE, 40 if rank == slow else 10
        yield None


def late_sender(rank):
    for _ in range(STEPS):
        yield SMOOTH, 20
        if rank == 0:
            yield ASSEMBLE, 40
        yield 1 if rank == 0 else -2


def wavefront(rank, ranks=4):
    for _ in range(STEPS):
        if rank > 0:
            yield -2 - (rank - 1)
        yield SMOOTH, 8
        if rank == 1:
            yield ASSEMBLE, 40
        if rank + 1 < ranks:
            yield rank + 1


def workers(rank, ranks=4):
    for piece in range(STEPS * (ranks - 1 if rank == 0 else 1)):
        if rank == 0:
            yield -1
            yield ASSEMBLE, 16
            yield 1 + piece % (ranks - 1)
        else:
            yield 0
            yield -2
            yield SMOOTH, 8


def threads():
    """One rank of two threads that share out iterations, of which the last ones are dear."""
    lines = [
        "ranks 1 threads 2",
        "path 0 main file worked.c line 90",
        "path 1 .omp_outlined. file worked.c line 80",
        "path 2 main file worked.c line 81",
        "path 3 main file worked.c line 99",
        "path 4 smooth under 1 file worked.c line 33",
        "path 5 assemble under 1 file worked.c line 39",
        "region loop paradigm openmp role loop type 60003 value 10",
        "region implicit_barrier paradigm openmp role implicit_barrier type 60004 value 27",
    ]
    works = [(SMOOTH, 20)], [(SMOOTH, 20), (ASSEMBLE, 40)]
    for thread, parts in enumerate(works):
        first = thread == 0
        events = [f"0 enter MPI_Init path 0 | {MS} leave"] * first
        for step in range(STEPS):
            now, end = 1 + step * 61, step * 61 + 61
            events += [f"{now * MS} fork 2"] * first
            events += [f"{now * MS} team begin 2 path 2 | {now * MS} enter loop path 1"]
            for path, ms in parts:
                samples = range(now + 2, now + ms + 1, 4)
                events += [f"{at * MS} sample path {path} periods 1" for at in samples]
                now += ms
            events += [f"{now * MS} leave | {now * MS} enter implicit_barrier"]
            events += [f"{end * MS} leave | {end * MS} team end 2"]
            calls = f"{end * MS} begin | {(end + 1) * MS} end | {(end + 1) * MS} leave"
            barrier = f"{end * MS} enter MPI_Barrier path 2 | {calls}"
            events += [f"{end * MS} join | {barrier}"] * first
        events += [
            f"{(end + 1) * MS} enter MPI_Finalize path 3 | {(end + 2) * MS} leave"
        ] * first
        lines.append(f"0{'.1' * thread} | " + " | ".join(events))
    return trace_of("\n".join(lines))


def first_sentences(trace):
    """What `info`, `waits` and a page say first of a run that may be judged."""
    found = burstline.open(trace)
    waits = found.waits()
    assert [each.name for each in found.checks(waits) if each.passed is False] == []
    told = burstline.answers.verdict_on_waits(waits, found.checks(waits))
    return found.verdict().sentences[0], told[0]


@pytest.mark.parametrize(
    ("program", "ranks", "slow"),
    [(imbalance, 2, 1), (late_sender, 2, 0), (wavefront, 4, 1), (workers, 4, 0)],
)
def test_the_first_sentence_names_function_file_line_and_rank(program, ranks, slow):
    of_run, of_waits = first_sentences(run(*map(program, range(ranks))))

    assert f"rank {slow} causes " in of_run.sentence
    assert of_waits.sentence.startswith(f"Rank {slow} causes most of the largest wait")
    for said in (of_run, of_waits):
        assert "assemble at worked.c:39" in said.sentence
        assert "smooth" not in said.sentence
        places = [fact.place.as_dict() for fact in said.facts if fact.name == "caused there"]
        planted = {"rank": slow, "function": "assemble", "file": "worked.c", "line": 39}
        assert planted in places


def test_the_first_sentence_names_the_function_of_the_slow_thread():
    of_run, of_waits = first_sentences(threads())

    for said in (of_run, of_waits):
        assert "ank 0 causes " in said.sentence
        assert "assemble at worked.c:39" in said.sentence
        assert "smooth" not in said.sentence


def test_a_timeline_names_the_function_that_samples_saw_most_in_each_piece():
    trace = run(*map(imbalance, range(2)))
    waits = burstline.wait_states(trace)
    names = [*waits.profile.call_paths["function"].to_pylist(), "nothing"]

    pieces = timeline(trace, waits).pieces.to_pylist()

    seen = Counter(
        (row["location"], names[-1 if row["function"] is None else row["function"]])
        for row in pieces
        if row["kind"] == Kind.COMPUTING
    )
    assert seen == {(0, "smooth"): STEPS, (1, "assemble"): STEPS}
    assert {row["function"] for row in pieces if row["kind"] != Kind.COMPUTING} == {None}
    bare = timeline(halo((100, 300)), burstline.wait_states(halo((100, 300)))).pieces
    assert bare["function"].null_count == bare.num_rows


def test_the_timeline_of_a_page_has_the_names_of_functions_that_samples_saw(tmp_path):
    burstline.write(run(*map(imbalance, range(2))), tmp_path / "a.store")

    done = burstline_command("report", tmp_path / "a.store", "-o", tmp_path / "a.html")

    assert done.returncode == 0, done.stderr
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "the function that samples saw most in it" in page
    assert '["assemble at worked.c:39","",""," in assemble at worked.c:39"]' in page


def test_a_table_of_bursts_has_the_function_that_samples_saw_most_in_each(tmp_path):
    trace = run(*map(imbalance, range(2)))
    burstline.write(trace, tmp_path / "a.store")
    names = ["rank", "operation_after", "function"]

    rows = burstline.burst_table(trace, columns=names).table
    stored = burstline.burst_table(burstline.read(tmp_path / "a.store"), columns=names).table

    seen = Counter(tuple(row.values()) for row in rows.to_pylist())
    assert seen == {
        (0, "MPI_Barrier", "smooth"): STEPS,
        (1, "MPI_Barrier", "assemble"): STEPS,
        (0, "MPI_Finalize", None): 1,
        (1, "MPI_Finalize", None): 1,
    }
    assert stored.to_pylist() == rows.to_pylist()
    bare = burstline.burst_table(halo((100, 300)), columns=names).table
    assert bare["function"].null_count == bare.num_rows


def test_of_a_sound_program_nobody_is_blamed():
    of_run, of_waits = first_sentences(run(*(imbalance(rank, slow=-1) for rank in range(2))))

    for said in (of_run, of_waits):
        assert not re.search(r"[Rr]ank \d+ causes", said.sentence)
