/* Heat in a cube by implicit steps: each solves a sparse system by a fixed number of iterations
 * of conjugate gradients, conditioned by relaxations of the cells of each rank, there and back.
 *
 *     conjugate SIZE STEPS
 *
 * The cube has SIZE^3 cells in layers, of which each rank has some.
 * Which calls are made depends on STEPS alone, besides where the first and last layers are. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITERATIONS = 8, RELAXATIONS = 2, NEIGHBOURS = 7, ITSELF = 3 };

static const double over = 1.1; /* relaxations go beyond what a cell needs */
static int rank, ranks, size, layers;
static long plane, rows; /* cells of a layer, and of this rank */
static int *column;      /* NEIGHBOURS of each row, in vectors that begin with a layer below */
static double *value, *heat, *residual, *conditioned, *direction, *product;

static double *with_layers(double **vector) { /* zeros, with a layer on either side */
    return *vector = calloc(rows + 2 * plane, sizeof **vector);
}

static void build(void) {
    column = malloc(rows * NEIGHBOURS * sizeof *column);
    value = malloc(rows * NEIGHBOURS * sizeof *value);
    for (long row = 0; row < rows; row++) {
        int i = row % size, j = row / size % size;
        long away[NEIGHBOURS] = {-plane, -size, -1, 0, 1, size, plane};
        int inside[NEIGHBOURS] = {1, j > 0, i > 0, 1, i < size - 1, j < size - 1, 1};
        for (int n = 0; n < NEIGHBOURS; n++) {
            column[row * NEIGHBOURS + n] = row + plane + (inside[n] ? away[n] : 0);
            value[row * NEIGHBOURS + n] = n == ITSELF ? 1.6 : inside[n] ? -0.1 : 0;
        }
    }
}

static void exchange(double *vector) {
    int below = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int above = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
    MPI_Request requests[4];
    MPI_Irecv(vector, plane, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(vector + plane + rows, plane, MPI_DOUBLE, above, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(vector + rows, plane, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(vector + plane, plane, MPI_DOUBLE, below, 2, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void multiply(const double *from, double *to) {
    for (long row = 0; row < rows; row++) {
        double sum = 0;
        for (long n = row * NEIGHBOURS; n < (row + 1) * NEIGHBOURS; n++)
            sum += value[n] * from[column[n]];
        to[plane + row] = sum;
    }
}

static void relax(long row, const double *from, double *to) {
    const double *factor = value + row * NEIGHBOURS;
    const int *cell = column + row * NEIGHBOURS;
    double sum = from[plane + row];
    for (int n = 0; n < NEIGHBOURS; n++)
        if (n != ITSELF) sum -= factor[n] * to[cell[n]];
    to[plane + row] += over * (sum / factor[ITSELF] - to[plane + row]);
}

/* Each cell needs the one before it: first the one below, then the one above. */
static void condition(const double *from, double *to) {
    for (long n = plane; n < plane + rows; n++) to[n] = 0;
    for (int turn = 0; turn < RELAXATIONS; turn++) {
        for (long row = 0; row < rows; row++) relax(row, from, to);
        for (long row = rows - 1; row >= 0; row--) relax(row, from, to);
    }
}

static double dot(const double *a, const double *b) {
    double sum = 0, all;
    for (long n = plane; n < plane + rows; n++) sum += a[n] * b[n];
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* Solves for the heat of the next step, from that of the last one. */
static void solve(void) {
    exchange(heat);
    multiply(heat, product);
    for (long n = plane; n < plane + rows; n++) residual[n] = heat[n] + 1e-3 - product[n];
    condition(residual, conditioned);
    for (long n = plane; n < plane + rows; n++) direction[n] = conditioned[n];
    double before = dot(residual, conditioned);
    for (int iteration = 0; iteration < ITERATIONS; iteration++) {
        exchange(direction);
        multiply(direction, product);
        double below = dot(direction, product), length = below > 0 ? before / below : 0;
        for (long n = plane; n < plane + rows; n++) {
            heat[n] += length * direction[n];
            residual[n] -= length * product[n];
        }
        condition(residual, conditioned);
        double now = dot(residual, conditioned), share = before > 0 ? now / before : 0;
        for (long n = plane; n < plane + rows; n++)
            direction[n] = conditioned[n] + share * direction[n];
        before = now;
    }
}

int main(int count, char **words) {
    size = count > 1 ? atoi(words[1]) : 64;
    int steps = count > 2 ? atoi(words[2]) : 600;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    layers = size * (rank + 1) / ranks - size * rank / ranks;
    plane = (long)size * size;
    rows = layers * plane;
    double **vectors[] = {&heat, &residual, &conditioned, &direction, &product};
    for (int n = 0; n < 5; n++) with_layers(vectors[n]);
    build();
    for (long n = 0; n < rows; n++) heat[plane + n] = 1 + n % 7;
    for (int step = 0; step < steps; step++) solve();
    double sum = dot(heat, heat);
    if (rank == 0) printf("checksum %.6g\n", sum);
    MPI_Finalize();
    return 0;
}
