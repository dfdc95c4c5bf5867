/* Rank 0 computes, rank 1 polls for a message: at once again, or with computation in between. */
#include <mpi.h>
#include <stdio.h>

static void compute(double seconds) {
    const double until = MPI_Wtime() + seconds;
    while (MPI_Wtime() < until) continue;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, value = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int kind = 0; kind < 2; ++kind) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            compute(0.3);
            MPI_Send(&value, 1, MPI_INT, 1, kind, MPI_COMM_WORLD);
            continue;
        }
        MPI_Request request;
        MPI_Irecv(&value, 1, MPI_INT, 0, kind, MPI_COMM_WORLD, &request);
        for (int done = 0; !done;) {
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            if (kind == 1) compute(0.001);
        }
    }
    MPI_Finalize();
    puts("done");
}
