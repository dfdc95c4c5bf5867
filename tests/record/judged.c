/* Runs that may not be judged, each for a reason of its own.
 *
 *     judged STEPS MS [HOW]: `calls` next to nothing between calls, `ends` without MPI_Finalize,
 *                            `threads` that make a team, one of which calls MPI */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile double result;

static void compute(double ms) {
    struct timespec now;
    double sum = 0, until = -1;
    do {
        for (int i = 1; i < 5000; ++i) sum = sum * 0.999 + 1.0 / i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        const double used = 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
        if (until < 0) until = used + ms;
        else if (used >= until) break;
    } while (1);
    result = sum;
}

static void meet(int other) {
    int value = other;
    MPI_Sendrecv_replace(&value, 1, MPI_INT, other, 0, other, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
}

int main(int count, char **words) {
    int level, rank;
    MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *how = count > 3 ? words[3] : "";
    for (int step = 0; step < atoi(words[1]); ++step) {
        compute(atof(words[2]));
        if (strcmp(how, "calls") == 0)
            for (int k = 0; k < 4000; ++k) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (strcmp(how, "threads") == 0) {
#pragma omp parallel num_threads(2)
            {
#pragma omp master
                meet(1 - rank);
            }
        } else {
            meet(1 - rank);
        }
    }
    if (strcmp(how, "ends") == 0 && rank == 1) _exit(0);
    MPI_Finalize();
    return 0;
}
