"""Do more counters predict bursts better? Our own programs, recorded, merged and learnt.

::

    programs ──burstline cc──► three sets of counters, one a run ──merge──► fused table ─► learn

One command, ``python -m experiments.merge.predict``, prints the tables of
``docs/results/learning.md``. It needs clang with LLVM's headers, Open MPI, scikit-learn.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

import burstline
from burstline.merge import burst_table, fuse, match
from burstline.studies import Learned, learn, relative_errors

PROGRAMS: Final = Path(__file__).parent / "programs"
SIZES: Final = {
    "gradients": (400, 1_000, 2_500),
    "heat": (48, 96, 192),
    "ordering": (200, 500, 1_200),
}
"""Sizes of each program, as its argument."""

SETS: Final = {
    "INS_MIX": ("cpu", "IR_TOT_INS", "IR_LD_INS", "IR_SR_INS", "IR_BR_INS"),
    "OPS_SET": (
        *("cpu", "IR_TOT_INS", "IR_VEC_INS", "IR_FP_INS", "IR_DP_OPS"),
        *("IR_SP_OPS", "IR_VEC_SP", "IR_VEC_DP"),
    ),
    "BLOCKS": ("cpu", "IR_TOT_INS", "IR_BB", "IR_CALLS"),
}
"""Counters of each run, in the manner of the published sets; the first is the base."""

PATHS: Final = ("call_path_before", "call_path_after")
CODE: Final = (*PATHS, "operation_before", "operation_after")
POOR: Final = (*CODE, "IR_LD_INS", "IR_SR_INS", "IR_BR_INS")
REPEATED: Final = "run2.duration_ns"
QUESTIONS: Final[dict[str, dict[str, Any]]] = {
    "unseen ranks of the same program and size": {"by": "rank"},
    "the same, neither calls nor call paths known": {"by": "rank", "without": CODE},
    "the same, the base with statements alone": {"by": "rank", "without": POOR},
    "an unseen size of the same program": {"by": "application"},
    "unseen code: other calls around bursts": {"by": "code"},
}
"""What is asked, and how it is learnt."""


def main() -> None:
    """Record what is not recorded yet, learn, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--folder", help="keep recordings there, and use those there are")
    parser.add_argument("--compiler", default="clang-14", help="clang to compile with")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--model", default="forest", choices=("forest", "boosting"))
    parser.add_argument("--most", type=int, default=4_000, help="bursts to draw of a table")
    arguments = parser.parse_args()
    if arguments.folder is not None:
        Path(arguments.folder).mkdir(parents=True, exist_ok=True)
        report(Path(arguments.folder), arguments)
        return
    with tempfile.TemporaryDirectory() as folder:
        report(Path(folder), arguments)


def report(folder: Path, arguments: argparse.Namespace) -> None:
    """Print a table of each question."""
    tables = dict(recorded(folder, arguments))
    programs = {
        program: {name: table for name, table in tables.items() if name.startswith(program)}
        for program in SIZES
    }
    for target in ("cpu", "duration"):
        for title, options in QUESTIONS.items():
            head(f"{target}: {title}")
            for program, some in programs.items():
                found = learnt(some, target, arguments, **options)
                row(program, found, floor(some, target))
        head(f"{target}: an unseen program, call paths left out")
        joined = {name: together(some) for name, some in programs.items()}
        options = {"by": "application", "without": PATHS}
        found = learnt(joined, target, arguments, **options)
        row("all three", found, floor(tables, target))
        print("\nimportance:", ", ".join(f"{n} {v:+.3f}" for n, v in found.importance.items()))
    report_repeats(programs, arguments)


def report_repeats(
    programs: Mapping[str, Mapping[str, pa.Table]], arguments: argparse.Namespace
) -> None:
    """Print what CPU time of other runs is worth, and what it costs to drop it."""
    print("\nduration, other runs' CPU time allowed: unseen ranks\n")
    print("| program | CPU time | base | merged | reliable | merged is | reliable is |")
    print("|---|---|--:|--:|--:|---|---|")
    for program, some in programs.items():
        found = learn(
            {name: table.drop_columns([REPEATED]) for name, table in some.items()},
            by="rank",
            model=arguments.model,
            repeats=True,
            drop_unreliable=True,
            most=arguments.most,
            threads=os.cpu_count() or 1,
        )
        shown = {one.name: f"{one.mean:.3f} ± {one.spread:.3f}" for one in found.scores}
        errors = " | ".join(shown[name] for name in ("base", "merged", "reliable"))
        told = " | ".join(
            f"{found.gains[name].verdict}, {found.gains[name].better} of {found.folds}"
            for name in ("merged", "reliable")
        )
        print(f"| {program} | {found.reliability['cpu']} | {errors} | {told} |", flush=True)


def head(title: str) -> None:
    """Print the head of a table."""
    print(f"\n{title}\n")
    print(
        "| program | bursts | twins | nothing | base | merged | shuffled | repeat | verdict |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|---|")


