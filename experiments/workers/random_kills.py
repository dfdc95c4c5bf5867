"""Kill a worker at a random moment, again and again: what comes out must stay the same.

    python -m experiments.workers.random_kills X.prv [times] [seed]

Prints of each time how long commands took, and when a worker was killed: so many times while
the text becomes a store, and so many times during commands on that store and the conversion of
an OTF2 archive that is made of it.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import burstline
from burstline.cli import main
from burstline.distribution import workers_of

if TYPE_CHECKING:
    from distributed import Client

OF_TEXT = ("convert {text} {folder}/made.store --memory 600M",)
OTHERS = (
    "info {store} --quick --format json",
    "matrix {store} --format json",
    "histogram {store} --counter rank --format json",
    "phases {store} --format json",
    "structure {store} --format json",
    "table {store} --format json -o {folder}/table.parquet",
    "waits {store} --format json -o {folder}/waits.cubex",
    "report {store} --format json -o {folder}/page.html",
    "convert {archive} {folder}/made.store --memory 600M",
)


def outputs(commands: Sequence[str], sources: Mapping[str, Path], *options: str) -> list[str]:
    """Run commands; give a digest of what each prints, without times, and of all files."""
    made = []
    with tempfile.TemporaryDirectory() as folder:
        for command in commands:
            words = command.format(folder=folder, **sources).split()
            with redirect_stdout(StringIO()) as printed:
                main([*words, *options, "--quiet"])
            text = re.sub(r'"tfat_ns": \d+', "", printed.getvalue().replace(folder, ""))
            made.append(hashlib.sha256(text.encode()).hexdigest())
        files = sorted(file for file in Path(folder).rglob("*") if file.is_file())
        made += [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
    return made


def kill_later(client: Client, after_s: float, killed: list[str]) -> None:
    """End one worker after some time."""
    time.sleep(after_s)
    [(worker, process), *_] = client.run(os.getpid).items()
    os.kill(process, signal.SIGKILL)
    killed.append(worker)


def run(text: Path, times: int, seed: int) -> None:
    """Compare runs of two workers, of which one is killed, with that of one process."""
    with tempfile.TemporaryDirectory() as folder:
        store, archive = Path(folder) / "run.store", Path(folder) / "run.otf2"
        main(["convert", str(text), str(store), "--quiet"])
        burstline.write(burstline.read(store), archive)
        sources = {"text": text, "store": store, "archive": archive}
        moments = random.Random(seed)  # noqa: S311 -- no secret
        compare(OF_TEXT, sources, times, moments)
        compare(OTHERS, sources, times, moments)


def compare(
    commands: Sequence[str], sources: Mapping[str, Path], times: int, moments: random.Random
) -> None:
    """Print what became of each run; end where one differs."""
    begin = time.monotonic()
    expected = outputs(commands, sources)
    took_s = time.monotonic() - begin
    print(f"{len(commands)} commands in one process: {took_s:.1f} s, {len(expected)} outputs")
    for number in range(1, times + 1):
        killed: list[str] = []
        after_s = moments.uniform(0, took_s)
        with workers_of("local:2", memory=2 << 30) as workers:
            killer = threading.Thread(target=kill_later, args=(workers.client, after_s, killed))
            killer.start()
            begin = time.monotonic()
            made = outputs(commands, sources, "--scheduler", workers.address)
            here_s = time.monotonic() - begin
            killer.join()
        same = "equal" if made == expected else "NOT EQUAL"
        print(
            f"{number}: {here_s:.1f} s, {killed[0]} killed after {after_s:.1f} s: {same}",
            flush=True,
        )
        if made != expected:
            raise SystemExit(1)


if __name__ == "__main__":
    run(Path(sys.argv[1]), *map(int, [*sys.argv[2:], *("10", "1")[len(sys.argv) - 2 :]]))
