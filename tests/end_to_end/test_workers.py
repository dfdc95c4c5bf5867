"""Workers of Dask give what one process gives, byte for byte, also where one is lost."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from importlib.resources import files
from pathlib import Path

import cloudpickle
import numpy as np
import pytest
from benchmarks.generate import generate
from distributed import Status
from experiments.workers.one_node_slurm import slurm

import burstline
from burstline.cli import main
from burstline.distribution import cluster, workers, workers_of
from burstline.errors import (
    InconsistentTraceError,
    MemoryBudgetError,
    NotEnoughDataError,
    WorkersError,
)
from burstline.formats.intake import Shared, sharing
from burstline.formats.otf2.reading import trace as otf2_source
from burstline.formats.paraver.reading import ranges
from burstline.formats.paraver.reading import trace as text_source
from burstline.formats.raw import source as raw_source
from burstline.formats.store import folder as folder_module
from burstline.run import needs, parts
from burstline.run import run as run_module
from command import burstline as command_line
from loop_programs import Program
from raw_files import run_of

HERE = Path(__file__)
SHIPPED = files("burstline") / "data" / "lulesh_8r.prv.gz"
PICTURES = ("--pictures", "{folder}")
COMMANDS = {
    "info": ("info", "{store}", "--quick", "--format", "json"),
    "info of the trace": ("info", "{store}", "--quick", "--span", "trace"),
    "info of two": ("info", "{store}", "{store}", "--format", "json"),
    "verdict": ("info", "{store}", "--format", "json"),
    "matrix": ("matrix", "{store}", "--format", "csv"),
    "histogram": ("histogram", "{store}", "--counter", "rank", "--format", "json"),
    "table": ("table", "{store}"),
    "table as JSON": ("table", "{store}", "--format", "json", "--top", "3"),
    "table as CSV": ("table", "{store}", "--format", "csv", "--min-duration", "10us"),
    "Parquet": ("table", "{store}", "-o", "{folder}/t.parquet"),
    "Arrow": ("table", "{store}", "-o", "{folder}/t.arrow"),
    "phases": ("phases", "{store}", "--format", "json"),
    "published phases": ("phases", "{store}", "--method", "epas", "--format", "json"),
    "structure": ("structure", "{store}", "--format", "json"),
    "structure by order": ("structure", "{store}", "--method", "exact"),
    "calls of a loop": ("structure", "{store}", "--calls-of", "1", "--format", "json"),
    "CSV": ("table", "{store}", "-o", "{folder}/t.csv", "--columns", "rank,ipc,partner_after"),
    "waits": ("waits", "{store}", "-o", "{folder}/w.cubex", "--format", "json"),
    "waits by loop": ("waits", "{store}", "-o", "{folder}/w.cubex", "--by", "loop"),
    "report": ("report", "{store}", "-o", "{folder}/r.html", "--format", "json", *PICTURES),
    "report of two": ("report", "{store}", "{store}", "-o", "{folder}/r.html"),
}
OF_ALL = (
    "verdict", "matrix", "histogram", "phases", "structure", "Parquet", "waits", "report",
)  # fmt: skip
"""Commands, one each, that are asked of all real traces."""


@pytest.fixture(scope="module")
def two():
    """Give two workers on this machine."""
    with workers_of("local:2", memory=1 << 30) as started:
        yield started


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """Give stores of a recorded run, and of a made one with several nodes."""
    folder = tmp_path_factory.mktemp("stores")
    generate(folder / "made.prv", ranks=160, size=3_000_000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folder_module, "_ROWS", 500)  # small stores have several parts, too
        burstline.write(burstline.read(SHIPPED), folder / "lulesh.store")
        burstline.write(burstline.read(folder / "made.prv"), folder / "made.store")
    return {"lulesh": folder / "lulesh.store", "made": folder / "made.store"}


@pytest.fixture
def many_parts(monkeypatch):
    """Have small stores taken apart, too."""
    monkeypatch.setattr(parts, "_LEAST_ROWS", 1)


@pytest.fixture
def run_with(tmp_path, capsys):
    """Give a function that runs a command, and gives what it printed and wrote."""

    def run(store, command, *options):
        folder = tmp_path / f"out{len([*tmp_path.glob('out*')])}"
        folder.mkdir()
        words = [word.format(store=store, folder=folder) for word in COMMANDS[command]]
        capsys.readouterr()
        main([*words, *options, "--quiet"])
        printed = capsys.readouterr().out.replace(str(folder), "")
        printed = re.sub(r'"tfat_ns": \d+', "", printed)  # how long it took
        return printed, {file.name: file.read_bytes() for file in folder.iterdir()}

    return run


@pytest.mark.usefixtures("many_parts")
@pytest.mark.parametrize("name", ["lulesh", "made"])
@pytest.mark.parametrize("command", COMMANDS)
def test_workers_give_what_one_process_gives(command, name, run_with, stores, two):
    here = run_with(stores[name], command)
    there = run_with(stores[name], command, "--scheduler", two.address)

    assert len(parts.divided(burstline.read(stores[name]), stores[name], 2)) > 3
    assert there == here
    assert here[0] or here[1]


@pytest.mark.usefixtures("many_parts")
@pytest.mark.parametrize("count", [1, 2, 3])
def test_parts_are_as_many_as_workers_share_and_the_last_is_none_of_the_largest(count, stores):
    trace = burstline.read(stores["made"])
    rows = np.diff(trace.offsets("bursts"))
    divided = parts.divided(trace, stores["made"], count)
    sizes = [sum(rows[part.start : part.stop]) for part in divided]

    assert len(sizes) == 4 * count
    assert sum(sizes) == sum(rows)
    assert sizes[-1] <= sum(sizes) / len(sizes)


def limited(monkeypatch, memory):
    """Have each worker say that it may take so many bytes."""
    monkeypatch.setattr(workers.DaskWorkers, "memory_each", memory)


def test_a_table_is_taken_apart_further_where_workers_have_little_memory(
    stores, two, tmp_path, monkeypatch
):
    whole = burstline.read(stores["made"])
    limited(monkeypatch, whole.estimate_bytes("messages") // 4)
    asked, fold = [], run_module.Run.parts
    monkeypatch.setattr(
        run_module.Run,
        "parts",
        lambda run, *words, ranges, **named: (
            asked.extend(ranges) or fold(run, *words, ranges=ranges, **named)
        ),
    )

    words = ["table", str(stores["made"]), "--columns", "rank,partner_after", "--quiet", "-o"]
    main([*words, str(tmp_path / "apart.parquet"), "--scheduler", two.address])
    main([*words, str(tmp_path / "whole.parquet")])

    assert len(asked) >= 8
    contents = contents_of(tmp_path)
    assert contents["apart.parquet"] == contents["whole.parquet"]


def test_a_table_that_does_not_fit_into_a_worker_is_refused(stores, two, monkeypatch):
    limited(monkeypatch, 10)

    done = command_line("table", stores["made"], "--scheduler", two.address)

    assert done.returncode == 5
    assert "(--columns), or give each worker more memory" in done.stderr


def made_anew(_):
    """Make arrays one after the other; give how many pages the system cleared for the last."""
    for turn in range(100):
        if turn == 10:
            begin = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
        np.ones(1 << 17)
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - begin


@pytest.mark.usefixtures("mine")
def test_workers_use_memory_again(two):
    pages = (1 << 20) // resource.getpagesize()
    assert max(two.in_order(made_anew, range(2))) < 10 * pages


@pytest.fixture(scope="module")
def real_stores(real_traces, tmp_path_factory):
    """Give stores of all real traces, each with several parts."""
    folder = tmp_path_factory.mktemp("real")
    made = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folder_module, "_ROWS", 500)
        for path in sorted(real_traces.glob("*.prv.gz")):
            made.append(folder / f"{path.name.removesuffix('.prv.gz')}.store")
            burstline.write(burstline.read(path), made[-1])
    return made


@pytest.mark.usefixtures("many_parts")
@pytest.mark.parametrize("command", OF_ALL)
def test_workers_give_what_one_process_gives_of_real_traces(
    command, real_stores, run_with, two
):
    results = 0
    for store in real_stores:
        here = result_of(run_with, store, command)
        assert result_of(run_with, store, command, "--scheduler", two.address) == here, store
        results += not isinstance(here, int)
    assert results > 20


def result_of(run, *words):
    """Give what a command printed and wrote; the exit code of one that is refused."""
    try:
        return run(*words)
    except SystemExit as refused:
        return refused.code


@pytest.fixture
def lost(mine, tmp_path, monkeypatch):  # noqa: ARG001 -- workers cannot import this file
    """Have the first worker that looks for loops end; give the file that says that it did."""
    marker = tmp_path / "lost"
    monkeypatch.setattr(run_module, "folded", partial(kill_at_loops, marker, run_module.folded))
    return marker


def kill_at_loops(marker, work, part):
    """End the worker that is the first to look for loops, and work on from then on."""
    if part.fold.__module__.startswith("burstline.structure"):
        return kill_first(marker, work, part)
    return work(part)


@pytest.mark.usefixtures("many_parts")
@pytest.mark.parametrize("command", ["waits", "report", "verdict"])
def test_a_worker_that_is_lost_changes_nothing_in_what_is_said(
    command, run_with, stores, two, lost
):
    here = run_with(stores["made"], command)
    assert not lost.exists()

    assert run_with(stores["made"], command, "--scheduler", two.address) == here
    assert lost.exists()


@pytest.fixture
def given_up(two, monkeypatch, request):
    """Have folds of a room not end, as workers are killed again and again."""
    shared = two.in_order

    def in_order(work, parts, **options):
        if parts[0].fold.__module__.startswith(f"burstline.{request.param}"):
            raise WorkersError("workers were killed")
        return shared(work, parts, **options)

    monkeypatch.setattr(two, "in_order", in_order)
    monkeypatch.setattr(cluster, "DaskWorkers", lambda _: two)
    return two.address


@pytest.mark.usefixtures("many_parts")
@pytest.mark.parametrize(
    ("command", "given_up"),
    [
        ("waits", "structure"),
        ("report", "structure"),
        ("report", "histogram"),
        ("info", "structure"),
    ],
    indirect=["given_up"],
)
def test_a_command_whose_workers_are_given_up_ends_and_writes_nothing(
    command, stores, given_up, tmp_path
):
    output = {"waits": "w.cubex", "report": "r.html"}
    words = ["-o", tmp_path / output[command]] if command in output else []

    done = command_line(command, stores["made"], *words, "--scheduler", given_up)

    assert done.returncode == 5
    assert "workers were killed" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_script_that_its_workers_would_run_again_is_told_how_to_keep_them_from_it(
    stores, tmp_path
):
    opened = f"run = burstline.open({str(stores['lulesh'])!r}, scheduler='local:1')"
    told = {}
    for name, before in [("run again", ""), ("as told", 'if __name__ == "__main__": ')]:
        script = tmp_path / f"{name}.py"
        script.write_text(f"import burstline\n{before}{opened}; run.summary(); run.close()\n")
        told[name] = subprocess.run(
            [sys.executable, script], capture_output=True, text=True, timeout=60, check=False
        )

    *_, last = told["run again"].stderr.splitlines()
    assert told["run again"].returncode == 1
    assert last.startswith("burstline.errors.WorkersError: workers do not start")
    assert '`if __name__ == "__main__":`' in last
    assert (told["as told"].returncode, told["as told"].stderr) == (0, "")


def test_a_program_is_not_recorded_for_workers(tmp_path):
    words = ["report", "-o", tmp_path / "r.html", "--scheduler", "local:2"]

    done = command_line(*words, "--", "touch", tmp_path / "made")

    assert done.returncode == 2
    assert "record it first" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """Give a trace as text, of which small ranges are scanned and few processes built."""
    made = tmp_path_factory.mktemp("text") / "run.prv"
    generate(made, ranks=160, size=3_000_000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranges, "BLOCK_BYTES", 1 << 18)
        patch.setattr(text_source.scan, "STREAMED", 1500)
        yield made


def kill_first(marker, work, part):
    """End the worker that is the first to work on a part, and work on it from then on."""
    if not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return work(part)


@pytest.mark.usefixtures("mine")
@pytest.mark.parametrize("options", [[], ["--no-raw"]])
def test_a_worker_that_is_lost_changes_nothing_in_the_store(
    options, two, text, tmp_path, monkeypatch
):
    here, there = tmp_path / "here.store", tmp_path / "there.store"
    options = [*options, "--quiet", "--memory", "1G"]  # what both workers may take
    main(["convert", str(text), str(here), *options])

    for module, name in ((ranges, "scan_range"), (sharing, "_loaded")):
        work = partial(kill_first, tmp_path / name, getattr(module, name))
        monkeypatch.setattr(module, name, work)
    main(["convert", str(text), str(there), *options, "--scheduler", two.address])

    assert contents_of(there) == contents_of(here)
    assert (tmp_path / "scan_range").exists()
    assert (tmp_path / "_loaded").exists()


def contents_of(folder):
    """Give the bytes of each file of a folder."""
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_text_that_is_replaced_while_workers_read_it_is_refused(text):
    task = ranges.Range(text, (0, 0), 1, 0, 1, is_first=True, types=(), folder=text.parent)
    with pytest.raises(InconsistentTraceError, match="was replaced while workers read it"):
        ranges.scan_range(task)


@pytest.fixture
def require_equal_stores(two, tmp_path, monkeypatch, capsys):
    """Give a function that requires that workers make the store that is made here."""
    groups = []
    loaded = Shared.loaded
    monkeypatch.setattr(
        Shared, "loaded", lambda own, some: groups.extend(some) or loaded(own, some)
    )

    def require(made):
        options = "--quiet", "--memory", "1G"  # what both workers may take
        main(["convert", str(made), str(tmp_path / "here.store"), *options])
        here = capsys.readouterr().out
        there = "convert", str(made), str(tmp_path / "there.store"), *options
        main([*there, "--scheduler", two.address])

        assert len(groups) > 3
        assert capsys.readouterr().out == here.replace("here.store", "there.store")
        assert contents_of(tmp_path / "there.store") == contents_of(tmp_path / "here.store")

    return require


@pytest.mark.parametrize("kind", ["raw", "otf2"])
def test_workers_load_what_becomes_the_same_store(
    kind, require_equal_stores, tmp_path, monkeypatch
):
    made = tmp_path / "run"
    if kind == "raw":
        made.mkdir()
        run_of(Program(0).trace()).write(made)  # with call paths, of four ranks
        monkeypatch.setattr(raw_source, "COSTS", replace(raw_source.COSTS, most=900))
    else:
        made = tmp_path / "run.otf2"
        burstline.write(burstline.read(SHIPPED), made)
        costs = replace(otf2_source.COSTS, most=30_000)
        monkeypatch.setattr(otf2_source.ArchiveSource, "costs", costs)

    require_equal_stores(made)


@pytest.mark.parametrize("kind", ["plain", "packed"])
def test_workers_scan_text_into_the_same_store(kind, text, require_equal_stores, monkeypatch):
    if kind == "packed":  # of eight ranks
        monkeypatch.setattr(text_source.scan, "STREAMED", 10_000)
    require_equal_stores({"plain": text, "packed": SHIPPED}[kind])


def test_workers_convert_no_other_source(two, stores, tmp_path):
    words = ["convert", stores["made"], tmp_path / "x.store"]

    done = command_line(*words, "--scheduler", two.address)

    assert done.returncode == 2
    assert "recordings, OTF2 archives and Paraver text" in done.stderr
    assert not (tmp_path / "x.store").exists()


@pytest.mark.usefixtures("many_parts")
def test_a_notebook_asks_a_client(two, stores):
    alone = burstline.open(stores["made"])
    with burstline.open(stores["made"], scheduler=two.client) as run:
        assert run.summary() == alone.summary()
        found, expected = run.ask("computing"), alone.ask("computing")

    assert repr(found) == repr(expected)
    assert found.largest == expected.largest
    assert found.ranks == expected.ranks


@pytest.mark.parametrize("name", ["lulesh", "made"])
def test_phases_of_a_store_that_does_not_fit_are_found_part_by_part(name, stores):
    whole = burstline.open(stores[name])
    replayed = needs.Needs(needs.REPLAYED, needs.COPIES_REPLAYED)
    needed = needs.bytes_needed(whole.whole, replayed)
    run = burstline.open(stores[name], memory=needed // 3)

    assert run.phases().as_dict() == whole.phases().as_dict()

    assert len(run.divided(replayed)) > 3
    with pytest.raises(MemoryBudgetError):
        run.phases(method="pas2p")


@pytest.mark.parametrize("name", ["lulesh", "made"])
def test_loops_of_a_store_that_does_not_fit_are_found_part_by_part(name, stores):
    whole = burstline.open(stores[name])
    found = needs.Needs(dict.fromkeys(needs.DETECTED, 1.0), 1.6)
    needed = needs.bytes_needed(whole.whole, found)
    run = burstline.open(stores[name], memory=int(needed * 0.8))

    structure = run.structure()

    assert structure.as_dict() == whole.structure().as_dict()
    assert run.divided(found) is not None
    with pytest.raises(MemoryBudgetError):
        run.iterations(structure.loops[0].id)
    with pytest.raises(MemoryBudgetError):
        burstline.open(stores[name], memory=needed // 10).structure()


@pytest.mark.usefixtures("many_parts")
def test_a_store_that_was_made_anew_is_opened_anew(two, stores, tmp_path, run_with):
    shutil.copytree(stores["made"], tmp_path / "run.store")
    first = run_with(tmp_path / "run.store", "matrix", "--scheduler", two.address)
    shutil.rmtree(tmp_path / "run.store")
    shutil.copytree(stores["lulesh"], tmp_path / "run.store", copy_function=shutil.copy)

    again = run_with(tmp_path / "run.store", "matrix", "--scheduler", two.address)

    assert again == run_with(stores["lulesh"], "matrix")
    assert again != first


def test_a_region_of_interest_is_looked_at_here(stores):
    done = command_line("matrix", stores["made"], "--ranks", "0-7", "--scheduler", "node:1")

    assert done.returncode == 0
    assert "in this process, without workers" in done.stderr


def kill_once(part):
    """End the worker that is the first to work on a part."""
    place, number = part
    if number == 3 and not place.exists():
        place.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def kill(_):
    """End every worker."""
    os.kill(os.getpid(), signal.SIGKILL)


def refuse(part):
    """Refuse every part."""
    raise NotEnoughDataError(f"part {part} holds nothing")


@pytest.fixture
def mine():
    """Send functions of this file as they are: workers cannot import it."""
    module = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(module)
    yield
    cloudpickle.unregister_pickle_by_value(module)


@pytest.mark.usefixtures("mine")
def test_a_lost_worker_costs_its_part_alone(two, tmp_path):
    work = [(tmp_path / "killed", number) for number in range(8)]

    assert list(two.in_order(kill_once, work)) == [number * number for number in range(8)]
    assert (tmp_path / "killed").exists()


class Fatal:
    """Ends the worker that is to send it."""

    def __reduce__(self):
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.usefixtures("mine")
def test_a_part_that_kills_its_workers_again_and_again_is_given_up(monkeypatch):
    with workers_of("local:1", memory=1 << 30) as own:
        with pytest.raises(WorkersError, match="killed 4 times while they worked on the same"):
            list(own.in_order(kill, [1]))

        own.client.wait_for_workers(1)
        monkeypatch.setattr(workers, "_LOOK_S", 0.02)
        with pytest.raises(WorkersError, match="lost 4 times with the worker that sent it"):
            list(own.in_order(lambda _: Fatal(), [1]))

        own.client.wait_for_workers(1)
        for nanny in own.client.cluster.workers.values():
            nanny.status = Status.closing_gracefully  # it starts no other worker
        monkeypatch.setattr(workers, "_PATIENCE_S", 1)
        with pytest.raises(WorkersError, match="no worker is left, and none has come for 1 s"):
            list(own.in_order(lambda _: Fatal(), [1]))


def late(part):
    """Take longer than is waited for at once; the second part takes too long for itself."""
    time.sleep(0.4)
    if part == 1:
        raise TimeoutError("part 1 took too long")
    return part


@pytest.mark.usefixtures("mine")
def test_work_that_takes_longer_than_a_look_is_waited_for(two, monkeypatch):
    monkeypatch.setattr(workers, "_LOOK_S", 0.05)
    results = two.in_order(late, [0, 1])

    assert next(results) == 0
    with pytest.raises(TimeoutError, match="part 1 took too long"):
        next(results)


@pytest.mark.usefixtures("mine")
def test_what_a_worker_refuses_is_refused_here(two):
    with pytest.raises(NotEnoughDataError, match="part 2 holds nothing"):
        list(two.in_order(refuse, [2, 3, 4]))


def test_workers_of_another_version_are_refused(two, monkeypatch):
    monkeypatch.setattr(workers, "version", lambda _: "0.0.1")

    with pytest.raises(WorkersError, match=r"has burstline .* here is burstline 0\.0\.1"):
        workers.DaskWorkers(two.client)


@pytest.mark.usefixtures("mine")
def test_a_worker_of_another_version_that_comes_later_is_refused(two, monkeypatch):
    asked = workers.DaskWorkers(two.client)
    monkeypatch.setattr(asked, "_versions", ("0.0.1", "3.11"))  # as if it were all others

    with pytest.raises(WorkersError, match=r"has burstline .* here is burstline 0\.0\.1"):
        list(asked.in_order(refuse, [1]))


def test_a_path_that_workers_see_as_another_file_is_refused(two, tmp_path):
    (tmp_path / "there").touch()
    two.require_seen(tmp_path / "there")

    with pytest.raises(WorkersError, match="does not see /proc/self/status as it is here"):
        two.require_seen(Path("/proc/self/status"))


@pytest.mark.parametrize("command", ["info", "waits", "report"])
def test_what_is_no_store_says_how_to_make_one(command, two):
    done = command_line(command, SHIPPED, "--scheduler", two.address)

    assert done.returncode == 2
    assert "burstline convert" in done.stderr


@pytest.mark.parametrize("of", ["table", "waits", "report", "convert"])
def test_a_command_that_is_interrupted_leaves_no_worker_and_no_file(
    of, stores, tmp_path, tmp_path_factory
):
    endings = {"table": "parquet", "waits": "cubex", "report": "html"}
    words = [of, str(stores["made"]), "-o", f"{tmp_path / 't'}.{endings.get(of)}"]
    if of == "convert":
        text = tmp_path_factory.mktemp("text") / "large.prv"
        generate(text, ranks=160, size=10_000_000)
        words = ["convert", str(text), str(tmp_path / "t.store")]
    command = [sys.executable, "-m", "burstline", *words, "--scheduler", "local:2"]
    child = subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while len(of_session(child.pid)) < 4 and time.monotonic() < deadline:
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    said = child.communicate(timeout=60)[1]
    while of_session(child.pid) and time.monotonic() < deadline:
        time.sleep(0.05)

    assert child.returncode == 130
    assert "interrupted" in said
    assert not of_session(child.pid)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def one_node_slurm(tmp_path, monkeypatch):
    """Start a Slurm of one node, this machine, and give a file that asks it for workers."""
    folder = tmp_path / "slurm"
    folder.mkdir()
    with slurm(folder) as beside:
        for name in ("SLURM_CONF", "PATH"):
            monkeypatch.setenv(name, beside[name])
        file = tmp_path / "slurm.toml"
        file.write_text('[slurm]\nworkers = 2\ncores = 1\nmemory = "1GB"\nqueue = "short"\n')
        yield file


@pytest.mark.usefixtures("many_parts")
def test_jobs_of_slurm_give_what_one_process_gives(one_node_slurm, stores, run_with):
    here = run_with(stores["made"], "Parquet")

    assert run_with(stores["made"], "Parquet", "--scheduler", str(one_node_slurm)) == here


def of_session(number):
    """Give the processes of a session that still run."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == number and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found
