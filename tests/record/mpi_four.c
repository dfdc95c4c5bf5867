/* What MPI-4 brought, on two processes: persistent collectives, Isendrecv, partitioned messages,
 * large counts; what the recorder must say of it is in test_record_mpi.py. */
#include <mpi.h>
#include <stdio.h>

static int rank, other;
static double a[64], b[64];

static void persistent(MPI_Comm comm) {
    MPI_Request both[2];
    MPI_Bcast_init(a, 3, MPI_DOUBLE, 1, comm, MPI_INFO_NULL, &both[0]);
    MPI_Allreduce_init(a, b, 2, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &both[1]);
    for (int turn = 0; turn < 2; ++turn) {
        MPI_Startall(2, both);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    }
    MPI_Start(&both[1]);
    MPI_Wait(&both[1], MPI_STATUS_IGNORE);
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
}

static void both_ways(MPI_Comm comm) {
    MPI_Request request;
    MPI_Isendrecv(a, 4, MPI_DOUBLE, other, 4, b, 4, MPI_DOUBLE, other, 4, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isendrecv_replace(a, 5, MPI_DOUBLE, other, 5, other, 5, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void partitioned(MPI_Comm comm) {
    MPI_Request pair[2];
    int flag = 0;
    MPI_Psend_init(a, 4, 2, MPI_DOUBLE, other, 6, comm, MPI_INFO_NULL, &pair[0]);
    MPI_Precv_init(b, 4, 2, MPI_DOUBLE, other, 6, comm, MPI_INFO_NULL, &pair[1]);
    for (int turn = 0; turn < 2; ++turn) {
        MPI_Startall(2, pair);
        MPI_Pready_range(0, 2, pair[0]);
        MPI_Pready(3, pair[0]);
        for (flag = 0; !flag;) MPI_Parrived(pair[1], 0, &flag);
        MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&pair[0]);
    MPI_Request_free(&pair[1]);
}

static void large(MPI_Comm comm) {
#if MPI_VERSION >= 4
    MPI_Sendrecv_c(a, 7, MPI_DOUBLE, other, 7, b, 64, MPI_DOUBLE, other, 7, comm,
                   MPI_STATUS_IGNORE);
    MPI_Allgather_c(a, 8, MPI_DOUBLE, b, 8, MPI_DOUBLE, comm);
#else
    MPI_Sendrecv(a, 7, MPI_DOUBLE, other, 7, b, 64, MPI_DOUBLE, other, 7, comm,
                 MPI_STATUS_IGNORE);
    MPI_Allgather(a, 8, MPI_DOUBLE, b, 8, MPI_DOUBLE, comm);
#endif
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    persistent(MPI_COMM_WORLD);
    both_ways(MPI_COMM_WORLD);
    partitioned(MPI_COMM_WORLD);
    large(MPI_COMM_WORLD);
    MPI_Finalize();
    puts("done");
    return 0;
}
