"""The programs drawn at random whose readings are longest beside what was written, as a page.

::

    python tests/longest_readings.py > docs/results/longest-readings.md
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace

from burstline.show.code_lines import pseudocode
from burstline.structure import Structure, description_length, detect
from loop_programs import Program
from witnesses import found_in, witness

FAR = 1.3


@dataclass(frozen=True)
class Reading:
    """A program, as it was written and as it was read."""

    seed: int
    written: Structure
    read: Structure
    # of its shortest form, where no reading is better: how many are there, of how many
    rules: tuple[int, int]
    trips: tuple[int, int]

    @classmethod
    def of(cls, seed, *, paths):
        program = Program(seed)
        read = detect(program.trace(paths=paths), method="exact")
        shortest = witness(program, paths=paths, peeled=True, without_lists=True)
        rules, trips = found_in(shortest, read.items, by_part=True)
        written = replace(read, items=witness(program, paths=paths))
        return cls(seed, written, read, rules, trips)

    @property
    def lengths(self):
        return description_length(self.written.items), description_length(self.read.items)

    @property
    def ratio(self):
        written, read = self.lengths
        return read / written


def listing(structure):
    """Give the pseudo-code with the line of each call, but for what is around the program."""
    lines = pseudocode(structure)[1:-1]
    texts = ["  " * each.depth + text_of(each) for each in lines]
    width = max(map(len, texts))
    numbers = [each.line for each in lines]
    return [f"{a:<{width}}  {b}".rstrip() for a, b in zip(texts, numbers, strict=True)]


def text_of(line):
    """Give what a line says of the program: calls are written without partners."""
    return f"{line.item.operation}()" if line.kind == "call" else line.text.partition("  #")[0]


def page(readings, most, *, paths):
    """Give the lines of the page: how many are longer, and the worst."""
    worst = sorted(readings, key=lambda reading: reading.ratio, reverse=True)
    longer = sum(reading.ratio > 1 for reading in readings)
    far = sum(reading.ratio > FAR for reading in readings)
    option = "" if paths else " --without-paths"
    yield "# The longest readings"
    yield ""
    yield (
        "Programs drawn at random are read from their traces, and each reading is held against "
        "the program as it was written, by its [length](../concepts/description-length.md)."
    )
    yield (
        "Here are those where it is longest beside that; every reading returns all calls in "
        "their order."
    )
    yield (
        f"`python tests/longest_readings.py{option}` prints this page; the programs are those "
        "of `tests/loop_programs.py`."
    )
    yield ""
    yield (
        f"Of {len(readings)} programs {'with' if paths else 'without'} call paths "
        f"{len(readings) - longer} are read no longer than they were written, "
        f"and {far} longer by more than {FAR - 1:.0%}."
    )
    rules, trips = (
        [*zip(*each, strict=True)]
        for each in (
            [reading.rules for reading in readings],
            [reading.trips for reading in readings],
        )
    )
    yield ""
    yield (
        f"Of {sum(rules[1])} rules in their shortest forms {sum(rules[0])} are printed, and of "
        f"{sum(trips[1])} constant trip counts {sum(trips[0])} found; parts are left out that "
        "are read better yet, in other forms: shorter, with less left open, or by plainer "
        "conditions."
    )
    for reading in worst[:most]:
        written, read = reading.lengths
        yield ""
        yield f"## Program {reading.seed}: {read} for {written}"
        for title, structure in (
            (f"As it was written, length {written}:", reading.written),
            (f"As it is read, length {read}:", reading.read),
        ):
            yield from ("", title, "", "```text", *listing(structure), "```")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=300, help="how many, from seed 0")
    parser.add_argument("--most", type=int, default=10, help="how many to print")
    parser.add_argument("--without-paths", action="store_true", help="traces without them")
    asked = parser.parse_args()
    paths = not asked.without_paths
    all_of_them = [Reading.of(seed, paths=paths) for seed in range(asked.programs)]
    print("\n".join(page(all_of_them, asked.most, paths=paths)))
