"""The states of Extrae: one fixed table of names, and colours from red to blue."""

from __future__ import annotations

from typing import Final

_TABLE = """
Idle 117 195 255, Running 0 0 255, Not created 255 255 255, Waiting a message 255 0 0,
Blocking Send 255 0 174, Synchronization 179 0 0, Test/Probe 0 255 0,
Scheduling and Fork/Join 255 255 0, Wait/WaitAll 235 0 0, Blocked 0 162 0,
Immediate Send 255 0 255, Immediate Receive 100 100 177, I/O 172 174 41,
Group Communication 255 144 26, Tracing Disabled 2 255 177, Others 192 224 0,
Send Receive 66 66 66, Memory transfer 255 0 96, Profiling 169 169 169,
On-line analysis 169 0 0, Remote memory access 0 109 255, Atomic memory operation 200 61 68,
Memory ordering operation 200 66 0, Distributed locking 0 41 0, Overhead 139 121 177,
One-sided op 116 116 116, Startup latency 200 50 89, Waiting links 255 171 98,
Data copy 0 68 189, RTT 52 43 0, Allocating memory 255 46 0, Freeing memory 100 216 32,
Configuring accelerator 118 185 0, Stream Registration 80 185 160
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

_ROWS = [row.rsplit(maxsplit=3) for row in _TABLE.strip().replace("\n", " ").split(", ")]

STATES: Final = {state: label for state, (label, *_) in enumerate(_ROWS)}
"""Names of states; Extrae never writes 0."""

STATE_COLORS: Final = {
    state: (int(red), int(green), int(blue))
    for state, (_, red, green, blue) in enumerate(_ROWS)
}
"""Red, green and blue of each state, from 0 to 255."""
