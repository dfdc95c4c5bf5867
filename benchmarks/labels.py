"""What stands around the lines of a generated trace: its header, .pcf and .row."""

from __future__ import annotations

from typing import Final

RANKS_PER_NODE: Final = 64

_FUNCTIONS: Final = {
    2: "exchange_halo [exchange_halo(Grid&)]",
    3: "residual [residual(Grid const&)]",
    4: "iterate [iterate(Grid&, int)]",
    5: "main",
    6: "__libc_start_main",
}
_LINES: Final = {
    2: ("halo.cc", 31),
    3: ("halo.cc", 38),
    4: ("halo.cc", 45),
    5: ("residual.cc", 17),
    6: ("solver.cc", 88),
    7: ("solver.cc", 93),
    8: ("main.cc", 52),
    9: ("libc-start.c", 360),
}
_PCF_HEAD: Final = """\
DEFAULT_OPTIONS

LEVEL               THREAD
UNITS               NANOSEC
LOOK_BACK           100
SPEED               1
FLAG_ICONS          ENABLED
NUM_OF_STATE_COLORS 1000
YMAX_SCALE          37


DEFAULT_SEMANTIC

THREAD_FUNC          State As Is


STATES
0    Idle
1    Running
2    Not created
8    Wait/WaitAll
10    Immediate Send
11    Immediate Receive
12    I/O
13    Group Communication
15    Others


EVENT_TYPE
9   50000001    MPI Point-to-point
VALUES
4   MPI_Irecv
3   MPI_Isend
6   MPI_Waitall
0   Outside MPI


EVENT_TYPE
9   50000002    MPI Collective Comm
VALUES
10   MPI_Allreduce
0   Outside MPI


EVENT_TYPE
9   50000003    MPI Other
VALUES
32   MPI_Finalize
31   MPI_Init
0   Outside MPI


EVENT_TYPE
1    50100001    Send Size in MPI Global OP
1    50100002    Recv Size in MPI Global OP
1    50100003    Root in MPI Global OP
1    50100004    Communicator in MPI Global OP


EVENT_TYPE
6    40000001    Application
VALUES
0      End
1      Begin


EVENT_TYPE
6    40000003    Flushing Traces
VALUES
0      End
1      Begin


EVENT_TYPE
6    40000018    Tracing mode:
VALUES
1      Detailed
2      CPU Bursts


EVENT_TYPE
6    40000033    Executing CPU
6    40000050    RAW clock() value from system
6    40000133    CPU-Event sampling interval


EVENT_TYPE
7  42000050 PAPI_TOT_INS [Instr completed]
7  42000059 PAPI_TOT_CYC [Total cycles]
7  42000002 PAPI_L2_DCM [L2D cache misses]
7  41999999 Active hardware counter set
"""


def header(ranks: int, duration_ns: int) -> str:
    """Header line and communicators: all ranks, and each rank alone."""
    nodes = [min(RANKS_PER_NODE, ranks - start) for start in range(0, ranks, RANKS_PER_NODE)]
    cpus = ",".join(map(str, nodes))
    tasks = ",".join(f"1:{rank // RANKS_PER_NODE + 1}" for rank in range(ranks))
    world = ":".join(map(str, range(1, ranks + 1)))
    first = (
        f"#Paraver (01/01/2024 at 12:00):{duration_ns}_ns:{len(nodes)}({cpus})"
        f":1:{ranks}({tasks}),{ranks + 1}"
    )
    lines = [
        first,
        f"c:1:1:{ranks}:{world}",
        *(f"c:1:{rank + 2}:1:{rank + 1}" for rank in range(ranks)),
    ]
    return "\n".join(lines) + "\n"


def pcf() -> str:
    """Labels of everything the generated lines name."""
    levels = range(1, 5)
    functions = "".join(
        f"0    {70000000 + level}    Caller at level {level}\n" for level in levels
    )
    lines = "".join(
        f"0    {80000000 + level}    Caller line at level {level}\n" for level in levels
    )
    names = "".join(f"{number} {name}\n" for number, name in _FUNCTIONS.items())
    places = "".join(
        f"{number} {file}:{line} [/src/ring/{file}:{line}, /src/ring/ring]\n"
        for number, (file, line) in _LINES.items()
    )
    return (
        f"{_PCF_HEAD}\n\nEVENT_TYPE\n{functions}VALUES\n0 End\n1 ??\n{names}"
        f"\n\nEVENT_TYPE\n{lines}VALUES\n0 End\n1 ??:0\n{places}"
    )


def row(ranks: int) -> str:
    """Names of processors, nodes and threads."""
    nodes = -(-ranks // RANKS_PER_NODE)
    cpus = [f"{rank + 1}.node{rank // RANKS_PER_NODE + 1:04d}" for rank in range(ranks)]
    return "\n".join(
        [
            f"LEVEL CPU SIZE {ranks}",
            *cpus,
            "",
            f"LEVEL NODE SIZE {nodes}",
            *(f"node{node + 1:04d}" for node in range(nodes)),
            "",
            f"LEVEL THREAD SIZE {ranks}",
            *(f"THREAD 1.{rank + 1}.1" for rank in range(ranks)),
            "",
        ]
    )
