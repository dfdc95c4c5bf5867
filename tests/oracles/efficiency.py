"""If you doubt the fold, read its twin: it colours every nanosecond of every rank."""

from fractions import Fraction


def factors(spans, calls, gaps):
    """Give (parallel, load balance, communication) as fractions, or None.

    `spans` holds (born, died) per rank, `calls` a list of (operation, enter, leave) per
    rank, `gaps` a list of (start, end) per rank.
    """
    useful, observed = [], []
    for (born, died), story, unwatched in zip(spans, calls, gaps, strict=True):
        begin = max([born, *(leave for name, _, leave in story if name == "Init")])
        end = min([died, *(enter for name, enter, _ in story if name == "Finalize")])
        watched = set(range(begin, end))
        for start, stop in unwatched:
            watched -= set(range(start, stop))
        observed.append(len(watched))
        for _, enter, leave in story:
            watched -= set(range(enter, leave))
        useful.append(len(watched))
    runtime, most = max(observed), max(useful)
    if not any(calls) or not runtime:
        return None
    mean = Fraction(sum(useful), len(useful))
    balance = mean / most if most else Fraction(1)
    return mean / runtime, balance, Fraction(most, runtime)
