"""Where the records of a thread are cut, against a walk record by record."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

import raw_files
from burstline.formats.intake.defects import Defects
from burstline.formats.raw.cuts import cut
from burstline.formats.raw.events.counters import Counters
from burstline.formats.raw.files.folder import open_files
from burstline.formats.raw.processes.clocks import Correction
from burstline.progress import SILENCE
from effort import examples
from oracles.raw_cuts import crossing, cuts_of

_steps = st.lists(
    st.tuples(st.sampled_from("psrewg"), st.integers(0, 4), st.integers(0, 3)), max_size=40
)


def _thread(steps):
    thread, now = raw_files.Thread(1, 0), 10
    thread.add(raw_files.record(30, a=0, b=2))
    for what, request, pause in steps:
        now += pause
        if what == "e":
            thread.add(raw_files.record(51, a=request, time=now))
            continue
        if what == "g":
            thread.add(raw_files.record(70, time=now, b=now - 1))
            continue
        detail = {
            "p": raw_files.post(1, request=request),
            "s": raw_files.send(1, request=request),
            "r": raw_files.receive(1, request=request),
            "w": raw_files.sent(request),
        }[what]
        thread.call("MPI_Waitall", now, now + 1, detail)
        now += 1
    return thread


@example([("p", 0, 1), ("r", 0, 1)], 1)  # without a request nothing goes on across the cut
@examples(0.8)
@given(_steps, st.integers(1, 30))
def test_cuts_are_those_of_a_walk_record_by_record(steps, most):
    thread = _thread(steps)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / thread.name
        path.write_bytes(thread.content)
        (file,) = open_files(Path(name), Defects(), SILENCE)
        found = cut(file, Correction(), most, numbers={}, counters=Counters([]), places={})
        records = file.records.copy()

    expected = cuts_of(records, most)
    begins = [part.span.begin for part in found.slices]
    assert [begin.record for begin in begins] == [place for place, _, _ in expected]
    assert [(begin.record, begin.call, begin.seq) for begin in begins] == expected
    visits = [
        sorted(int(entry["number"]) for side in (part.earlier, part.later) for entry in side)
        for part in found.slices
    ]
    assert visits == crossing(records, [place for place, _, _ in expected])
