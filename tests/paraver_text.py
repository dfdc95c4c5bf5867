"""A small Paraver trace as text, with every kind of record a writer must keep."""

from __future__ import annotations

HEADER = "#Paraver (01/02/2026 at 03:04):1000_ns:2(1,2):1:2(1:1,2:2),2"
LINES = """\
c:1:1:2:1:2
c:1:2:1:2
#20260102030405:FILTER:prvfilter:"/a.prv":x
1:1:1:1:1:0:100:1
2:1:1:1:1:0:40000001:1
2:2:1:2:1:0:40000001:1
2:3:1:2:2:50:40000018:1:60000019:7:60000019:9
1:1:1:1:1:100:200:4
2:1:1:1:1:100:50000001:1:42000050:120:70000001:2:80000001:3
2:2:1:2:1:150:50000001:2
2:1:1:1:1:200:50000001:0
3:1:1:1:1:100:200:2:1:2:1:150:400:64:4294967295
2:1:1:1:1:200:42000050:7:99:-5
2:3:1:2:2:300:60000019:0
2:3:1:2:2:310:60000019:0
3:3:1:2:2:320:320:3:1:2:2:330:330:12:60000000
2:2:1:2:1:400:50000001:0
2:1:1:1:1:500:50000002:10:50100001:8:50100002:8:50100004:1
2:2:1:2:1:500:50000002:10:50100001:8:50100002:8:50100004:1
2:2:1:2:1:600:50000002:0
2:1:1:1:1:610:50000002:0
1:1:1:1:1:610:-1:1
2:1:1:1:1:1000:40000001:0
2:2:1:2:1:1000:40000001:0
"""
PCF = """\
STATES
0    Idle
1    Busy

EVENT_TYPE
9    50000001    MPI Point-to-point
VALUES
0    Outside MPI
1    MPI_Send
2    MPI_Recv

EVENT_TYPE
0    70000001    Caller at level 1
VALUES
0    End
2    solve [solve(int)]

EVENT_TYPE
0    80000001    Caller line at level 1
VALUES
0    End
3    s.c:5 [/s.c:5, /a.out]
"""
ROW = """\
LEVEL CPU SIZE 3
1.one
2.two
3.two

LEVEL NODE SIZE 2
one
two

LEVEL THREAD SIZE 3
first
second
helper
"""


def write_example(folder, lines=LINES, header=HEADER, name="in.prv"):
    """Write the trace and its companions; give the path of the .prv."""
    path = folder / name
    path.write_text(f"{header}\n{lines}", encoding="utf-8")
    path.with_suffix(".pcf").write_text(PCF, encoding="utf-8")
    path.with_suffix(".row").write_text(ROW, encoding="utf-8")
    return path
