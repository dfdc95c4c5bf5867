/* blame KIND STEPS: a program of a known answer, without OpenMP unless the kind has threads. */
#include "blame.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

/* Rank 1 computes three times as long as others. */
static void imbalance(void) {
    relax(rank == 1 ? 3 : 1);
    exchange_halo(rank, ranks);
}

/* All wait for a table that rank 0 makes. */
static void late_sender(void) {
    double table[16] = {0};
    if (rank == 0) {
        compute_table(2);
        for (int to = 1; to < ranks; ++to)
            MPI_Send(table, 16, MPI_DOUBLE, to, 1, MPI_COMM_WORLD);
    } else {
        MPI_Recv(table, 16, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    relax(1);
}

/* Ranks wait for rank 1 above all, and for the table of rank 0. */
static void both(void) {
    late_sender();
    relax(rank == 1 ? 7 : 1);
    exchange_halo(rank, ranks);
}

/* Nobody is late, and messages are large: what is lost goes into their transfer. */
static void large_messages(void) {
    enum { SIZE = 1 << 24 };
    static char sent[SIZE], received[SIZE];
    for (int again = 0; again < 8; ++again)
        MPI_Sendrecv(sent, SIZE, MPI_CHAR, (rank + 1) % ranks, 2, received, SIZE, MPI_CHAR,
                     (rank + ranks - 1) % ranks, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* All do the same. */
static void sound(void) {
    double here = rank, sum;
    relax(4);
    MPI_Allreduce(&here, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* One thread computes between loops that all threads share. */
static void serial(void) {
    assemble();
    solve();
}

/* Threads of rank 0 idle, because rank 1 computes for longer. */
static void other_rank(void) {
    double here = rank, sum;
    solve();
    if (rank == 1) relax(4);
    MPI_Allreduce(&here, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    static const struct kind {
        const char *name;
        void (*step)(void);
    } kinds[] = {{"imbalance", imbalance}, {"late_sender", late_sender},
                 {"both", both},           {"large_messages", large_messages},
                 {"sound", sound},         {"serial", serial},
                 {"other_rank", other_rank}};
    if (argc != 3) return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (unsigned kind = 0; kind < sizeof kinds / sizeof *kinds; ++kind)
        if (strcmp(kinds[kind].name, argv[1]) == 0)
            for (int step = atoi(argv[2]); step > 0; --step) kinds[kind].step();
    MPI_Finalize();
    return 0;
}
