/* Calls of each kind on two processes; what the recorder must say of them is in
 * test_record_wrappers.py. */
#include <mpi.h>
#include <stdio.h>

static int rank, other;
static double a[64], b[64];
static MPI_Status status, two[2];
static MPI_Request pair[2], request;

static void point_to_point(MPI_Comm comm) {
    int flag = 0, index, indices[2], count, left = 2;
    MPI_Message message;
    MPI_Isend(a, 3, MPI_DOUBLE, other, 1, comm, &pair[0]);
    MPI_Irecv(b, 64, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &pair[1]);
    while (left > 0) {
        MPI_Waitsome(2, pair, &count, indices, MPI_STATUSES_IGNORE);
        left -= count;
    }
    MPI_Irecv(b, 64, MPI_DOUBLE, other, 2, comm, &pair[0]);
    MPI_Issend(a, 4, MPI_DOUBLE, other, 2, comm, &pair[1]);
    MPI_Waitany(2, pair, &index, MPI_STATUS_IGNORE);
    MPI_Waitany(2, pair, &index, &status);
    MPI_Waitany(2, pair, &index, &status); /* nothing is left */
    MPI_Irecv(b, 64, MPI_DOUBLE, other, 3, comm, &pair[0]);
    MPI_Isend(a, 5, MPI_DOUBLE, other, 3, comm, &pair[1]);
    while (!flag) MPI_Testall(2, pair, &flag, MPI_STATUSES_IGNORE);
    MPI_Isend(a, 6, MPI_DOUBLE, other, 4, comm, &request);
    MPI_Mprobe(other, 4, comm, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(b, 64, MPI_DOUBLE, &message, &pair[0]);
    MPI_Wait(&pair[0], MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* MPI_REQUEST_NULL */
    MPI_Sendrecv_replace(a, 7, MPI_DOUBLE, other, 5, other, 5, comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(a, 8, MPI_DOUBLE, other, 6, b, 64, MPI_DOUBLE, MPI_PROC_NULL, 6, comm, &status);
    MPI_Recv(b, 64, MPI_DOUBLE, MPI_ANY_SOURCE, 6, comm, MPI_STATUS_IGNORE);
    MPI_Irecv(b, 1, MPI_DOUBLE, other, 999, comm, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Isend(a, 2, MPI_DOUBLE, other, 7, comm, &request);
    for (flag = 0; !flag;) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(b, 64, MPI_DOUBLE, other, 7, comm, MPI_STATUS_IGNORE);
}

static void persistent(MPI_Comm comm) {
    MPI_Send_init(a, 9, MPI_DOUBLE, other, 8, comm, &pair[0]);
    MPI_Recv_init(b, 64, MPI_DOUBLE, other, 8, comm, &pair[1]);
    for (int i = 0; i < 3; ++i) {
        if (i == 1) {
            MPI_Start(&pair[0]);
            MPI_Start(&pair[1]);
        } else {
            MPI_Startall(2, pair);
        }
        MPI_Waitall(2, pair, i == 0 ? MPI_STATUSES_IGNORE : two);
        MPI_Waitall(2, pair, MPI_STATUSES_IGNORE); /* inactive */
    }
    MPI_Request_free(&pair[0]);
    MPI_Request_free(&pair[1]);
}

static void collectives(MPI_Comm comm) {
    int counts[2] = {1, 2}, at[2] = {0, 8}, bytes[2] = {0, 64};
    MPI_Datatype types[2] = {MPI_DOUBLE, MPI_FLOAT};
    MPI_Barrier(comm);
    MPI_Bcast(a, 2, MPI_DOUBLE, 1, comm);
    MPI_Reduce(a, b, 3, MPI_DOUBLE, MPI_SUM, 1, comm);
    MPI_Allreduce(MPI_IN_PLACE, b, 4, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Gather(a, 5, MPI_DOUBLE, b, 5, MPI_DOUBLE, 0, comm);
    MPI_Gather(rank == 0 ? MPI_IN_PLACE : a, 5, MPI_DOUBLE, b, 5, MPI_DOUBLE, 0, comm);
    MPI_Gatherv(a, 1 + rank, MPI_DOUBLE, b, counts, at, MPI_DOUBLE, 0, comm);
    MPI_Scatter(a, 6, MPI_DOUBLE, b, 6, MPI_DOUBLE, 0, comm);
    MPI_Scatterv(a, counts, at, MPI_DOUBLE, b, 1 + rank, MPI_DOUBLE, 1, comm);
    MPI_Allgather(a, 7, MPI_DOUBLE, b, 7, MPI_DOUBLE, comm);
    MPI_Allgatherv(a, 1 + rank, MPI_DOUBLE, b, counts, at, MPI_DOUBLE, comm);
    MPI_Alltoall(a, 8, MPI_DOUBLE, b, 8, MPI_DOUBLE, comm);
    counts[0] = counts[1] = 1 + rank;
    {
        int received[2] = {1, 2};
        MPI_Alltoallv(a, counts, at, MPI_DOUBLE, b, received, at, MPI_DOUBLE, comm);
    }
    counts[0] = counts[1] = 1;
    types[rank] = types[1 - rank] = MPI_FLOAT;
    MPI_Alltoallw(a, counts, bytes, types, b, counts, bytes, types, comm);
    counts[1] = 2;
    MPI_Reduce_scatter(a, b, counts, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Reduce_scatter_block(a, b, 3, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Scan(a, b, 2, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Exscan(a, b, 2, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Ibcast(a, 3, MPI_DOUBLE, 0, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void communicators(void) {
    int size = 2, periodic = 1;
    MPI_Comm duplicate, half, reversed, ring, inter, merged;
    MPI_Comm_idup(MPI_COMM_WORLD, &duplicate, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(duplicate);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Send(a, 1, MPI_INT, rank, 9, reversed); /* to the other, who is here what I am there */
    MPI_Recv(b, 1, MPI_INT, MPI_ANY_SOURCE, 9, reversed, MPI_STATUS_IGNORE);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    MPI_Neighbor_alltoall(a, 4, MPI_DOUBLE, b, 4, MPI_DOUBLE, ring);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, other, 11, &inter);
    MPI_Allgather(a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, inter);
    MPI_Sendrecv(a, 1, MPI_CHAR, 0, 10, b, 64, MPI_CHAR, 0, 10, inter, MPI_STATUS_IGNORE);
    MPI_Intercomm_merge(inter, rank, &merged);
    MPI_Barrier(merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    MPI_Comm_free(&ring);
    MPI_Comm_free(&reversed);
    MPI_Comm_free(&duplicate);
}

static void one_sided_and_files(const char *path) {
    MPI_Win window;
    MPI_File file;
    MPI_Win_create(b, sizeof b, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(a, 3, MPI_DOUBLE, other, 0, 3, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Get(a, 2, MPI_DOUBLE, other, 0, 2, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, rank * 128, a, 5, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_read_at(file, rank * 128, a, 5, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

int main(int argc, char **argv) {
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2 || argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    other = 1 - rank;
    point_to_point(MPI_COMM_WORLD);
    persistent(MPI_COMM_WORLD);
    collectives(MPI_COMM_WORLD);
    communicators();
    one_sided_and_files(argv[1]);
    MPI_Finalize();
    puts("done");
    return 0;
}
