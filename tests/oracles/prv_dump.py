"""What a .prv says, whatever the order of its lines: if you doubt the writer, read this.

States as a multiset, events by thread in order, communications and communicators as
multisets. Splits each line at its colons and knows nothing else of the package.
"""

from __future__ import annotations

import gzip
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple


class Dump(NamedTuple):
    states: Counter
    events: dict[tuple[int, ...], list[tuple[int, int, int]]]
    communications: Counter
    communicators: Counter
    comments: list[str]


def lines(path: Path) -> list[str]:
    packed = path.read_bytes()
    data = gzip.decompress(packed) if packed[:2] == b"\x1f\x8b" else packed
    return data.decode("utf-8", "replace").split("\n")[1:]


def dump(path: Path) -> Dump:
    """Read a .prv or .prv.gz whole."""
    found = Dump(Counter(), defaultdict(list), Counter(), Counter(), [])
    for line in lines(path):
        kind, _, rest = line.partition(":")
        if kind in {"c", "i"}:
            found.communicators[line] += 1
        elif line.startswith("#"):
            found.comments.append(line)
        elif kind == "1":
            found.states[tuple(map(int, rest.split(":")))] += 1
        elif kind == "2":
            _, *thread, time = map(int, rest.split(":")[:5])
            pairs = [int(number) for number in rest.split(":")[5:]]
            found.events[tuple(thread)] += [
                (time, pairs[k], pairs[k + 1]) for k in range(0, len(pairs), 2)
            ]
        elif kind == "3":
            *fields, tag = map(int, rest.split(":"))
            found.communications[*fields, tag % 2**32] += 1
    for events in found.events.values():
        events.sort(key=lambda event: event[0])
    return found


if __name__ == "__main__":
    one, other = (dump(Path(name)) for name in sys.argv[1:3])
    differ = [name for name in Dump._fields if getattr(one, name) != getattr(other, name)]
    sys.exit(f"differ in {', '.join(differ)}" if differ else 0)
