/* Corners of MPI on two processes, each with counts known by construction; what the recorder must
 * say of them is in test_record_mpi.py. */
#include <mpi.h>
#include <stdio.h>

static int rank, other;
static double a[64], b[64];

/* Mprobe decides what Mrecv gets: the first message, though the second is received before it. */
static void matched_messages(MPI_Comm comm) {
    MPI_Message first, third;
    MPI_Request request;
    int flag = 0;
    if (rank == 0) {
        for (int length = 1; length <= 4; ++length) MPI_Send(a, length, MPI_DOUBLE, 1, 1, comm);
    } else {
        MPI_Mprobe(0, 1, comm, &first, MPI_STATUS_IGNORE);
        MPI_Recv(b, 64, MPI_DOUBLE, 0, 1, comm, MPI_STATUS_IGNORE);
        while (!flag)
            MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &third, MPI_STATUS_IGNORE);
        MPI_Recv(b, 64, MPI_DOUBLE, 0, 1, comm, MPI_STATUS_IGNORE);
        MPI_Imrecv(b, 64, MPI_DOUBLE, &third, &request);
        MPI_Mrecv(b, 64, MPI_DOUBLE, &first, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Mprobe(MPI_PROC_NULL, 1, comm, &first, MPI_STATUS_IGNORE);
    MPI_Mrecv(b, 64, MPI_DOUBLE, &first, MPI_STATUS_IGNORE);
}

/* Inactive, null, cancelled, freed and used again. */
static void requests(MPI_Comm comm) {
    MPI_Request some[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int count, at[4], flag, left = 2;
    MPI_Waitsome(4, some, &count, at, MPI_STATUSES_IGNORE);
    MPI_Testsome(4, some, &count, at, MPI_STATUSES_IGNORE);
    MPI_Testall(4, some, &flag, MPI_STATUSES_IGNORE);
    MPI_Send_init(a, 2, MPI_DOUBLE, other, 2, comm, &some[0]);
    MPI_Recv_init(b, 64, MPI_DOUBLE, MPI_ANY_SOURCE, 2, comm, &some[2]);
    MPI_Waitsome(4, some, &count, at, MPI_STATUSES_IGNORE); /* inactive */
    for (int turn = 0; turn < 2; ++turn) {
        MPI_Start(&some[2]);
        MPI_Start(&some[0]);
        for (left = 2; left > 0; left -= count > 0 ? count : 0)
            MPI_Testsome(4, some, &count, at, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&some[0]);
    MPI_Request_free(&some[2]);
    MPI_Irecv(b, 64, MPI_DOUBLE, other, 900, comm, &some[1]);
    MPI_Cancel(&some[1]);
    MPI_Wait(&some[1], MPI_STATUS_IGNORE);
    MPI_Irecv(b, 64, MPI_DOUBLE, other, 3, comm, &some[1]);
    MPI_Isend(a, 3, MPI_DOUBLE, other, 3, comm, &some[0]);
    MPI_Request_free(&some[0]); /* complete as soon as the other has it */
    MPI_Wait(&some[1], MPI_STATUS_IGNORE);
    MPI_Isend(a, 4, MPI_DOUBLE, MPI_PROC_NULL, 4, comm, &some[0]);
    MPI_Irecv(b, 4, MPI_DOUBLE, MPI_PROC_NULL, 4, comm, &some[1]);
    MPI_Waitall(2, some, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(a, 1, MPI_DOUBLE, MPI_PROC_NULL, 4, b, 1, MPI_DOUBLE, MPI_PROC_NULL, 4, comm,
                 MPI_STATUS_IGNORE);
}

static void bytes(MPI_Comm comm) {
    int ones[2] = {1, 1}, at[2] = {0, 128}, ring = 2, periodic = 1;
    int counts[2] = {1 + rank, 1 + rank}, received[2] = {1, 2};
    MPI_Datatype types[2] = {MPI_CHAR, MPI_DOUBLE}, mine[2], absolute;
    MPI_Aint address, places[2] = {0, 128};
    MPI_Comm graph, line;
    /* to process p goes one of types[p]: this process receives one of types[rank] from each */
    mine[0] = mine[1] = types[rank];
    MPI_Alltoallw(a, ones, at, types, b, ones, at, mine, comm);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 3, MPI_DOUBLE, comm);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 5, MPI_DOUBLE, comm);
    MPI_Get_address(a, &address);
    MPI_Type_create_hindexed(1, &(int){7}, &address, MPI_DOUBLE, &absolute);
    MPI_Type_commit(&absolute);
    MPI_Bcast(MPI_BOTTOM, 1, absolute, 0, comm);
    MPI_Type_free(&absolute);
    MPI_Cart_create(comm, 1, &ring, &periodic, 0, &line);
    MPI_Neighbor_allgather(a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, line);
    MPI_Neighbor_alltoallv(a, counts, (int[]){0, 8}, MPI_DOUBLE, b,
                           (int[]){2 - rank, 2 - rank}, (int[]){0, 8}, MPI_DOUBLE, line);
    /* process 0 has an edge to 1, and none back */
    MPI_Dist_graph_create_adjacent(comm, rank, (int[]){0}, MPI_UNWEIGHTED, 1 - rank, (int[]){1},
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Neighbor_allgather(a, 6, MPI_DOUBLE, b, 6, MPI_DOUBLE, graph);
    MPI_Neighbor_alltoallw(a, ones, places, &(MPI_Datatype){MPI_INT}, b, ones, places,
                           &(MPI_Datatype){MPI_INT}, graph);
    MPI_Comm_free(&graph);
    MPI_Comm_free(&line);
    (void)received;
}

static void together(const char *path) {
    MPI_Comm pair, none, third;
    MPI_Group all, empty;
    MPI_Request request;
    MPI_Win window;
    MPI_File file;
    MPI_Comm_dup(MPI_COMM_WORLD, &pair);
    MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &none); /* nobody is in it */
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 0, NULL, &empty);
    MPI_Comm_create(MPI_COMM_WORLD, empty, &none);
    MPI_Comm_create_group(MPI_COMM_WORLD, all, 5, &third);
    MPI_Group_free(&all);
    MPI_Win_allocate(64, 8, MPI_INFO_NULL, pair, &(double *){0}, &window);
    MPI_Win_fence(0, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    MPI_File_open(third, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL);
    MPI_File_write_at_all(file, rank * 8, a, 5, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_write_at_all_begin(file, rank * 8, a, 6, MPI_DOUBLE);
    MPI_File_write_at_all_end(file, a, MPI_STATUS_IGNORE);
    MPI_File_iread_at_all(file, rank * 8, b, 4, MPI_DOUBLE, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Comm_idup(pair, &none, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&none);
    MPI_Comm_free(&third);
    MPI_Comm_free(&pair);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    matched_messages(MPI_COMM_WORLD);
    requests(MPI_COMM_WORLD);
    bytes(MPI_COMM_WORLD);
    if (argc > 1) together(argv[1]);
    MPI_Finalize();
    puts("done");
    return 0;
}
