/* Two ranks share steps of planned work, of which one may have more, and one may sleep once:
   planned STEPS FACTOR SLEEP_MS */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { UNIT = 20000 };
static volatile double sink;

static void compute(int units) {
    for (int i = 0; i < units * UNIT; ++i) sink = i * 0.5;
}

static void serial(int units, int sleep_ms) {
    compute(units);
    if (sleep_ms) {
        const struct timespec nap = {sleep_ms / 1000, sleep_ms % 1000 * 1000000L};
        nanosleep(&nap, NULL);
    }
}

static void shared(int units) {
#pragma omp parallel
    compute(units);
}

int main(int count, char **words) {
    int rank, provided;
    if (count < 4) return 2;
    MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int steps = atoi(words[1]), sleep_ms = rank == 0 ? atoi(words[3]) : 0;
    const int units = (int)(100 * (rank == 1 ? atof(words[2]) : 1));
    double start = MPI_Wtime();
    for (int step = 0; step < steps; ++step) {
        double here = rank, all;
        serial(units / 2, step == steps / 2 ? sleep_ms : 0);
        shared(units);
        MPI_Allreduce(&here, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0) printf("phase solve %f %f\n", MPI_Wtime() - start, MPI_Wtime() - start);
    MPI_Finalize();
    return 0;
}
