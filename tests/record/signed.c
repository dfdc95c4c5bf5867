/* signed.c -- Programs that a signature run counts, or has to refuse: signed HOW */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void alone(int barriers) {
    for (int i = 0; i < barriers; ++i) MPI_Barrier(MPI_COMM_SELF);
}

static void ring(MPI_Comm comm) {
    int own, members, sent = 1, received, flag = 0;
    MPI_Request pair[2];
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &members);
    const int next = (own + 1) % members, before = (own + members - 1) % members;
    MPI_Irecv(&received, 1, MPI_INT, before, 1, comm, &pair[0]);
    MPI_Isend(&sent, 1, MPI_INT, next, 1, comm, &pair[1]);
    MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
    MPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, 2, comm, &pair[0]);
    MPI_Send(&sent, 1, MPI_INT, next, 2, comm);
    while (!flag) MPI_Test(&pair[0], &flag, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&sent, 1, MPI_INT, next, 3, &received, 1, MPI_INT, before, 3, comm,
                 MPI_STATUS_IGNORE);
    MPI_Send(&sent, 1, MPI_INT, MPI_PROC_NULL, 4, comm);
    MPI_Allreduce(&sent, &received, 1, MPI_INT, MPI_SUM, comm);
    MPI_Bcast(&sent, 1, MPI_INT, 0, comm);
}

static void persistent(void) {
    int sent = 1, received;
    MPI_Request pair[2];
    MPI_Recv_init(&received, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &pair[0]);
    MPI_Send_init(&sent, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, &pair[1]);
    for (int i = 0; i < 3; ++i) {
        if (i == 0) {
            MPI_Start(&pair[0]);
            MPI_Start(&pair[1]);
        } else {
            MPI_Startall(2, pair);
        }
        MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&pair[0]);
    MPI_Request_free(&pair[1]);
    MPI_Ibarrier(MPI_COMM_WORLD, &pair[0]);
    MPI_Wait(&pair[0], MPI_STATUS_IGNORE);
}

/* Handles of communicators that were freed come again, with other members. */
static void communicators(void) {
    for (int i = 0; i < 12; ++i) {
        MPI_Comm part, copy;
        MPI_Comm_split(MPI_COMM_WORLD, i % 2 == 0 ? 0 : rank % 2, i % 3 == 0 ? -rank : rank, &part);
        MPI_Comm_dup(part, &copy);
        ring(part);
        ring(copy);
        MPI_Comm_free(&part);
        MPI_Comm_free(&copy);
    }
}

int main(int count, char **words) {
    int level = MPI_THREAD_SINGLE, never;
    const char *how = count > 1 ? words[1] : "";
    if (strcmp(how, "threads") == 0)
        MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &level);
    else
        MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(how, "mixed") == 0) {
        ring(MPI_COMM_WORLD);
        persistent();
        communicators();
    }
    if (strcmp(how, "stuck") == 0) {
        alone(rank == 0 ? 20 : 5);
        if (rank > 0) MPI_Recv(&never, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (strcmp(how, "spawn") == 0) {
        MPI_Comm children;
        alone(5);
        MPI_Comm_spawn(words[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children,
                       MPI_ERRCODES_IGNORE);
    }
    alone(10);
    if (strcmp(how, "fails") == 0 && rank == 0) exit(7);
    MPI_Finalize();
    return 0;
}
