"""The CPU time of a call of MPI eight functions deep, in ns: the least of some batches."""

import time

from mpi4py import MPI

BATCHES, CALLS = 20, 5_000


def calls():
    ask, times = MPI.COMM_SELF.Get_rank, []
    for _ in range(BATCHES):
        before = time.thread_time()
        for _ in range(CALLS):
            ask()
        times.append(time.thread_time() - before)
    return min(times) / CALLS * 1e9


def deep(levels):
    return calls() if levels == 0 else deep(levels - 1)


print(deep(8))
