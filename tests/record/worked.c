/* Work that is arithmetic, and somebody who has too much of it.
 *
 *     worked MODE: sound, imbalance, late_sender, wavefront, workers or threads */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define STEPS 20
#define UNIT_NS 4000000

static int rank, ranks;
static volatile double result;

static double now_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* A macro: what it computes is the function's own. Ranks that outnumber the processors work by the
 * clock on the wall, so that each is done when it should. */
#define COMPUTE(units)                                                     \
    for (double until = now_ns(clock_of_work) + (units) * UNIT_NS;         \
         now_ns(clock_of_work) < until;)                                   \
        for (int i = 1; i < 5000; ++i) sum = sum * 0.999 + 1.0 / i

static clockid_t clock_of_work = CLOCK_THREAD_CPUTIME_ID;

__attribute__((noinline)) static void smooth(double units) {
    double sum = 1;
    COMPUTE(units); /* in smooth */
    result = sum;
}

__attribute__((noinline)) static void assemble(double units) {
    double sum = 0;
    COMPUTE(units); /* in assemble */
    result = sum;
}

static void imbalance(int slow) {
    for (int step = 0; step < STEPS; ++step) {
        smooth(2);
        assemble(rank == slow ? 6 : 1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void late_sender(void) {
    int value = 0;
    for (int step = 0; step < STEPS; ++step) {
        smooth(2);
        if (rank == 0) {
            assemble(5);
            MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

/* Each rank goes on when the one before it is done; the second is slow. */
static void wavefront(void) {
    int value = 0;
    for (int step = 0; step < STEPS; ++step) {
        if (rank > 0)
            MPI_Recv(&value, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        smooth(1);
        if (rank == 1) assemble(6);
        if (rank + 1 < ranks) MPI_Send(&value, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
    }
}

/* The first hands out work, and takes too long to make a piece of it. */
static void workers(void) {
    int value = 0;
    if (rank == 0) {
        for (int piece = 0; piece < STEPS * (ranks - 1); ++piece) {
            MPI_Status status;
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
            assemble(3);
            MPI_Send(&value, 1, MPI_INT, status.MPI_SOURCE, 1, MPI_COMM_WORLD);
        }
        return;
    }
    for (int piece = 0; piece < STEPS; ++piece) {
        MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        smooth(1);
    }
}

/* Two threads share out iterations, of which the last ones are dear. */
static void threads(void) {
    for (int step = 0; step < STEPS; ++step) {
#pragma omp parallel for schedule(static) num_threads(2)
        for (int part = 0; part < 2; ++part) {
            smooth(2);
            if (part == 1) assemble(5);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int count, char **words) {
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *mode = count > 1 ? words[1] : "";
    if (ranks > 2) clock_of_work = CLOCK_MONOTONIC;
    if (strcmp(mode, "sound") == 0) imbalance(-1);
    if (strcmp(mode, "imbalance") == 0) imbalance(1);
    if (strcmp(mode, "late_sender") == 0) late_sender();
    if (strcmp(mode, "wavefront") == 0) wavefront();
    if (strcmp(mode, "workers") == 0) workers();
    if (strcmp(mode, "threads") == 0) threads();
    MPI_Finalize();
    return 0;
}
