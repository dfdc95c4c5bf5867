"""Small programs whose every event is known, told once, in the text form.

::

    Story.text ─ trace_of ─► Trace ─ burstline.write ─► .prv, .store, OTF2, tables, text
                                   └ raw_files.run_of ─► files as a recorder leaves them

Every format reads each of them as the same trace: see ``tests/formats/test_conformance.py``.
What happens in a call happens when it is entered or left, as not every format times it.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import burstline
from burstline import Trace
from burstline.testing import trace_of
from raw_files import run_of

FORMATS = ("txt", "prv", "prv.gz", "store", "csv", "parquet", "otf2", "raw")


_parsed = lru_cache(maxsize=1)(trace_of)  # asked for again and again while it is written


class Story(NamedTuple):
    """A program that ran: what of it a test may refer to, and what happened."""

    name: str
    text: str

    @property
    def trace(self) -> Trace:
        """The trace as the text tells it."""
        return _parsed(self.text)

    def write(self, folder: Path, form: str) -> Path:
        """Write the trace into a folder in one of the formats."""
        if form == "raw":
            place = folder / self.name
            place.mkdir()
            return run_of(self.trace).write(place)
        place = folder / f"{self.name}.{form}"
        if form == "txt":
            place.write_text(self.text, encoding="utf-8")
        else:
            burstline.write(self.trace, place)
        return place

    def read(self, folder: Path, form: str) -> Trace:
        """The trace, written into a folder in one of the formats, and read again."""
        if form == "raw":  # files of Python number their operations themselves
            place = folder / self.name
            place.mkdir()
            return run_of(self.trace).read(place)
        return burstline.read(self.write(folder, form))


def _loop(turns):
    """Tell of two ranks that exchange and reduce, turn for turn."""
    lines = ["ranks 2", "path 0 main file ring.c line 9", "path 1 main file ring.c line 12"]
    for rank in range(2):
        what, lines = f"{1 - rank} tag 1 bytes 8", [*lines, str(rank)]
        for now in range(0, 100 * turns, 100):
            lines += [
                f"{now} enter MPI_Sendrecv path 0",
                f"{now} send to {what}",
                f"{now + 20} receive from {what} | {now + 20} leave",
                f"{now + 60} enter MPI_Allreduce path 1 | {now + 60} begin",
                f"{now + 70} end sent 8 received 8 | {now + 70} leave",
            ]
    return "\n".join(lines)


STORIES = (
    Story(
        "blocking",
        """
ranks 2
0 | 0 enter MPI_Init | 10 leave | 20 enter MPI_Send | 20 send to 1 tag 7 bytes 64 | 30 leave
  | 55 enter MPI_Recv | 58 receive from 1 tag 8 bytes 4 | 58 leave
  | 90 enter MPI_Finalize | 100 leave
1 | 0 enter MPI_Init | 10 leave | 15 enter MPI_Recv
  | 45 receive from 0 tag 7 bytes 64 | 45 leave
  | 48 enter MPI_Send | 48 send to 0 tag 8 bytes 4 | 52 leave
  | 90 enter MPI_Finalize | 100 leave
""",
    ),
    Story(
        "requests",
        """
ranks 2
0 | 0 enter MPI_Isend | 0 send to 1 tag 1 bytes 8 request 1 | 2 leave
  | 5 enter MPI_Irecv | 5 post request 2 | 7 leave
  | 20 enter MPI_Waitall | 40 sent request 1
  | 40 receive from 1 tag 2 bytes 16 request 2 | 40 leave
1 | 1 enter MPI_Irecv | 1 post request 1 | 3 leave
  | 6 enter MPI_Isend | 6 send to 0 tag 2 bytes 16 request 2 | 8 leave
  | 10 enter MPI_Wait | 30 receive from 0 tag 1 bytes 8 request 1 | 30 leave
  | 31 enter MPI_Wait | 35 sent request 2 | 35 leave
""",
    ),
    Story(
        "wildcard",
        """
