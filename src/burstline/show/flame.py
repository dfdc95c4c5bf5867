"""What ``burstline flame`` shows: time by call path, for people and for viewers of profiles."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from burstline.errors import printable
from burstline.show.views import Rows, TablesView
from burstline.timeline import KINDS, Flame

_SCHEMA: Final = "https://www.speedscope.app/file-format-schema.json"
_COLUMNS: Final = ("path", "file", "line", "computing_ns", "waiting_ns", "transferring_ns")


@dataclass(frozen=True, slots=True, eq=False)
class FlameView(TablesView):
    """Times by call path: the tree of large ones for people, all of them for programs."""

    result: Flame

    def rows(self) -> Rows:
        """A row for each call path that time is spent in, as flame graphs are folded."""
        stacks = self.result.stacks()
        return _COLUMNS, [[";".join(each.pop("path")), *each.values()] for each in stacks]


def speedscope(flame: Flame, name: str) -> bytes:
    """A flame graph as speedscope and the Firefox Profiler read it [1]_.

    Below each function is what it spends itself, as a frame such as ``[late sender]``, but for
    computing.

    .. [1] https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources
    """
    frames: list[dict[str, Any]] = [
        {"name": printable(frame.function)}
        | ({} if frame.file is None else {"file": printable(frame.file)})
        | ({} if frame.line is None else {"line": frame.line})
        for frame in flame.frames
    ]
    first_kind = len(frames)
    frames += [{"name": f"[{kind.replace('_', ' ')}]"} for kind in KINDS]
    events = [*_opened_and_closed(flame, first_kind)]
    profile = {
        "type": "evented", "name": "all threads", "unit": "nanoseconds", "startValue": 0,
        "endValue": int(flame.times_ns.sum()), "events": events,
    }  # fmt: skip
    document = {
        "$schema": _SCHEMA, "exporter": "burstline", "name": printable(name),
        "activeProfileIndex": 0, "shared": {"frames": frames}, "profiles": [profile],
    }  # fmt: skip
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")


def _opened_and_closed(flame: Flame, first_kind: int) -> Iterator[dict[str, Any]]:
    """Frames as if each were called once: where each begins and ends, in ns."""
    below: dict[int, list[int]] = {}
    for row, frame in enumerate(flame.frames[1:], start=1):
        below.setdefault(frame.parent, []).append(row)
    at, waiting = 0, [(row, True) for row in below.get(0, [])[::-1]]
    times = flame.times_ns.tolist()
    while waiting:
        row, begins = waiting.pop()
        if not begins:
            yield {"type": "C", "frame": row, "at": at}
            continue
        yield {"type": "O", "frame": row, "at": at}
        for kind, time in enumerate(times[row]):
            if time and kind:
                yield {"type": "O", "frame": first_kind + kind, "at": at}
                yield {"type": "C", "frame": first_kind + kind, "at": at + time}
            at += time
        waiting.append((row, False))
        waiting += [(each, True) for each in below.get(row, [])[::-1]]
