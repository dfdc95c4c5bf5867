"""What test_record_languages.py expects, in Python."""

from __future__ import annotations

from array import array

from mpi4py import MPI

TURNS = 4


def main():
    world = MPI.COMM_WORLD
    rank, size = world.rank, world.size
    right, left = (rank + 1) % size, (rank + size - 1) % size
    for turn in range(1, TURNS + 1):
        out, into = array("d", bytes(8 * turn)), array("d", bytes(8 * turn))
        requests = [world.Irecv(into, left, 10 + turn), world.Isend(out, right, 10 + turn)]
        MPI.Request.Waitall(requests)
    if rank == 0:
        for to in range(1, size):
            world.Send(array("i", bytes(4 * to)), to, 5)
    else:
        world.Recv(array("i", bytes(64)), tag=5)
    world.Sendrecv(array("i", bytes(8)), left, 7, array("i", bytes(8)), right, 7)

    in_reverse = world.Split(0, -rank)
    three = array("d", bytes(24))
    if rank == size - 1:
        in_reverse.Send(three, size - 1, 8)
    if rank == 0:
        in_reverse.Recv(three)
    in_reverse.Allreduce(three, array("d", bytes(24)))
    in_reverse.Free()

    world.Bcast(array("d", bytes(32)), 1)
    world.Gather(array("i", bytes(8)), array("i", bytes(8 * size)) if rank == 0 else None)
    world.Allreduce(MPI.IN_PLACE, array("d", bytes(16)), MPI.MAX)
    world.Barrier()


if __name__ == "__main__":
    main()
