"""Labels that a terminal or a browser would obey, in one trace."""

from __future__ import annotations

OBEYED = set("\u202e\u2066\u200b\x1b\x07")


def hostile(folder, main, called):
    """Write a trace whose counters, regions and files have such names, and give its path.

    Its functions are called as the caller says.
    """
    (path := folder / "evil\u202e.txt").write_text(rf"""ranks 2 threads 1
counter "@1+1" unit "\u202e" mode delta
path 0 "{main}" file "\u202e.c" line 10
path 1 "{called}" file "\u001b[2J\u2066.c" line 11 under 0
0 | 0 enter "\u202ereg\u200b" @1+1=0 | 10 enter MPI_Send path 1 @1+1=3
  | 12 send to 1 tag 7 bytes 8 | 20 leave @1+1=4 | 30 enter "MPI_\u202eX" path 1 @1+1=9
  | 50 leave @1+1=10 | 60 leave
1 | 5 enter MPI_Recv path 1 @1+1=0 | 15 receive from 0 tag 7 bytes 8 | 25 leave @1+1=1
  | 30 enter "MPI_\u202eX" path 1 @1+1=2 | 50 leave @1+1=3
""")
    return path
