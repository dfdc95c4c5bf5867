#include "blame.h"

#include <mpi.h>

void exchange_halo(int rank, int ranks) {
    static double sent[64], received[64];
    MPI_Request requests[2];
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Irecv(received, 64, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, 64, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}
