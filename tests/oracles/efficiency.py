"""If you doubt the fold, read its twin: it colours every nanosecond of every rank."""

from fractions import Fraction


def waiting(length, unwatched, polls, polling, measured, *, bound):
    """Give how long a burst waits in failed polls: n of them part it into n + 1 stretches."""
    watched = max(length - unwatched, 0)
    if measured is not None:
        return max(min(measured, watched), 0)
    if polls > 0 and Fraction(watched, polls + 1) < bound:
        return watched
    return max(min(polling, watched), 0)


def factors_of_trace(lives, running):
    """Give the same of a whole trace, of intervals in the state Running, as BasicAnalysis."""
    useful = [sum(max(end - begin, 0) for begin, end in of_rank) for of_rank in running]
    duration = max(died for _, died in lives) - min(born for born, _ in lives)
    mean, most = Fraction(sum(useful), len(useful)), max(useful)
    return mean / duration, mean / most if most else Fraction(1), Fraction(most, duration)


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
