"""Python that calls C, which calls MPI or Python."""

import ctypes

from mpi4py import MPI

native = ctypes.CDLL("./native.so")


def inner():
    MPI.COMM_WORLD.Barrier()


def outer():
    native.call_back(ctypes.CFUNCTYPE(None)(inner))
    native.meet()


outer()
