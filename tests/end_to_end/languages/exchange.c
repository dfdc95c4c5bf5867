/* exchange.c -- What test_record_languages.py expects, in C. */
#include <mpi.h>

#define TURNS 4

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int right = (rank + 1) % size, left = (rank + size - 1) % size;
    double out[8] = {0}, in[8];
    int words[16] = {0};

    for (int turn = 1; turn <= TURNS; turn++) {
        MPI_Request requests[2];
        MPI_Irecv(in, turn, MPI_DOUBLE, left, 10 + turn, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, turn, MPI_DOUBLE, right, 10 + turn, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    if (rank == 0) {
        for (int to = 1; to < size; to++) MPI_Send(words, to, MPI_INT, to, 5, MPI_COMM_WORLD);
    } else {
        MPI_Recv(words, 16, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Sendrecv(words, 2, MPI_INT, left, 7, words + 4, 2, MPI_INT, right, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);

    MPI_Comm reversed; /* the last rank of the world is its first */
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Comm_rank(reversed, &rank);
    if (rank == 0) MPI_Send(out, 3, MPI_DOUBLE, size - 1, 8, reversed);
    if (rank == size - 1) {
        MPI_Recv(in, 3, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, reversed, MPI_STATUS_IGNORE);
    }
    MPI_Allreduce(out, in, 3, MPI_DOUBLE, MPI_SUM, reversed);
    MPI_Comm_free(&reversed);

    MPI_Bcast(out, 4, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    MPI_Gather(words, 2, MPI_INT, words + 4, 2, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, out, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