def row(name: str, found: Learned, repeat: float) -> None:
    """Print a row: errors with their spread over folds."""
    shown = {one.name: f"{one.mean:.3f} ± {one.spread:.3f}" for one in found.scores}
    merged = found.score("merged")
    seen = 0.0 if merged is None else merged.seen
    errors = " | ".join(shown[each] for each in ("nothing", "base", "merged", "shuffled"))
    gain = found.gains["merged"]
    print(
        f"| {name} | {len(found.measured):,} | {100 * seen:.0f} % | {errors} | {repeat:.3f} "
        f"| {gain.verdict}, {gain.better} of {gain.folds} |",
        flush=True,
    )


def learnt(
    tables: Mapping[str, pa.Table],
    target: str,
    arguments: argparse.Namespace,
    *,
    by: str,
    without: tuple[str, ...] = (),
) -> Learned:
    """Learn with a control: the counters of other runs, dealt out at random."""
    return learn(
        tables,
        target=target,
        by=by,
        model=arguments.model,
        control=True,
        most=arguments.most,
        without=without,
        threads=os.cpu_count() or 1,
    )


def floor(tables: Mapping[str, pa.Table], target: str) -> float:
    """Give how far another run's measurement of the same burst is off, on average."""
    column = "duration_ns" if target == "duration" else target
    pairs = [
        np.column_stack([table[name].to_numpy() for name in (column, f"run2.{column}")])
        for table in tables.values()
    ]
    both = np.concatenate(pairs).astype(float)
    both = both[(both > 0).all(axis=1)]
    return float(relative_errors(both[:, 0], both[:, 1]).mean())


def together(tables: Mapping[str, pa.Table]) -> pa.Table:
    """Put the sizes of a program into one table."""
    import pyarrow as pa  # noqa: PLC0415 -- beside the type

    return pa.concat_tables(tables.values(), promote_options="permissive").unify_dictionaries()


def recorded(folder: Path, arguments: argparse.Namespace) -> Iterator[tuple[str, pa.Table]]:
    """Give a fused table for each program and size."""
    for program, sizes in SIZES.items():
        for size in sizes:
            runs = []
            for number, counters in enumerate(SETS.values(), start=1):
                path = folder / f"{program}-{size}-{number}.prv"
                if not path.exists():
                    record(built(folder, program, arguments), size, counters, path, arguments)
                runs.append(path)
            yield f"{program}-{size}", fused(runs)


def fused(runs: list[Path]) -> pa.Table:
    """Match runs, and give the first's bursts with all counters, and other durations."""
    traces = [burstline.read(path) for path in runs]
    whole = [burst_table(trace) for trace in traces]
    found = match(traces)
    rates = ", ".join(f"{100 * rate:.2f} %" for rate in found.match_rate)
    print(f"{runs[0].stem}: matched {rates}", file=sys.stderr)
    table = fuse(whole, found).table
    return with_repeat(table, whole[1].table)


def with_repeat(table: pa.Table, other: pa.Table) -> pa.Table:
    """Add how long the second run's burst was: the measure of what can be known at all."""
    import pyarrow as pa  # noqa: PLC0415 -- beside the type

    keys = [other[name].to_pylist() for name in ("rank", "thread", "burst")]
    values = other["duration_ns"].to_pylist()
    known = dict(zip(zip(*keys, strict=True), values, strict=True))
    mine = [table[name].to_pylist() for name in ("rank", "thread", "burst_1")]
    column = pa.array([known.get(key) for key in zip(*mine, strict=True)], pa.int64())
    field = pa.field(REPEATED, pa.int64(), metadata={"runs": "2", "unit": "ns"})
    return table.append_column(field, column)


def built(folder: Path, program: str, arguments: argparse.Namespace) -> Path:
    """Compile a program so that it counts its work."""
    path = folder / program
    if not path.exists():
        compiler = [
            "mpicc",
            "-O2",
            "-g",
            str(PROGRAMS / f"{program}.c"),
            "-o",
            str(path),
            "-lm",
        ]
        ours("cc", "--", *compiler, OMPI_CC=arguments.compiler)
    return path


def record(
    program: Path,
    size: int,
    counters: tuple[str, ...],
    path: Path,
    arguments: argparse.Namespace,
) -> None:
    """Record a run."""
    launcher = ["mpirun", "--oversubscribe", "-n", str(arguments.ranks)]
    options = ["--counters", ",".join(counters), "-o", str(path), "--quiet"]
    ours("record", *options, "--", *launcher, str(program), str(size))


def ours(*words: str, **variables: str) -> None:
    """Run a command of burstline."""
    command = [sys.executable, "-m", "burstline", *words]
    environment: dict[str, Any] = {**os.environ, **variables}
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)  # noqa: S603


if __name__ == "__main__":
    main()
