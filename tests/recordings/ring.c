/* A ring whose ranks compute for different times, with marks; with an argument rank 1 is killed. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "burstline.h"

static volatile double sink;
static void compute(int n) { for (int i = 0; i < n; i++) sink = sink * 1.0000001 + i; }

static void exchange(int rank, int size, int step) {
    int left, right = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Request requests[2];
    double in[64], out[64];
    memset(out, 0, sizeof out);
    MPI_Irecv(in, 64, MPI_DOUBLE, from, step, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 64, MPI_DOUBLE, right, step, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 7, &left, 1, MPI_INT, from, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    int rank, size;
    double sum, mine = 1;
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    for (int step = 0; step < 8; step++) {
        burstline_region_begin("step");
        burstline_event(1000, step);
        if (step == 3) burstline_pause();
        compute(20000 * (rank + 1));
        exchange(rank, size, step);
        if (step == 3) burstline_resume();
        if (step % 2) MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, half);
        burstline_region_end("step");
        if (argc > 1 && rank == 1 && step == 5) kill(getpid(), SIGKILL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
