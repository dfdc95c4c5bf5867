"""How long the structures of traces are written down, as a Markdown table.

::

    python -m experiments.structure.lengths FOLDER
    python -m experiments.structure.lengths FOLDER --save FILE     for --before
    python -m experiments.structure.lengths FOLDER --before FILE   beside another commit's

For each ``.prv.gz`` of the folder: nodes, conditions without a rule, description length, and
the trip counts of the loops that take a twentieth of the run or more. The page
``docs/results/description-length.md`` explains them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import burstline
from burstline.structure import Item, Loop, Structure, detect, walk
from burstline.structure.program.length import description_length

_LEAST_SHARE: Final = 0.05
_SUFFIX: Final = ".prv.gz"


@dataclass(frozen=True, slots=True)
class Read:
    """What one trace is read as."""

    loops: str  # those that take much of the run, with those in them in brackets
    nodes: int
    unexplained: int  # conditions without a rule
    length: int

    @classmethod
    def of(cls, found: Structure) -> Read:
        """What the table says about a structure."""
        return cls(
            loops=nest(found.items) or "none",
            nodes=found.nodes,
            unexplained=found.conditions.unexplained,
            length=description_length(found.items),
        )

    def cells(self) -> list[str]:
        """The cells of the table."""
        return [self.loops, str(self.nodes), str(self.unexplained), str(self.length)]


def nest(items: Sequence[Item]) -> str:
    """The mean trip counts of the loops that take much of the run, as ``15 (25 (2 2))``."""
    return " ".join(_of_loop(item) for item, _ in walk(items) if _is_outermost(item))


def _is_outermost(item: Item) -> bool:
    return isinstance(item, Loop) and item.parent is None and item.share >= _LEAST_SHARE


def _of_loop(loop: Loop) -> str:
    trips = f"{round(loop.iterations, 2):g}"
    inner = [
        _of_loop(item)
        for item, _ in walk(loop.items)
        if isinstance(item, Loop) and item.parent == loop.id and item.share >= _LEAST_SHARE
    ]
    return f"{trips} ({' '.join(inner)})" if inner else trips


def main() -> None:
    """Print the table, or save what is in it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="with traces, as X.prv.gz")
    parser.add_argument("--save", type=Path, help="write a file for --before, no table")
    parser.add_argument("--before", type=Path, help="what --save wrote")
    asked = parser.parse_args()
    found = {
        path.name.removesuffix(_SUFFIX): Read.of(detect(burstline.read(path, raw=False)))
        for path in sorted(asked.folder.glob(f"*{_SUFFIX}"))
    }
    if asked.save:
        rows = {name: asdict(each) for name, each in found.items()}
        asked.save.write_text(json.dumps(rows), encoding="utf-8")
        return
    columns = [found]
    if asked.before:
        rows = json.loads(asked.before.read_text(encoding="utf-8"))
        columns.insert(0, {name: Read(**row) for name, row in rows.items()})
    heads = ["loops", "nodes", "no rule", "length"]
    if len(columns) > 1:
        heads = [f"{when}{head}" for when in ("before: ", "") for head in heads]
    print("| trace |", " | ".join(heads), "|")
    print("| --- |", " | ".join("---" for _ in heads), "|")
    for name in found:
        cells = [cell for column in columns for cell in column[name].cells()]
        print(f"| {name} |", " | ".join(cells), "|")
    totals = [sum(each.length for each in column.values()) for column in columns]
    empty = ["", "", ""]
    print("| all |", " | ".join(cell for n in totals for cell in [*empty, str(n)]), "|")


if __name__ == "__main__":
    main()