ranks 3
0 | 5 enter MPI_Recv | 20 receive from 2 tag 9 bytes 8 | 20 leave
  | 25 enter MPI_Recv | 30 receive from 1 tag 4 bytes 8 | 30 leave
1 | 10 enter MPI_Send | 10 send to 0 tag 4 bytes 8 | 15 leave
2 | 10 enter MPI_Send | 10 send to 0 tag 9 bytes 8 | 12 leave
""",
    ),
    Story(
        "collectives",
        """
ranks 3
0 | 0 enter MPI_Barrier | 0 begin | 20 end sent 0 received 0 | 20 leave
  | 30 enter MPI_Bcast | 30 begin | 35 end root 1 sent 0 received 8 | 35 leave
  | 50 enter MPI_Allreduce | 50 begin | 60 end sent 4 received 4 | 60 leave
1 | 5 enter MPI_Barrier | 5 begin | 21 end sent 0 received 0 | 21 leave
  | 28 enter MPI_Bcast | 28 begin | 33 end root 1 sent 8 received 0 | 33 leave
  | 50 enter MPI_Allreduce | 50 begin | 61 end sent 4 received 4 | 61 leave
2 | 20 enter MPI_Barrier | 20 begin | 22 end sent 0 received 0 | 22 leave
  | 29 enter MPI_Bcast | 29 begin | 36 end root 1 sent 0 received 8 | 36 leave
  | 51 enter MPI_Allreduce | 51 begin | 62 end sent 4 received 4 | 62 leave
""",
    ),
    Story(
        "split",
        """
ranks 4
communicator 0 members 0 1 2 3 kind world
communicator 1 members 2 0 kind group
communicator 2 members 1 3 kind group
communicator 3 members 3 kind group
0 | 0 enter MPI_Barrier | 0 begin | 9 end comm 1 | 9 leave
  | 20 enter MPI_Barrier | 20 begin | 30 end | 30 leave
1 | 1 enter MPI_Barrier | 1 begin | 8 end comm 2 | 8 leave
  | 20 enter MPI_Barrier | 20 begin | 30 end | 30 leave
2 | 2 enter MPI_Barrier | 2 begin | 9 end comm 1 | 9 leave
  | 21 enter MPI_Barrier | 21 begin | 30 end | 30 leave
3 | 3 enter MPI_Barrier | 3 begin | 8 end comm 2 | 8 leave
  | 22 enter MPI_Barrier | 22 begin | 30 end | 30 leave
""",
    ),
    Story(
        "in_background",
        """
ranks 2
0 | 0 enter MPI_Iallreduce | 0 begin request 5 | 2 leave
  | 20 enter MPI_Wait | 30 end request 5 sent 8 received 8 | 30 leave
1 | 1 enter MPI_Iallreduce | 1 begin request 5 | 4 leave
  | 10 enter MPI_Wait | 29 end request 5 sent 8 received 8 | 29 leave
""",
    ),
    Story(
        "one_sided",
        """
ranks 2
0 | 0 enter MPI_Win_fence | 3 leave | 5 enter MPI_Put peer 1 sent 24 | 6 leave
  | 7 enter MPI_Get peer 1 received 16 | 9 leave | 10 enter MPI_Win_fence | 13 leave
1 | 0 enter MPI_Win_fence | 3 leave | 10 enter MPI_Win_fence | 13 leave
""",
    ),
    Story(
        "probe",
        """
ranks 2
0 | 0 enter MPI_Send | 0 send to 1 tag 3 bytes 40 | 5 leave
1 | 0 enter MPI_Probe peer 0 tag 3 | 4 leave
  | 6 enter MPI_Recv | 9 receive from 0 tag 3 bytes 40 | 9 leave
""",
    ),
    Story(
        "halves",
        """
ranks 2
0 | 0 enter MPI_Send | 0 send to 1 tag 3 bytes 40 | 5 leave
  | 10 enter MPI_Send | 10 send to 1 tag 4 bytes 8 | 12 leave
