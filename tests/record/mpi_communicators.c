/* Communicators are made and freed without end: a request that outlives its own is still whole, and
 * the heap does not grow. */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>

#define TURNS 1000
#define ALLOWED 20000 /* bytes; the recorder's part alone was 64 a communicator */

int main(int argc, char **argv) {
    int rank, out = 7, in = 0;
    size_t before = 0;
    MPI_Comm first, again;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &first); /* where each has the rank of the other */
    MPI_Irecv(&in, 1, MPI_INT, rank, 5, first, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, rank, 5, first, &requests[1]);
    MPI_Comm_free(&first);
    for (int turn = 0; turn < TURNS; turn++) {
        if (turn == TURNS / 5) before = mallinfo2().uordblks;
        MPI_Comm_dup(turn % 2 ? MPI_COMM_WORLD : MPI_COMM_SELF, &again);
        MPI_Comm_free(&again);
    }
    const long grown = (long)(mallinfo2().uordblks - before);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    printf(grown <= ALLOWED && in == 7 ? "done\n" : "the heap grew by %ld\n", grown);
    MPI_Finalize();
    return 0;
}
