/* Bodies that attract each other: each step, the places of all bodies go once around a ring of
 * the ranks. While a rank moves its bodies by the places it has, it passes these on: the
 * processor is the limit.
 *
 *     bodies SIZE STEPS
 *
 * There are SIZE bodies, and ranks share them. How far out they are is summed up now and then.
 * Which calls are made depends on ranks and STEPS alone. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { AXES = 3, CHECKED = 25 };

static int rank, ranks, bodies; /* bodies of this rank */
static double pace;             /* how far a pull moves a body */
static double *place, *moved, *visitors, *arriving; /* axes lie one behind another */

/* Moves a body by each visitor in turn: the next one pulls where the last one left it. */
static void attract(double *body) {
    double x = body[0], y = body[bodies], z = body[2 * bodies];
    for (int n = 0; n < bodies; n++) {
        double dx = visitors[n] - x, dy = visitors[bodies + n] - y;
        double dz = visitors[2 * bodies + n] - z;
        double square = dx * dx + dy * dy + dz * dz + 1e-2;
        double strength = pace / (square * sqrt(square));
        x += strength * dx;
        y += strength * dy;
        z += strength * dz;
    }
    body[0] = x, body[bodies] = y, body[2 * bodies] = z;
}

static void move(void) {
    int count = AXES * bodies, next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
    for (int n = 0; n < count; n++) moved[n] = visitors[n] = place[n];
    for (int turn = 0; turn < ranks; turn++) {
        MPI_Request requests[2];
        if (turn < ranks - 1) {
            MPI_Irecv(arriving, count, MPI_DOUBLE, last, turn, MPI_COMM_WORLD, &requests[0]);
            MPI_Isend(visitors, count, MPI_DOUBLE, next, turn, MPI_COMM_WORLD, &requests[1]);
        }
        for (int n = 0; n < bodies; n++) attract(moved + n);
        if (turn < ranks - 1) {
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
            double *swapped = visitors;
            visitors = arriving;
            arriving = swapped;
        }
    }
    for (int n = 0; n < count; n++) place[n] = moved[n];
}

static double extent(void) {
    double sum = 0, all;
    for (int n = 0; n < AXES * bodies; n++) sum += place[n] * place[n];
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

int main(int count, char **words) {
    int size = count > 1 ? atoi(words[1]) : 3000, steps = count > 2 ? atoi(words[2]) : 800;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    bodies = size / ranks;
    pace = 1e-8 / size;
    double **vectors[] = {&place, &moved, &visitors, &arriving};
    for (int n = 0; n < 4; n++) *vectors[n] = calloc(AXES * bodies, sizeof(double));
    for (int n = 0; n < AXES * bodies; n++) { /* scattered, and always in the same way */
        unsigned mixed = (rank * AXES * bodies + n + 1) * 2654435761u;
        place[n] = (mixed >> 8) / (double)(1 << 24);
    }
    double sum = 0;
    for (int step = 1; step <= steps; step++) {
        move();
        if (step % CHECKED == 0) sum = extent();
    }
    sum = extent();
    if (rank == 0) printf("checksum %.6g\n", sum);
    MPI_Finalize();
    return 0;
}
