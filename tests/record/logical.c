/* Programs whose work is planned, to be recorded with work counters: `logical KIND`. */
#include <mpi.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STEPS = 6, UNIT = 5000 };
static volatile double sink;
static int rank, ranks;

static void work(int units) {
    for (int i = 0; i < units * UNIT; ++i) sink = i * 0.5;
}

static void sum(void) {
    double here = rank, all;
    MPI_Allreduce(&here, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Neighbours exchange, threads share a loop, all meet. */
static void stencil(void) {
    for (int step = 0; step < STEPS; ++step) {
#pragma omp parallel
        {
#pragma omp for schedule(static)
            for (int i = 0; i < 12; ++i) work(1 + rank);
#pragma omp barrier
#pragma omp for schedule(static) nowait
            for (int i = 0; i < 5; ++i) work(1);
        }
        int from = (rank + ranks - 1) % ranks, to = (rank + 1) % ranks;
        double sent = rank, got;
        MPI_Request request[2];
        MPI_Irecv(&got, 1, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(&sent, 1, MPI_DOUBLE, to, 0, MPI_COMM_WORLD, &request[1]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        sum();
    }
}

/* Work goes through all ranks in turn, and a root collects it. */
static void pipeline(void) {
    for (int step = 0; step < STEPS; ++step) {
        double value = step, all[64];
        if (rank > 0) MPI_Recv(&value, 1, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp parallel for schedule(static)
        for (int i = 0; i < 6; ++i) work(1 + step % 2);
        if (rank < ranks - 1) MPI_Send(&value, 1, MPI_DOUBLE, rank + 1, 1, MPI_COMM_WORLD);
        MPI_Gather(&value, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
}

/* A root gives out work of different size, threads take sections of it. */
static void shares(void) {
    for (int step = 0; step < STEPS; ++step) {
        int units = 2;
        MPI_Bcast(&units, 1, MPI_INT, step % ranks, MPI_COMM_WORLD);
#pragma omp parallel
        {
#pragma omp master
            work(units);
#pragma omp barrier
#pragma omp for schedule(static, 2)
            for (int i = 0; i < 8; ++i) work(i % 3);
        }
        MPI_Scan(&rank, &units, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* The second half of the ranks has three times the work of the first. */
static void imbalance(void) {
    for (int step = 0; step < STEPS; ++step) {
        work(rank < ranks / 2 ? 10 : 30);
        sum();
    }
}

/* All ranks have the same work, but one is held up, as by another program on its core. */
static void held_up(void) {
    const struct timespec nap = {0, 20 * 1000 * 1000};
    for (int step = 0; step < STEPS; ++step) {
        work(100);
        if (rank == 1) nanosleep(&nap, NULL);
        sum();
    }
}

/* Threads there are, but work is done by the first alone. */
static void serial(void) {
#pragma omp parallel
    work(0);
    work(100);
}

/* Threads share the work, the first one alone calls MPI, and waits there. */
static void master_only(void) {
    for (int step = 0; step < STEPS; ++step) {
#pragma omp parallel
        work(rank == 0 ? 50 : 150);
        sum();
    }
}

int main(int count, char **words) {
    int provided;
    static const struct { const char *name; void (*run)(void); } kinds[] = {
        {"stencil", stencil}, {"pipeline", pipeline}, {"shares", shares},
        {"imbalance", imbalance}, {"held_up", held_up}, {"serial", serial}, {"master_only", master_only},
    };
    MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k)
        if (strcmp(words[1], kinds[k].name) == 0) kinds[k].run();
    MPI_Finalize();
    return 0;
}
