/* One wait of a kind, as often as is said, because somebody sleeps: planned_waits KIND TIMES MS. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LATE 1 /* the rank or thread that others wait for */

static int rank, number, sum;
static struct timespec nap;

static void sleep_on_the_job(void) { nanosleep(&nap, NULL); }

static void delay(int who) {
    if (who == LATE) sleep_on_the_job();
}

/* The late one begins to sleep when the others are about to wait, however late they are. */
static void meet(void) {
    int ranks, told;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank != LATE) MPI_Send(&rank, 1, MPI_INT, LATE, 2, MPI_COMM_WORLD);
    for (int other = 1; rank == LATE && other < ranks; ++other)
        MPI_Recv(&told, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void late_sender(void) {
    delay(rank);
    if (rank == LATE) MPI_Send(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(&number, 1, MPI_INT, LATE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void late_receiver(void) {
    delay(rank);
    if (rank == 0) MPI_Ssend(&number, 1, MPI_INT, LATE, 1, MPI_COMM_WORLD);
    if (rank == LATE) MPI_Recv(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void barrier(void) {
    delay(rank);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduce(void) {
    delay(rank);
    MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void reduce(void) {
    delay(rank);
    MPI_Reduce(&number, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void bcast(void) {
    delay(rank);
    MPI_Bcast(&number, 1, MPI_INT, LATE, MPI_COMM_WORLD);
}

static void loop(void) {
#pragma omp parallel for schedule(static) num_threads(2)
    for (int i = 0; i < 2; ++i)
        if (i == LATE) delay(rank);
}

static void critical(void) {
    static int inside;
    __atomic_store_n(&inside, 0, __ATOMIC_SEQ_CST);
#pragma omp parallel num_threads(2)
    {
        const int thread = omp_get_thread_num();
        /* The other one asks when this one is inside. */
        while (rank == LATE && thread != LATE && !__atomic_load_n(&inside, __ATOMIC_SEQ_CST)) {}
#pragma omp critical
        {
            if (thread == LATE) {
                __atomic_store_n(&inside, 1, __ATOMIC_SEQ_CST);
                delay(rank);
            }
        }
    }
}

int main(int argc, char **argv) {
    static const struct kind {
        const char *name;
        void (*run)(void);
    } kinds[] = {{"late_sender", late_sender}, {"late_receiver", late_receiver},
                 {"barrier", barrier},         {"allreduce", allreduce},
                 {"reduce", reduce},           {"bcast", bcast},
                 {"loop", loop},               {"critical", critical}};
    if (argc != 4) return 2;
    nap.tv_nsec = atol(argv[3]) * 1000000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (unsigned kind = 0; kind < sizeof kinds / sizeof *kinds; ++kind)
        if (strcmp(kinds[kind].name, argv[1]) == 0)
            for (int time = atoi(argv[2]); time > 0; --time) {
                meet();
                kinds[kind].run();
            }
    MPI_Finalize();
    return 0;
}
