/* Two processes start two more, and speak with them across the intercommunicator. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, value = 0;
    MPI_Comm others, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&others);
    const int is_child = others != MPI_COMM_NULL;
    if (!is_child)
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others,
                       MPI_ERRCODES_IGNORE);
    MPI_Sendrecv(&rank, 1, MPI_INT, rank, 3, &value, 1, MPI_INT, rank, 3, others,
                 MPI_STATUS_IGNORE);
    MPI_Intercomm_merge(others, is_child, &all);
    MPI_Barrier(all);
    MPI_Sendrecv(&rank, 1, MPI_INT, rank, 4, &value, 1, MPI_INT, rank, 4, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&others);
    MPI_Finalize();
    puts("done");
    return 0;
}
