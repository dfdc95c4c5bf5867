"""Frames that the resolvers of two checkouts give, for every call of compiled programs.

::

    python -m experiments.symbols.resolvers OLD_CHECKOUT [PROGRAM …]

Compiles the programs of the tests with every compiler, version of DWARF and kind of file, and
asks both resolvers for each instruction after a call; of each PROGRAM for 3,000 at most. Where
they differ, ``addr2line`` and ``llvm-symbolizer`` are asked for files and lines. Prints
Markdown: how many differ in what, CPU seconds and memory, and what damaged files do.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from collections import Counter
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.end_to_end.test_symbols import FOUND, build, return_addresses

Frames = dict[int, list[list[str | int | None]]]
Lines = list[tuple[str | None, int | None]]

_VERSIONS, _LEVELS = ("-gdwarf-4", "-gdwarf-5"), ("-O0", "-O2", "-O3 -flto")
_KINDS = ("", "-no-pie", "-shared -fPIC", "stripped")
_MOST_CALLS, _DAMAGES, _SHOWN = 3000, 200, 3
_ASK = """
import json, os, resource, sys, time
from pathlib import Path
from burstline.record.symbols.resolution import Resolver
program, offsets = json.load(sys.stdin)
begun, resolver = time.process_time(), Resolver()
frames = resolver.resolve(program, offsets)
reasons = [problem.reason for problem in resolver.problems]
cpu = time.process_time() - begun
children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
states = [Path("/proc", name, "status").read_text() for name in ("self", *children)]
memory = max(int(state.partition("VmHWM:")[2].split()[0]) for state in states)
del resolver
used = resource.getrusage(resource.RUSAGE_CHILDREN)
cpu += used.ru_utime + used.ru_stime
print(json.dumps([list(frames.items()), reasons, cpu, memory >> 10]))
"""


class Answer(NamedTuple):
    """What a resolver says of a program."""

    frames: Frames
    reasons: list[str]
    cpu_s: float
    memory_mib: int


def ask(checkout: Path, program: Path, offsets: list[int]) -> Answer:
    """Ask the resolver of a checkout, in a process of its own."""
    done = subprocess.run(  # noqa: S603 -- our own programs
        [sys.executable, "-P", "-c", _ASK],
        input=json.dumps([str(program), offsets]),
        env=os.environ | {"PYTHONPATH": str(checkout / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    frames, *rest = json.loads(done.stdout)
    return Answer(dict(frames), *rest)


def judged(command: list[str], program: Path, offset: int) -> Lines:
    """Files and lines that another program names for a return address."""
    done = subprocess.run(  # noqa: S603 -- as above
        [*command, "-e", str(program), hex(offset - 1)],
        capture_output=True,
        text=True,
        check=True,
    )
    pattern = r"(?:.*/)?(.+?):(\d+)(?::\d+)?(?: \(discriminator \d+\))?"
    places = [re.fullmatch(pattern, line) for line in done.stdout.splitlines()]
    return [(place[1], int(place[2])) for place in places if place and place[2] != "0"]


JUDGES = (["addr2line", "-i"], ["llvm-symbolizer", "--functions=none", "--inlines"])


def difference(program: Path, offset: int, old: Answer, new: Answer) -> str:
    """In what two resolvers differ over an address, and who is with the new one."""
    before, after = old.frames[offset], new.frames[offset]
    if before == after:
        return "equal"
    lines = [[(f[1], f[2]) for f in frames if f[2]] for frames in (before, after)]
    if lines[0] == lines[1]:
        return "names"
    said = [judged(judge, program, offset) for judge in JUDGES]
    for which, mine in (("new", lines[1]), ("old", lines[0])):
        if all(mine == theirs for theirs in said):
            return f"lines, others say what the {which} one says"
    return "lines, others say something else"


def programs(folder: Path) -> list[tuple[str, Path, list[int]]]:
    """Compiled programs, each with what it is called and the addresses after its calls."""
    built = []
    for compiler, version, level, kind in product(FOUND, _VERSIONS, _LEVELS, _KINDS):
        flags = f"-g {version} {level} {kind.replace('stripped', '')}"
        (place := folder / str(len(built))).mkdir()
        program, calls = build(place, compiler, flags)
        if kind == "stripped":
            apart = place / "program.debug"
            for words in (
                ["--only-keep-debug", program, apart],
                ["--strip-all", f"--add-gnu-debuglink={apart}", program],
            ):
                subprocess.run(["objcopy", *words], check=True)  # noqa: S603, S607 -- as above
        built.append((compiler, program, calls))
    return built


def damaged(whole: bytes, dice: random.Random) -> bytes:
    """A program with some bytes changed, cut short or empty."""
    content = bytearray(whole)
    for _ in range(dice.choice([1, 10, 200])):
        content[dice.randrange(len(whole))] = dice.choice([0, 1, 0x7F, 0x80, 0xFF])
    return bytes(content[: dice.choice([len(whole), dice.randrange(len(whole)), 0])])


def main() -> None:
    """Compare what both say of all programs."""
    checkouts = Path(sys.argv[1]), Path(__file__).parents[2]
    dice = random.Random(4)  # noqa: S311 -- repeatable, not secret
    counts: dict[str, Counter[str]] = {}
    costs: dict[str, list[float]] = {}
    examples: dict[str, list[object]] = {}
    with TemporaryDirectory() as folder:
        all_programs = programs(Path(folder))
        for path in map(Path, sys.argv[2:]):
            calls = return_addresses(path)
            calls = sorted(dice.sample(calls, min(len(calls), _MOST_CALLS)))
            all_programs.append((path.name, path, calls))
        for name, program, calls in all_programs:
            old, new = (ask(checkout, program, calls) for checkout in checkouts)
            count = counts.setdefault(name, Counter())
            for offset in calls:
                kind = difference(program, offset, old, new)
                count[kind] += 1
                if kind != "equal":
                    example = (name, hex(offset), old.frames[offset], new.frames[offset])
                    examples.setdefault(kind, []).append(example)
            cost = costs.setdefault(name, [0, 0, 0, 0])
            for side, answer in enumerate((old, new)):
                cost[side] += answer.cpu_s
                cost[2 + side] = max(cost[2 + side], answer.memory_mib)
        kinds = sorted({kind for count in counts.values() for kind in count})
        print("| program |", " | ".join(kinds), "| CPU s, old | new | MiB, old | new |")
        print("|---|" + "--:|" * (len(kinds) + 4))
        for name, count in counts.items():
            numbers = [*(f"{count[kind]:,}" for kind in kinds)]
            seconds, memory = costs[name][:2], costs[name][2:]
            numbers += [*(f"{each:.2f}" for each in seconds), *map(str, memory)]
            print(f"| {name} |", " | ".join(numbers), "|")
        for kind, rows in examples.items():
            print(f"\n{kind}:\n", *(f"- {row}\n" for row in rows[:_SHOWN]))
        _, program, calls = next(each for each in all_programs if each[0] == "g++")
        whole, outcomes, slowest = program.read_bytes(), Counter[str](), 0.0
        for _ in range(_DAMAGES):
            program.write_bytes(damaged(whole, dice))
            answer = ask(checkouts[1], program, calls)
            outcomes.update(answer.reasons or ["nothing is said"])
            slowest = max(slowest, answer.cpu_s)
        print(f"\n{_DAMAGES} damaged files, at most {slowest:.2f} CPU s each:\n")
        for reason, number in outcomes.most_common():
            print(f"- {number}: {reason}")


if __name__ == "__main__":
    main()
