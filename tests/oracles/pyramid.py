"""Time by kind in columns, nanosecond by nanosecond."""

from __future__ import annotations


def levels(pieces, first_ns, width_ns, columns, kinds):
    """By level, column and kind; `pieces` of one location: start, end and kind."""
    last_ns = first_ns + columns * width_ns  # of coarse columns, too, though they reach further
    made = []
    while True:
        level = [[0] * kinds for _ in range(columns)]
        for start, end, kind in pieces:
            for moment in range(start, end):
                if first_ns <= moment < last_ns:
                    level[(moment - first_ns) // width_ns][kind] += 1
        made.append(level)
        if columns == 1:
            return made
        columns, width_ns = (columns + 1) // 2, 2 * width_ns
