"""Programs that are counted, timed where a plan says, and ended early, for every MPI."""

from __future__ import annotations

import os
import secrets
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from experiments.signature.ending import FORTRAN, PENDING, STEP

import burstline
from burstline.errors import InconsistentTraceError, NotEnoughDataError
from burstline.model import COLLECTIVES, COUNTED
from burstline.record import Plan, RankPlan, State, signed_run
from burstline.signature import events_of
from recording import patient, wait_until
from signed import PROGRAMS, hashes, rank_plan, ring_plan, token

SENDS = {f"MPI_{letter}send" for letter in ("", "I", "B", "Ib", "S", "Is", "R", "Ir")} | {
    "MPI_Send"
}
ALONE = ["MPI_Barrier"] * 40
BARRIERS = Plan((rank_plan(ALONE, 1, 20),) * 2, full=False)
COUNT_ONLY = Plan((), full=False)


def processes(name):
    """Give the processes whose command line has a name."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if name in words:
            found.append(words)
    return found


def compiled(site, compiler, source, name):
    return site.compile(compiler, "-w", PROGRAMS / source, *patient(), name=name)


@pytest.fixture
def site(request, monkeypatch):
    """The folder of an MPI, in which this process stands, too."""
    place = request.getfixturevalue(request.cls.PLACE)
    for name, value in place.settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(place.folder)
    return place


class Runs:
    """Laws of ending.c, ending.f90 and signed.c."""

    PLACE = ""

    @pytest.fixture
    def name(self):
        """A name of the program that no other process has."""
        return f"signed-{secrets.token_hex(6)}"

    @pytest.fixture
    def run(self, site, name, tmp_path):
        def run(plan, *words, ranks=2, patience_s=60, **options):
            with (tmp_path / "printed").open("wb") as file:
                options |= {"patience_s": patience_s, "stdout": file}
                try:
                    return signed_run(plan, [*site.ranks(ranks), *words], **options)
                finally:
                    assert processes(name) == []
                    assert not list(tmp_path.glob(".signature-*"))

        return run

    @pytest.fixture
    def ending(self, site, name):
        return compiled(site, "mpicc", "ending.c", name)

    @pytest.fixture
    def signed(self, site, name):
        return compiled(site, "mpicc", "signed.c", name)

    def check_cut(self, measured, plan, folder):
        assert (measured.code, measured.left) == (0, 0)
        assert [rank.rank for rank in measured.ranks] == [0, 1]
        for rank, expected in zip(measured.ranks, plan.ranks, strict=True):
            assert rank.state is State.CUT
            assert rank.counts == expected.counts
            assert rank.count == expected.cut
            assert rank.init_ns <= rank.ns[0] <= rank.ns[1] <= rank.ns[2] == rank.cut_ns
            assert rank.finalize_ns == 0
        printed = (folder / "printed").read_text()
        for number in range(2):
            assert f"rank {number} begins" in printed
            assert (folder / f"kept.{number}").read_text() == f"rank {number} begins\n"
        assert "ends" not in printed

    @pytest.mark.parametrize("pending", PENDING)
    def test_it_ends_at_its_cut_whatever_is_pending(self, run, ending, tmp_path, pending):
        plan = ring_plan(PENDING[pending])

        self.check_cut(run(plan, ending, pending, "kept"), plan, tmp_path)

    def test_it_ends_five_times_in_a_row(self, run, ending, tmp_path):
        plan = ring_plan(PENDING["all"])
        for _ in range(5):
            self.check_cut(run(plan, ending, "all", "kept"), plan, tmp_path)

    @pytest.mark.usefixtures("gfortran")
    def test_units_of_fortran_are_flushed(self, run, site, name, tmp_path):
        program = compiled(site, "mpif90", "ending.f90", name)
        plan = ring_plan(FORTRAN)

        self.check_cut(run(plan, program, "kept"), plan, tmp_path)

    @pytest.mark.parametrize("source", ["buffered.cpp", "unbuffered.cpp"])
    def test_what_streams_of_cpp_buffer_is_flushed(self, run, site, name, tmp_path, source):
        program = compiled(site, "mpicxx", source, name)

        assert run(BARRIERS, program).code == 0
        assert (tmp_path / "printed").read_text().count("kept") == 2

    def test_a_program_alone_needs_no_launcher(self, site, ending, tmp_path):  # noqa: ARG002 -- its folder
        plan = ring_plan([], ranks=1)

        measured = signed_run(plan, [ending, "nothing", "kept"], patience_s=60)

        assert (measured.code, measured.left, len(measured.ranks)) == (0, 0, 1)
        assert (tmp_path / "kept.0").read_text() == "rank 0 begins\n"

    def test_a_program_without_a_cut_runs_to_its_end(self, run, signed):
        plan = Plan((rank_plan(ALONE, 2, 10, cuts=False),) * 2, full=False)

        measured = run(plan, signed)

        assert measured.code == 0
        for rank in measured.ranks:
            assert (rank.state, rank.counts, rank.count) == (State.FINALIZING, (2, 10), 10)
            assert rank.ns[1] <= rank.finalize_ns
            assert rank.hash == hashes([token("MPI_Barrier")] * 10)[-1]

    def test_counts_and_hashes_are_those_of_a_trace(self, run, site, signed):
        code, _, said = site.record("-o", "mixed.store", "--", *site.ranks(3), signed, "mixed")
        assert code == 0, said
        trace = burstline.read(site.folder / "mixed.store")
        expected, events = tokens_of(trace), events_of(trace)

        full = run(Plan((), full=True), signed, "mixed", ranks=3)
        plain = run(COUNT_ONLY, signed, "mixed", ranks=3)

        assert [rank.count for rank in full.ranks] == [len(tokens) for tokens in expected]
        assert [rank.hash for rank in full.ranks] == [hashes(tokens)[-1] for tokens in expected]
        assert events.full
        assert [rank.hash for rank in full.ranks] == [events.hashes(i)[-1] for i in range(3)]
        assert [rank.hash for rank in plain.ranks] == [
            hashes([word >> 48 << 48 for word in tokens])[-1] for tokens in expected
        ]

    def test_another_program_is_refused_at_the_first_boundary_that_tells(self, run, ending):
        wrong = [*STEP * 9, "MPI_Recv", *STEP[1:], *STEP * 10]
        plan = Plan((ring_plan([]).ranks[0], rank_plan(wrong, 20, 40, 80)), full=False)

        with pytest.raises(InconsistentTraceError, match="rank 1 makes other calls") as refused:
            run(plan, ending, "nothing", "kept")

        text = str(refused.value)
        assert "boundary 2 of 3, after 40 counted calls" in text
        assert "they agreed up to call 20" in text

    def test_a_rank_that_does_not_come_is_named_with_its_call(self, run, signed):
        rank = rank_plan(ALONE, 1, 15)

        with pytest.raises(NotEnoughDataError, match="after 4 s") as refused:
            run(Plan((rank, rank), full=False), signed, "stuck", patience_s=4)

        text = str(refused.value)
        assert "rank 1 was in MPI_Recv, after 5 of 15 counted calls" in text
        assert "rank 0 waited at its cut for the others, after 15 of 15" in text

    def test_a_program_that_ends_before_its_cut_is_refused(self, run, signed):
        plans = (rank_plan(ALONE, 1, 5), rank_plan(ALONE, 1, 15))

        with pytest.raises(InconsistentTraceError) as refused:
            run(Plan(plans, full=False), signed)

        text = "rank 1 came to MPI_Finalize after 10 counted calls, and the signature has "
        assert text + "boundaries up to call 15" in str(refused.value)

    def test_a_program_that_fails_before_its_cut_is_refused(self, run, signed):
        plan = Plan((rank_plan(ALONE, 1, 15),) * 2, full=False)

        with pytest.raises((NotEnoughDataError, InconsistentTraceError)) as refused:
            run(plan, signed, "fails")

        assert "10 of 15" in str(refused.value) or "after 10 counted" in str(refused.value)

    @pytest.mark.parametrize("ranks", [1, 3])
    def test_another_number_of_ranks_is_refused(self, run, signed, ranks):
        plan = Plan((rank_plan(ALONE, 1, 5),) * 2, full=False)

        said = f"ran with {ranks} ranks?, .* is of 2"
        with pytest.raises(InconsistentTraceError, match=said):
            run(plan, signed, ranks=ranks)

    @pytest.mark.parametrize(
        ("words", "ranks", "said"),
        [
            ("threads", 2, "MPI_THREAD_MULTIPLE"),
            ("spawn", 1, "spawned"),
            (": -n 1 {signed}", 2, "several programs"),
        ],
    )
    def test_what_has_no_calls_in_an_order_of_ranks_is_refused(
        self, run, signed, words, ranks, said
    ):
        with pytest.raises(NotEnoughDataError, match=said):
            run(COUNT_ONLY, signed, *words.format(signed=signed).split(), ranks=ranks)

    def test_a_program_without_mpi_is_refused(self, run, site):
        with pytest.raises(NotEnoughDataError, match="does not call MPI"):
            run(COUNT_ONLY, "true", mpi="openmpi" if "openmpi" in site.compiler else "mpich")

    def test_a_signal_to_us_ends_the_run(self, run, ending, name):
        plan = Plan((RankPlan((1 << 40,), (0,), 1 << 40),) * 2, full=False)
        interrupting = threading.Thread(target=interrupt_when_running, args=(name,))
        interrupting.start()

        with pytest.raises(KeyboardInterrupt):
            run(plan, ending, "nothing", "kept")
        interrupting.join()


class TestOpenMpi(Runs):
    PLACE = "on_open_mpi"

    @pytest.fixture
    def site(self, on_open_mpi, site):  # noqa: ARG002 -- tells what is needed
        return site

    def test_what_python_buffers_is_flushed(self, run, tmp_path):
        """With the library that mpi4py finds by itself."""
        assert run(BARRIERS, sys.executable, str(PROGRAMS / "buffered.py")).code == 0
        assert (tmp_path / "printed").read_text().count("kept") == 2


class TestMpich(Runs):
    PLACE = "on_mpich"

    @pytest.fixture
    def site(self, on_mpich, site):  # noqa: ARG002 -- as above
        return site

    @pytest.fixture
    def session(self, site, name):
        """A program without MPI_COMM_WORLD, which Open MPI has from version 5 on."""
        return compiled(site, "mpicc", "signed_session.c", name)

    def test_a_program_with_sessions_only_is_cut(self, run, session, tmp_path):
        measured = run(BARRIERS, session)

        assert (measured.code, measured.left) == (0, 0)
        assert [rank.state for rank in measured.ranks] == [State.CUT] * 2
        assert [rank.count for rank in measured.ranks] == [20, 20]
        assert "ends" not in (tmp_path / "printed").read_text()

    def test_a_program_with_sessions_only_is_counted_to_its_end(self, run, session, tmp_path):
        measured = run(COUNT_ONLY, session)

        assert [rank.state for rank in measured.ranks] == [State.FINALIZING] * 2
        assert [rank.count for rank in measured.ranks] == [40, 40]
        assert (tmp_path / "printed").read_text().count("ends") == 2

    def test_a_session_that_ends_too_early_is_refused(self, run, session):
        with pytest.raises(InconsistentTraceError, match=r"after 10 counted calls"):
            run(BARRIERS, session, "early")


def interrupt_when_running(name):
    """Send this process the signal of batch systems when a program has begun."""
    wait_until(lambda: len(processes(name)) > 1)
    time.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)


def tokens_of(trace):
    """Give the tokens of each rank's counted calls, as the design says them."""
    members = trace.communicators["members"].to_pylist()
    columns = ("location", "operation", "communicator", "peer", "enter_ns")
    calls = trace.table("calls").select(columns).to_pylist()
    ranks = trace.table("locations")["rank"].to_pylist()
    tokens = [[] for _ in ranks]
    for call in sorted(calls, key=lambda call: (call["location"], call["enter_ns"])):
        name, rank = call["operation"], ranks[call["location"]]
        if name not in COUNTED:
            continue
        offset, size = 0xFFFFFE, 0
        group = None if call["communicator"] is None else members[call["communicator"]]
        if name in COLLECTIVES:
            size = len(group)
        elif name in SENDS and group is None:
            offset = 0xFFFFFF
        elif name in SENDS:
            size = len(group)
            offset = (group.index(call["peer"]) - group.index(rank)) % size
        tokens[rank].append(token(name, offset, size))
    return tokens
