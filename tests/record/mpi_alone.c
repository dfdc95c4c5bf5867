/* A process that sends to itself all that the recorder keeps in mind: many requests at once,
 * communicators, matched messages, windows, files. */
#include <mpi.h>
#include <stdio.h>

#define MANY 9

static double a[MANY], b[MANY];

static void requests(MPI_Comm comm) {
    MPI_Request all[2 * MANY];
    for (int i = 0; i < MANY; ++i) {
        MPI_Irecv(&b[i], 1, MPI_DOUBLE, 0, i, comm, &all[i]);
        MPI_Isend(&a[i], 1, MPI_DOUBLE, 0, i, comm, &all[MANY + i]);
    }
    MPI_Waitall(2 * MANY, all, MPI_STATUSES_IGNORE);
}

static void persistent(MPI_Comm comm) {
    MPI_Request pair[2];
    MPI_Recv_init(b, 2, MPI_DOUBLE, 0, 70, comm, &pair[0]);
    MPI_Send_init(a, 2, MPI_DOUBLE, 0, 70, comm, &pair[1]);
    for (int turn = 0; turn < 2; ++turn) {
        MPI_Startall(2, pair);
        MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&pair[0]);
    MPI_Request_free(&pair[1]);
}

static void matched(MPI_Comm comm) {
    MPI_Request request;
    MPI_Message message;
    MPI_Isend(a, 3, MPI_DOUBLE, 0, 80, comm, &request);
    MPI_Mprobe(0, 80, comm, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(b, 3, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    MPI_Comm dup, part;
    MPI_Win window;
    MPI_File file;
    MPI_Init(&argc, &argv);
    requests(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_split(dup, 0, 0, &part);
    persistent(part);
    matched(dup);
    MPI_Allreduce(a, b, 2, MPI_DOUBLE, MPI_SUM, part);
    MPI_Win_create(a, sizeof a, sizeof *a, MPI_INFO_NULL, dup, &window);
    MPI_Win_fence(0, window);
    MPI_Put(b, 2, MPI_DOUBLE, 0, 0, 2, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write(file, a, 4, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Comm_free(&part);
    MPI_Comm_free(&dup);
    puts("done");
    fflush(stdout);
    MPI_Finalize();
    return 3;
}
