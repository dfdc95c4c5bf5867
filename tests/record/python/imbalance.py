"""One rank of two works four times as long: in Python, in NumPy, or in a thread.

::

    imbalance.py python|numpy|thread [STEPS]
"""

import sys
import threading

from mpi4py import MPI

comm = MPI.COMM_WORLD
here, steps = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 15
times = 4 if comm.rank == 1 else 1


def relax_in_python():
    total = 0.0
    for k in range(250_000 * times):  # python
        total += k * 0.5  # python
    return total


def relax_in_numpy(field):
    for _ in range(times):
        field = np.sort(field)[::-1].copy()  # numpy
    return field


def relax_in_thread():
    total = 0
    for k in range(250_000 * times):  # thread
        total += k  # thread
    return total


def exchange():
    comm.Barrier()


def repeated(relax, *given):
    for _ in range(steps):
        relax(*given)
        exchange()


if here == "numpy":
    import numpy as np

    repeated(relax_in_numpy, np.random.default_rng(1).random(1_000_000))
elif here == "thread":
    thread = threading.Thread(target=repeated, args=(relax_in_thread,))
    thread.start()
    thread.join()
else:
    repeated(relax_in_python)
