"""The states of Extrae: one fixed table of names and colours."""

from __future__ import annotations

from typing import Final

_TABLE = """
0|Idle|117,195,255
1|Running|0,0,255
2|Not created|255,255,255
3|Waiting a message|255,0,0
4|Blocking Send|255,0,174
5|Synchronization|179,0,0
6|Test/Probe|0,255,0
7|Scheduling and Fork/Join|255,255,0
8|Wait/WaitAll|235,0,0
9|Blocked|0,162,0
10|Immediate Send|255,0,255
11|Immediate Receive|100,100,177
12|I/O|172,174,41
13|Group Communication|255,144,26
14|Tracing Disabled|2,255,177
15|Others|192,224,0
16|Send Receive|66,66,66
17|Memory transfer|255,0,96
18|Profiling|169,169,169
19|On-line analysis|169,0,0
20|Remote memory access|0,109,255
21|Atomic memory operation|200,61,68
22|Memory ordering operation|200,66,0
23|Distributed locking|0,41,0
24|Overhead|139,121,177
25|One-sided op|116,116,116
26|Startup latency|200,50,89
27|Waiting links|255,171,98
28|Data copy|0,68,189
29|RTT|52,43,0
30|Allocating memory|255,46,0
31|Freeing memory|100,216,32
32|Configuring accelerator|118,185,0
33|Stream Registration|80,185,160
"""

IDLE: Final = 0
RUNNING: Final = 1
NOT_CREATED: Final = 2
RECEIVING: Final = 3
SENDING: Final = 4
SYNCHRONISATION: Final = 5
PROBING: Final = 6
FORK_JOIN: Final = 7
COMPLETING: Final = 8
IMMEDIATE_SEND: Final = 10
IMMEDIATE_RECEIVE: Final = 11
FILE_ACCESS: Final = 12
COLLECTIVE: Final = 13
TRACING_DISABLED: Final = 14
OTHERS: Final = 15
SEND_RECEIVE: Final = 16
MEMORY_TRANSFER: Final = 17


def _rows() -> list[tuple[int, str, tuple[int, int, int]]]:
    rows = []
    for line in _TABLE.split("\n"):
        if line:
            state, label, color = line.split("|")
            red, green, blue = map(int, color.split(","))
            rows.append((int(state), label, (red, green, blue)))
    return rows


STATES: Final = {state: label for state, label, _ in _rows()}
"""Names of states; Extrae never writes 0."""

STATE_COLORS: Final = {state: color for state, _, color in _rows()}
"""Red, green and blue of each state, from 0 to 255."""
