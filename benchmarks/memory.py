"""What ``--memory`` promises and what commands take: a table, command by limit.

::

    python -m benchmarks.memory --folder /big/disk > table.md

Each cell is the most memory that the command had, in MB, or what it says it needs where it
was refused. A peak may be over the limit by what a process takes before it reads: 160 MiB.
One that is over by more is bold.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.generate import size_in_bytes
from benchmarks.peak import peak_of

BASE: Final = 160 << 20
"""What may come on top of the limit."""
LIMITS: Final = ("1G", "512M", "256M", "128M")
_MAKE_RAW: Final = (
    "import sys; from pathlib import Path; from benchmarks.raw_files import write_run; "
    "write_run(Path(sys.argv[1]), ranks=16, size=int(sys.argv[2]))"
)
_REFUSED: Final = re.compile(r"needs about ([0-9.]+) GB")
_COMMANDS: Final = {
    "info --quick": "info --quick {}",
    "info": "info {}",
    "structure": "structure {}",
    "structure --iterations 1": "structure {} --iterations 1",
    "structure --in-calls": "structure {} --in-calls",
    "table -o": "table {} -o {out}.parquet",
    "cut --first 500ms": "cut {} -o {out}.prv --first 500ms",
    "cut --ranks 0-3": "cut {} -o {out}.prv --ranks 0-3",
    "merge": "merge {} {twin} -o {out}.prv",
    "check-merge": "check-merge {} {twin}",
    "learn": "learn {} {twin} --features base --most 2000",
    "plot -o": "plot {} -o {out}.svg",
    "annotate": "annotate {} -o {out}.prv",
    "waits": "waits {}",
    "retime": "retime {} --clock lt_1 -o {out}.prv",
    "convert X.prv": "convert {} {out}.prv",
    "convert X.store": "convert {} {out}.store",
}
"""By how they are shown."""
_LEFT_OUT: Final = {
    ("convert X.prv", ".prv"),
    ("convert X.store", ".store"),
    ("merge", "raw files"),  # a base without records cannot be written
    ("merge", ".otf2"),
}


class Peak(NamedTuple):
    """How a command ended: bytes, its exit code, and bytes that it says it needs."""

    bytes: int
    code: int
    needed: float

    def shown(self, limit: int) -> str:
        """The cell of a table; a peak over the limit and the constant is bold."""
        peak = f"{self.bytes / 1e6:.0f}"
        if self.code == 0:
            return f"**{peak}**" if self.bytes > limit + BASE else peak
        return f"needs {1000 * self.needed:.0f}" if self.needed else f"exit {self.code}"


def measured(command: str, limit: str) -> Peak:
    """Run a command of burstline within a limit."""
    words = [sys.executable, "-m", "burstline", *command.split(), "--memory", limit]
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(
            [*words, "--quiet", "--threads", "2"],
            stdout=subprocess.DEVNULL,
            stderr=said,
            text=True,
        )
        peak = peak_of(process)
        said.seek(0)
        refused = _REFUSED.search(said.read())
    needed = float(refused[1]) if refused else 0.0
    return Peak(peak, process.returncode, needed)


def inputs(folder: Path, size: int) -> Iterator[tuple[str, Path]]:
    """Make a trace of about so many bytes of text, in every format."""
    prv, raw = folder / "run.prv", folder / "raw"
    if not prv.exists():
        _python("-m", "benchmarks.generate", "--ranks", 64, "--size", size, "--out", prv)
        _python("-c", _MAKE_RAW, raw, size // 3)
    yield ".prv", prv
    yield "raw files", raw
    for name in ("run.store", "run.otf2"):
        if not (folder / name).exists():
            _python("-m", "burstline", "convert", prv, folder / name, "--quiet")
        yield Path(name).suffix, folder / name


def _python(*words: object) -> None:
    subprocess.run([sys.executable, *map(str, words)], check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    parser.add_argument("--size", type=size_in_bytes, default="150M", metavar="BYTES")
    parser.add_argument("--folder", type=Path, required=True, metavar="DIR")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows with it in their name")
    parser.add_argument("--limits", default=",".join(LIMITS), metavar="LIST")
    arguments = parser.parse_args()
    limits = arguments.limits.split(",")
    print("| command | of | " + " | ".join(limits) + " |")
    print("|---|---|" + "---:|" * len(limits))
    for kind, path in inputs(arguments.folder, arguments.size):
        for name, command in _COMMANDS.items():
            if arguments.only not in f"{name} {kind}" or (name, kind) in _LEFT_OUT:
                continue
            words = command.format(path, twin=path, out=arguments.folder / "out")
            words += " --force" * ("{out}" in command)
            cells = [measured(words, limit).shown(size_in_bytes(limit)) for limit in limits]
            print(f"| `{name}` | {kind} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
