"""Workers: what a word asks for, and what is said where they are not there."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from burstline import errors
from burstline.distribution import DaskWorkers, cluster, workers_of
from burstline.distribution.settings import Address, Jobs, Local, asked_for
from burstline.errors import FormatError, ParameterError, WorkersError
from burstline.model import Trace
from burstline.run import open as open_run

JOBS = """[slurm]
workers = 4
cores = 1
memory = "8GB"
queue = "short"
job_extra_directives = ["--exclusive"]
"""


def test_a_word_asks_for_workers_and_one_that_asks_for_nothing_is_refused():
    assert asked_for("local:3") == Local(3)
    for address in ("tcp://10.0.0.1:8786", "node:8786"):
        assert asked_for(address) == Address(address)
    for word in [
        "local:0",
        "local:",
        "local:x",
        "local:1025",
        "local:²",
        "node",
        ":1",
        "node:x",
    ]:
        with pytest.raises(ParameterError, match="local"):
            asked_for(word)


def test_a_file_asks_for_jobs_of_a_batch_system(tmp_path):
    (file := tmp_path / "slurm.toml").write_text(JOBS)

    options = {"cores": 1, "memory": "8GB", "queue": "short"}
    options["job_extra_directives"] = ["-o /dev/null", "--exclusive"]
    assert asked_for(str(file)) == Jobs("slurm", 4, options)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("[slurm]", "[lsf]"), "[slurm] or [pbs]"),
        (("[slurm]", "other = 1\n[slurm]"), "[slurm] or [pbs]"),
        (("queue", "shell"), "found 'shell'"),
        (('"short"', "7"), "a text as queue"),
        (("cores = 1", "cores = true"), "a whole number as cores"),
        (("[slurm]\nworkers = 4", "[slurm]\nworkers = 0"), "at least one worker"),
        (("workers = 4\n", ""), "workers in [slurm]"),
        (('["--exclusive"]', "[1]"), "a list of texts"),
    ],
)
def test_a_file_that_asks_for_something_else_is_refused_by_its_name(tmp_path, change, said):
    file = tmp_path / "slurm.toml"
    file.write_text(JOBS.replace(*change))

    with pytest.raises(FormatError) as refused:
        asked_for(str(file))

    assert str(file) in str(refused.value)
    assert said in str(refused.value)


class Asked:
    """A client whose workers answer, but for those that are lost meanwhile."""

    def __init__(self, lost):
        self.lost = lost

    def run(self, function, *arguments, on_error):
        assert on_error == "return"
        lost = {f"lost {k}": ConnectionResetError("reset by peer") for k in range(self.lost)}
        return lost | ({"there": function(*arguments)} if self.lost < 2 else {})


def test_a_worker_that_is_lost_while_it_is_asked_costs_nothing(tmp_path):
    workers = DaskWorkers(Asked(1))
    workers.require_seen(tmp_path)
    with pytest.raises(WorkersError, match="has no workers"):
        DaskWorkers(Asked(2))


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch):
    monkeypatch.setattr(cluster, "_CONNECTED_S", 0.2)
    with (
        pytest.raises(WorkersError, match=r"tcp://127\.0\.0\.1:9.*local:4"),
        workers_of("tcp://127.0.0.1:9", memory=1 << 30),
    ):
        pass


def test_workers_take_apart_what_has_a_path():
    with pytest.raises(ParameterError, match="give its path"):
        open_run(Trace({}), scheduler="local:2")


@pytest.mark.parametrize(
    "error",
    [
        errors.BurstlineError("?"),
        errors.FormatError(Path("t.prv"), 3, expected="a", found="b", way_out="Cut it."),
        errors.MemoryBudgetError(2, 1, way_out="Cut it."),
        errors.MissingExtraError("ml", "learning", way_out="Get it."),
        errors.WorkersError("gone"),
    ],
)
def test_an_error_of_a_worker_says_here_what_it_said_there(error):
    crossed = pickle.loads(pickle.dumps(error))  # noqa: S301 -- as Dask brings it

    assert type(crossed) is type(error)
    assert str(crossed) == str(error)
    assert vars(crossed) == vars(error)
