/* Counts its own calls by the profiling interface, as any tool would, and prints them at the end:
 * what test_record_paraver.py holds against the trace. Runs on four processes. */
#include <mpi.h>
#include <stdio.h>

enum {
    SEND,
    RECV,
    ISEND,
    IRECV,
    WAITALL,
    WAITANY,
    TEST,
    SENDRECV,
    START,
    BCAST,
    REDUCE,
    ALLTOALL,
    BARRIER,
    OPERATIONS
};
static const char* const names[OPERATIONS] = {"Send",    "Recv",     "Isend",    "Irecv", "Waitall",
                                              "Waitany", "Test",     "Sendrecv", "Start", "Bcast",
                                              "Reduce",  "Alltoall", "Barrier"};
static long counted[OPERATIONS];

#define COUNTED(NAME, OPERATION, PARAMETERS, ARGUMENTS) \
    int MPI_##NAME PARAMETERS {                         \
        ++counted[OPERATION];                           \
        return PMPI_##NAME ARGUMENTS;                   \
    }
COUNTED(Send, SEND, (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c),
        (b, n, t, to, tag, c))
COUNTED(Recv, RECV, (void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status* s),
        (b, n, t, from, tag, c, s))
COUNTED(Isend, ISEND,
        (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r),
        (b, n, t, to, tag, c, r))
COUNTED(Irecv, IRECV,
        (void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* r),
        (b, n, t, from, tag, c, r))
COUNTED(Waitall, WAITALL, (int n, MPI_Request r[], MPI_Status s[]), (n, r, s))
COUNTED(Waitany, WAITANY, (int n, MPI_Request r[], int* i, MPI_Status* s), (n, r, i, s))
COUNTED(Test, TEST, (MPI_Request * r, int* flag, MPI_Status* s), (r, flag, s))
COUNTED(Sendrecv, SENDRECV,
        (const void* a, int m, MPI_Datatype u, int to, int tag, void* b, int n, MPI_Datatype t,
         int from, int other, MPI_Comm c, MPI_Status* s),
        (a, m, u, to, tag, b, n, t, from, other, c, s))
COUNTED(Start, START, (MPI_Request * r), (r))
COUNTED(Bcast, BCAST, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c))
COUNTED(Reduce, REDUCE,
        (const void* a, void* b, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c),
        (a, b, n, t, op, root, c))
COUNTED(Alltoall, ALLTOALL,
        (const void* a, int m, MPI_Datatype u, void* b, int n, MPI_Datatype t, MPI_Comm c),
        (a, m, u, b, n, t, c))
COUNTED(Barrier, BARRIER, (MPI_Comm c), (c))

static int rank, size, a[64], b[64];

static void halo(int length, MPI_Comm comm) {
    MPI_Request both[2];
    MPI_Irecv(b, 64, MPI_INT, MPI_ANY_SOURCE, 1, comm, &both[0]);
    MPI_Isend(a, length, MPI_INT, (rank + 1) % size, 1, comm, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(a, length, MPI_INT, (rank + 1) % size, 2, b, 64, MPI_INT, (rank + size - 1) % size,
                 2, comm, MPI_STATUS_IGNORE);
}

static void to_the_first(int turn) {
    int done = 0, index;
    MPI_Request each[3];
    if (rank != 0) {
        MPI_Send(a, turn, MPI_INT, 0, 3, MPI_COMM_WORLD);
        MPI_Irecv(b, 64, MPI_INT, 0, 4, MPI_COMM_WORLD, &each[0]);
        while (!done) MPI_Test(&each[0], &done, MPI_STATUS_IGNORE);
        return;
    }
    for (int k = 0; k < 3; ++k) MPI_Irecv(b, 64, MPI_INT, k + 1, 3, MPI_COMM_WORLD, &each[k]);
    for (int k = 0; k < 3; ++k) MPI_Waitany(3, each, &index, MPI_STATUS_IGNORE);
    for (int k = 0; k < 3; ++k) MPI_Send(a, 5, MPI_INT, k + 1, 4, MPI_COMM_WORLD);
}

static void again(void) {
    MPI_Request both[2];
    MPI_Recv_init(b, 8, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, &both[0]);
    MPI_Send_init(a, 8, MPI_INT, (rank + size - 1) % size, 5, MPI_COMM_WORLD, &both[1]);
    for (int turn = 0; turn < 3; ++turn) {
        MPI_Start(&both[0]);
        MPI_Start(&both[1]);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
}

int main(int argc, char** argv) {
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    for (int turn = 1; turn <= 4; ++turn) {
        halo(turn, MPI_COMM_WORLD);
        to_the_first(turn);
        MPI_Bcast(a, turn, MPI_INT, 1, MPI_COMM_WORLD);
        MPI_Reduce(a, b, turn, MPI_INT, MPI_SUM, 2, MPI_COMM_WORLD);
        MPI_Alltoall(a, turn, MPI_INT, b, turn, MPI_INT, rank % 2 ? half : MPI_COMM_SELF);
    }
    again();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; k < OPERATIONS; ++k)
        printf("counted %d MPI_%s %ld\n", rank, names[k], counted[k]);
    fflush(stdout);
    MPI_Comm_free(&half);
    return MPI_Finalize();
}
