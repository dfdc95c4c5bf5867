/* steps.c -- Steps of computation, an exchange and a sum: steps STEPS TICKS [SWAP]
 * With SWAP the sum comes first from that step on: other calls than those of a base run. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double compute(long ticks) {
    volatile double sum = 1;
    for (long i = 0; i < ticks; ++i) sum = sum * 0.999 + 1;
    return sum;
}

static void exchange(int rank, int size, double sent) {
    double received;
    MPI_Request pair[2];
    MPI_Irecv(&received, 1, MPI_DOUBLE, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &pair[0]);
    MPI_Isend(&sent, 1, MPI_DOUBLE, (rank + 1) % size, 1, MPI_COMM_WORLD, &pair[1]);
    MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    const int steps = atoi(argv[1]), swap = argc > 3 ? atoi(argv[3]) : steps;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("rank %d begins\n", rank);
    double sum = 0, all = 0;
    for (int step = 0; step < steps; ++step) {
        sum += compute(atol(argv[2]));
        if (step < swap) exchange(rank, size, sum);
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (step >= swap) exchange(rank, size, sum);
    }
    printf("rank %d ends with %g\n", rank, all);
    MPI_Finalize();
    return 0;
}
