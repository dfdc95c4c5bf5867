"""What commands take where memory is short, in one process and by two workers of 1 GB.

    python -m experiments.workers.short_memory X.prv

Prints Markdown: processor time and the most memory of the command and of each worker, and
whether both ways make the same. Everything is made beside the text, and removed.
"""

from __future__ import annotations

import hashlib
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa
from distributed import Client, LocalCluster
from pyarrow import parquet

from experiments.workers.processor_time import spent_s
from experiments.workers.scale import SURROUNDINGS

COMMANDS: Final = (
    "convert {text} {made}.store",
    "info {store} --quick --format json",
    "matrix {store} --format json",
    "table {store} -o {made}.parquet",
    "phases {store} --format json",
    "structure {store} --format json",
)
_KILOBYTE: Final = 1024
_EACH: Final = "1GB"


class Done(NamedTuple):
    """What a command took, and a digest of what it made; if it was refused, what it said."""

    spent_s: float
    peak: float  # in GB
    made: str
    refused: str

    def __str__(self) -> str:
        """As a cell of a table."""
        if self.refused:
            return f"refused: {self.refused}"
        return f"{self.spent_s:.0f} s, {self.peak:.2f} GB"


def run(command: str, text: Path, store: Path, made: Path, options: Sequence[str] = ()) -> Done:
    """Run a command in a process of its own."""
    words = command.format(text=text, store=store, made=made).split()
    own = [sys.executable, "-m", "burstline", *words, "--memory", "2G", "--quiet", *options]
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as said:
        started = subprocess.Popen(own, stdout=printed, stderr=said, env=SURROUNDINGS)
        _, status, used = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        why = said.read().decode()
        printed.seek(0)
        output = re.sub(rb'"tfat_ns": \d+', b"", printed.read())
    digest = hashlib.sha256(output.replace(str(made).encode(), b""))
    for file in sorted(made.parent.glob(f"{made.name}.*")):
        if file.is_dir():
            digest.update(rows_of(file))
            continue
        with file.open("rb") as opened:
            digest.update(hashlib.file_digest(opened, "sha256").digest())
    peak = used.ru_maxrss * _KILOBYTE * 1e-9
    refused = why.strip().splitlines()[-1] if started.returncode else ""
    return Done(used.ru_utime + used.ru_stime, peak, digest.hexdigest(), refused)


def rows_of(store: Path) -> bytes:
    """A digest of the rows of all tables, in whatever groups a store has them."""
    whole = hashlib.sha256()
    for path in sorted(store.glob("*.parquet")):
        table = parquet.ParquetFile(path)
        columns = [hashlib.sha256(str(field).encode()) for field in table.schema_arrow]
        for batch in table.iter_batches():
            for column, digest in zip(batch.columns, columns, strict=True):
                if pa.types.is_integer(column.type):
                    digest.update(column.is_valid().to_numpy(zero_copy_only=False))
                    digest.update(column.fill_null(0).to_numpy())
                else:  # in small tables alone
                    digest.update("".join(f"{cell!r}," for cell in column.to_pylist()).encode())
        whole.update(path.name.encode())
        for digest in columns:
            whole.update(digest.digest())
    return whole.digest()


def by_workers(command: str, *paths: Path) -> tuple[Done, list[str]]:
    """Run a command with two workers that nobody asked before; give what each of them took."""
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, memory_limit=_EACH, dashboard_address=":0"
    )
    with cluster, Client(cluster) as client:
        begun = set(client.run(os.getpid).values())
        done = run(command, *paths, options=("--scheduler", cluster.scheduler_address))
        found = client.run(_peak_and_process)
        if {process for _, process in found.values()} != begun:
            print(f"a worker was lost: {command}", file=sys.stderr)
        inside = [
            f"{spent_s(process):.0f} s, {peak:.2f} GB" for peak, process in found.values()
        ]
    return done, inside


def _peak_and_process() -> tuple[float, int]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_maxrss * _KILOBYTE * 1e-9, os.getpid()


def measured(text: Path) -> None:
    """Print what each command takes."""
    print("| command | one process | beside two workers | in each of them | made |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=text.parent) as folder:
        here, there = Path(folder) / "here", Path(folder) / "there"
        store = here.with_suffix(".store")
        for command in COMMANDS:
            name = command.split()[0]
            alone = run(command, text, store, here if name == "convert" else there)
            remove(there)
            shared, inside = by_workers(command, text, store, there)
            remove(there)
            same = "equal" if shared.made == alone.made else "NOT EQUAL"
            cells = [str(alone), str(shared), ", ".join(inside), same]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)


def remove(made: Path) -> None:
    """Remove what a command has made."""
    for file in made.parent.glob(f"{made.name}.*"):
        if file.is_dir():
            shutil.rmtree(file)
        else:
            file.unlink()


if __name__ == "__main__":
    measured(Path(sys.argv[1]))
