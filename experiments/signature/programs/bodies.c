/* Bodies that attract each other: each step, the places of all bodies go once around a ring of
 * the ranks. While a rank computes with the places it has, it passes them on: the processor is
 * the limit.
 *
 *     bodies SIZE STEPS
 *
 * There are SIZE bodies, of which each rank has as many. Energy is summed up now and then.
 * Which calls are made depends on ranks and STEPS alone. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { AXES = 3, CHECKED = 25 };

static int rank, ranks, bodies; /* bodies of this rank */
static double *place, *speed, *pull, *visitors, *arriving;

/* Adds what a visitor pulls at each body; axes lie one behind another. */
static void attract(int count, const double *restrict from, double *restrict to, double px,
                    double py, double pz) {
    for (int n = 0; n < count; n++) {
        double dx = px - from[n], dy = py - from[count + n], dz = pz - from[2 * count + n];
        double square = dx * dx + dy * dy + dz * dz + 1e-2;
        double strength = 1 / (square * sqrt(square));
        to[n] += strength * dx;
        to[count + n] += strength * dy;
        to[2 * count + n] += strength * dz;
    }
}

static void forces(void) {
    int count = AXES * bodies, next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
    for (int n = 0; n < count; n++) pull[n] = 0, visitors[n] = place[n];
    for (int turn = 0; turn < ranks; turn++) {
        MPI_Request requests[2];
        if (turn < ranks - 1) {
            MPI_Irecv(arriving, count, MPI_DOUBLE, last, turn, MPI_COMM_WORLD, &requests[0]);
            MPI_Isend(visitors, count, MPI_DOUBLE, next, turn, MPI_COMM_WORLD, &requests[1]);
        }
        for (int n = 0; n < bodies; n++)
            attract(bodies, place, pull, visitors[n], visitors[bodies + n],
                    visitors[2 * bodies + n]);
        if (turn < ranks - 1) {
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
            double *swapped = visitors;
            visitors = arriving;
            arriving = swapped;
        }
    }
}

static double energy(void) {
    double sum = 0, all;
    for (int n = 0; n < AXES * bodies; n++) sum += 0.5 * speed[n] * speed[n];
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

int main(int count, char **words) {
    int size = count > 1 ? atoi(words[1]) : 3000, steps = count > 2 ? atoi(words[2]) : 800;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    bodies = size / ranks;
    double **vectors[] = {&place, &speed, &pull, &visitors, &arriving};
    for (int n = 0; n < 5; n++) *vectors[n] = calloc(AXES * bodies, sizeof(double));
    for (int n = 0; n < AXES * bodies; n++) { /* scattered, and always in the same way */
        unsigned mixed = (rank * AXES * bodies + n + 1) * 2654435761u;
        place[n] = (mixed >> 8) / (double)(1 << 24);
    }
    double step_length = 1e-5 / size, sum = 0;
    for (int step = 1; step <= steps; step++) {
        forces();
        for (int n = 0; n < AXES * bodies; n++) {
            speed[n] += step_length * pull[n];
            place[n] += step_length * speed[n];
        }
        if (step % CHECKED == 0) sum = energy();
    }
    sum = energy();
    if (rank == 0) printf("checksum %.6g\n", sum);
    MPI_Finalize();
    return 0;
}