1 | 7 enter MPI_Recv | 15 receive from 0 tag 4 bytes 8 | 15 leave
  | 20 enter MPI_Recv | 25 receive from 0 tag 9 bytes 16 | 25 leave
  | 30 enter MPI_Irecv | 30 post request 1 | 32 leave
""",
    ),
    Story(
        "gaps",
        """
ranks 2
0 | 0 enter MPI_Init | 5 leave | 10..30 gap flush | 40 enter MPI_Barrier | 40 begin | 50 end
  | 50 leave | 60 enter MPI_Finalize | 65 leave
1 | 0 enter MPI_Init | 5 leave | 38 enter MPI_Barrier | 38 begin | 50 end
  | 50 leave | 60 enter MPI_Finalize | 65 leave
""",
    ),
    Story(
        "counters",
        """
ranks 2
counter PAPI_TOT_INS type 42000050
counter PAPI_L1_DCM type 42000000
0 | 0 enter MPI_Init PAPI_TOT_INS=4 PAPI_L1_DCM=3 | 5 leave PAPI_TOT_INS=10 PAPI_L1_DCM=1
  | 50 enter MPI_Barrier PAPI_TOT_INS=900 PAPI_L1_DCM=33 | 50 begin | 60 end
  | 60 leave PAPI_TOT_INS=20 PAPI_L1_DCM=2
1 | 0 enter MPI_Init PAPI_TOT_INS=4 PAPI_L1_DCM=3 | 5 leave PAPI_TOT_INS=10 PAPI_L1_DCM=1
  | 40 enter MPI_Barrier PAPI_TOT_INS=700 PAPI_L1_DCM=30 | 40 begin | 61 end
  | 61 leave PAPI_TOT_INS=20 PAPI_L1_DCM=2
""",
    ),
    Story(
        "regions",
        """
ranks 1
0 | 0 enter main | 5 enter MPI_Init | 9 leave | 10 enter step | 12 enter MPI_Barrier | 12 begin
  | 14 end | 14 leave | 18 leave step | 20 enter step | 22 enter MPI_Barrier | 22 begin
  | 24 end | 24 leave | 28 leave step | 40 leave main
""",
    ),
    Story(
        "openmp",
        """
ranks 1 threads 2
region critical paradigm openmp role critical type 60004 value 30
region parallel paradigm openmp role parallel type 60002 value 1
region team paradigm openmp role team type 60002 value 2
region loop paradigm openmp role loop type 60003 value 10
region implicit_barrier paradigm openmp role implicit_barrier type 60004 value 27
0 | 0 enter MPI_Init | 5 leave | 10 fork 2 | 10 enter parallel | 11 team begin 2
  | 12 enter loop iterations 6 | 20 leave | 20 enter implicit_barrier | 24 leave
  | 25 enter critical | 26 acquire 7 | 28 release 7 | 28 leave | 33 team end 2
  | 34 leave | 34 join | 40 enter MPI_Finalize | 45 leave
0.1 | 11 team begin 2 | 13 enter loop iterations 3 | 19 leave | 19 enter implicit_barrier
  | 24 leave | 26 enter critical | 29 acquire 7 | 31 release 7 | 31 leave | 33 team end 2
""",
    ),
    Story(
        "samples",
        """
ranks 2
path 0 main file solver.c line 40
path 1 pack under 0 file solver.c line 31
path 2 solve under 0 file solver.c line 12
path 3 helper under 2
0 | 0 enter MPI_Init path 0 | 5 leave | 10 sample path 2 | 20 sample path 3 periods 3
  | 30 sample path 2 | 40 enter MPI_Barrier path 1 | 40 begin | 50 end | 50 leave
  | 55 sample path 1 | 60 enter MPI_Finalize path 0 | 65 leave
1 | 0 enter MPI_Init path 0 | 5 leave | 12 sample path 1 periods 2
  | 38 enter MPI_Barrier path 1 | 38 begin | 50 end
  | 50 leave | 60 enter MPI_Finalize path 0 | 65 leave
""",
    ),
    Story("loop", _loop(turns=5)),
)
