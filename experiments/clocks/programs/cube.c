/* Shock waves in a cube of cubes, in the phases of LULESH: a time step is agreed on by all, forces
 * on nodes are exchanged with neighbours, materials are updated in many short loops.
 *
 *     cube SIDE STEPS IMBALANCE
 *
 * A rank, of a cubic number of them, has SIDE^3 cells. With an IMBALANCE of 1 some materials take
 * ten times the work of others, and ranks have other shares of each; with 0 all are equal. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PLAIN __attribute__((no_instrument_function)) /* too short to be recorded */
#define APART __attribute__((noinline))
enum { FACES = 6, MATERIALS = 8 };

static int rank, ranks, edge, side, imbalance; /* ranks and cells along an edge of each cube */
static long cells;
static double *force, *speed, *place, *energy, *pressure, *volume, *work, *strain;
static double *sent[FACES], *received[FACES];

APART static double TimeIncrement(double limit) {
    double step;
    MPI_Allreduce(&limit, &step, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    return step;
}

PLAIN static long cell(int face, int k) { /* the k-th cell at a face */
    long stride[3] = {1, side, (long)side * side};
    int d = face / 2, a = (d + 1) % 3, b = (d + 2) % 3;
    return k % side * stride[a] + k / side * stride[b] + face % 2 * (side - 1) * stride[d];
}

PLAIN static int neighbour(int face) { /* the rank beyond a face, or none */
    int strides[3] = {1, edge, edge * edge}, d = face / 2, here = rank / strides[d] % edge;
    int there = here + 2 * (face % 2) - 1;
    return there < 0 || there >= edge ? MPI_PROC_NULL : rank + (there - here) * strides[d];
}

APART static void exchange_forces(void) {
    MPI_Request request[2 * FACES];
    int count = 0, size = side * side;
    for (int face = 0; face < FACES; ++face)
        if (neighbour(face) != MPI_PROC_NULL)
            MPI_Irecv(received[face], size, MPI_DOUBLE, neighbour(face), face ^ 1, MPI_COMM_WORLD, &request[count++]);
    for (int face = 0; face < FACES; ++face)
        if (neighbour(face) != MPI_PROC_NULL) {
            for (int k = 0; k < size; ++k) sent[face][k] = force[cell(face, k)];
            MPI_Isend(sent[face], size, MPI_DOUBLE, neighbour(face), face, MPI_COMM_WORLD, &request[count++]);
        }
    MPI_Waitall(count, request, MPI_STATUSES_IGNORE);
    for (int face = 0; face < FACES; ++face)
        for (int k = 0; k < size; ++k) force[cell(face, k)] += received[face][k];
}

APART static void CalcForceForNodes(void) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < cells; ++i) force[i] = -pressure[i] - work[i];
#pragma omp parallel for schedule(static)
    for (long i = 0; i < cells; ++i) { /* stress of eight corners */
        double sum = 0;
        for (int corner = 0; corner < 8; ++corner) {
            double x = place[i] + (corner & 1), y = speed[i] + (corner >> 1 & 1), z = volume[i] + (corner >> 2);
            sum += (x * y - y * z + z * x) / (1 + x * x + y * y);
        }
        force[i] += 1e-3 * sum;
    }
#pragma omp parallel for schedule(static)
    for (long i = 0; i < cells; ++i) { /* four hourglass modes */
        double sum = 0;
        for (int mode = 0; mode < 4; ++mode)
            for (int corner = 0; corner < 8; ++corner)
                sum += (mode * corner & 2 ? 1 : -1) * sqrt(1 + place[i] * place[i] + corner) * speed[i];
        force[i] -= 1e-3 * sum;
    }
    exchange_forces();
}

APART static void LagrangeNodal(double step) {
    CalcForceForNodes();
#pragma omp parallel for schedule(static)
    for (long i = 0; i < cells; ++i) speed[i] += step * force[i];
#pragma omp parallel for schedule(static)
    for (long i = 0; i < cells; ++i) place[i] += step * speed[i];
}

APART static void CalcLagrangeElements(double step) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < cells; ++i) {
        double x = place[i], y = speed[i] * step;
        for (int k = 0; k < 6; ++k) x = 0.5 * (x + y / (1 + x * x));
        strain[i] = x;
        volume[i] = 1 + 1e-3 * x;
    }
}

/* One material: short loops, repeated as often as its equation of state is costly. */
APART static void EvalEOSForElems(long first, long end, int repeats) {
    for (int turn = 0; turn < repeats; ++turn) {
#pragma omp parallel for schedule(static)
        for (long i = first; i < end; ++i) work[i] = 0.5 * (energy[i] + pressure[i]);
#pragma omp parallel for schedule(static)
        for (long i = first; i < end; ++i) work[i] = fmax(work[i], 1e-9) / volume[i];
#pragma omp parallel for schedule(static)
        for (long i = first; i < end; ++i) energy[i] += 1e-6 * (work[i] - strain[i]);
#pragma omp parallel for schedule(static)
        for (long i = first; i < end; ++i) pressure[i] = 2.0 / 3 * sqrt(fabs(energy[i])) * volume[i];
    }
}

APART static void ApplyMaterialPropertiesForElems(void) {
    long first = 0;
    for (int material = 0; material < MATERIALS; ++material) {
        long end = cells * (material + 1) / MATERIALS;
        int repeats = 1;
        if (imbalance && material + 1 == MATERIALS) { /* the costly one: ranks have one to two shares */
            repeats = 10;
            first -= (end - first) * (rank * 5 % 8) / 7;
        }
        EvalEOSForElems(first, end, repeats);
        first = end;
    }
}

APART static double CalcTimeConstraints(void) {
    double limit = 1e-3;
#pragma omp parallel for schedule(static) reduction(min : limit)
    for (long i = 0; i < cells; ++i) limit = fmin(limit, 1 / (1e3 + fabs(speed[i])));
    return limit;
}

APART static double LagrangeLeapFrog(double limit) {
    double step = TimeIncrement(limit);
    LagrangeNodal(step);
    CalcLagrangeElements(step);
    ApplyMaterialPropertiesForElems();
    return CalcTimeConstraints();
}

/* Wall and CPU time in seconds. */
PLAIN static void tell(const char *phase) {
    static double last[2];
    double now[2] = {MPI_Wtime(), (double)clock() / CLOCKS_PER_SEC};
    if (phase) printf("phase %s %.6f %.6f\n", phase, now[0] - last[0], now[1] - last[1]);
    last[0] = now[0], last[1] = now[1];
}

int main(int count, char **words) {
    int provided;
    MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    while ((edge + 1) * (edge + 1) * (edge + 1) <= ranks) ++edge;
    side = atoi(words[1]), imbalance = atoi(words[3]), cells = (long)side * side * side;
    double **fields[] = {&force, &speed, &place, &energy, &pressure, &volume, &work, &strain}, limit = 1e-3;
    for (size_t k = 0; k < sizeof fields / sizeof *fields; ++k) {
        *fields[k] = malloc(cells * sizeof(double));
        for (long i = 0; i < cells; ++i) (*fields[k])[i] = 1 + 1e-3 * (double)(i % 7);
    }
    for (int face = 0; face < FACES; ++face)
        sent[face] = calloc(side * side, sizeof(double)), received[face] = calloc(side * side, sizeof(double));
    tell(NULL);
    for (int step = 0; step < atoi(words[2]); ++step) limit = LagrangeLeapFrog(limit);
    if (rank + 1 == ranks) tell("solve"), printf("result %g\n", limit);
    MPI_Finalize();
    return 0;
}
