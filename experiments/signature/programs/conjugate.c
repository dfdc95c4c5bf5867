/* Heat in a cube by implicit steps: each solves a sparse system by a fixed number of iterations
 * of conjugate gradients. The matrix is stored, and read once an iteration: memory is the limit.
 *
 *     conjugate SIZE STEPS
 *
 * The cube has SIZE^3 cells in layers, of which each rank has some.
 * Which calls are made depends on STEPS alone, besides where the first and last layers are. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITERATIONS = 8, NEIGHBOURS = 27 };

static int rank, ranks, size, layers;
static long plane, rows; /* cells of a layer, and of this rank */
static int *column;      /* NEIGHBOURS of each row, in vectors that begin with a layer below */
static double *value, *heat, *residual, *direction, *product;

static double *with_layers(double **vector) { /* zeros, with a layer on either side */
    return *vector = calloc(rows + 2 * plane, sizeof **vector);
}

static void build(void) {
    column = malloc(rows * NEIGHBOURS * sizeof *column);
    value = malloc(rows * NEIGHBOURS * sizeof *value);
    for (long row = 0; row < rows; row++) {
        int i = row % size, j = row / size % size, n = 0;
        for (int c = -1; c <= 1; c++)
            for (int b = -1; b <= 1; b++)
                for (int a = -1; a <= 1; a++, n++) {
                    int inside = i + a >= 0 && i + a < size && j + b >= 0 && j + b < size;
                    long to = inside ? row + plane + a + b * size + c * plane : row + plane;
                    column[row * NEIGHBOURS + n] = to;
                    value[row * NEIGHBOURS + n] = a || b || c ? inside ? -0.03 : 0 : 1.8;
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
    for (long n = plane; n < plane + rows; n++) {
        residual[n] = heat[n] + 1e-3 - product[n];
        direction[n] = residual[n];
    }
    double before = dot(residual, residual);
    for (int iteration = 0; iteration < ITERATIONS; iteration++) {
        exchange(direction);
        multiply(direction, product);
        double below = dot(direction, product), length = below > 0 ? before / below : 0;
        for (long n = plane; n < plane + rows; n++) {
            heat[n] += length * direction[n];
            residual[n] -= length * product[n];
        }
        double now = dot(residual, residual), share = before > 0 ? now / before : 0;
        for (long n = plane; n < plane + rows; n++)
            direction[n] = residual[n] + share * direction[n];
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
    double **vectors[] = {&heat, &residual, &direction, &product};
    for (int n = 0; n < 4; n++) with_layers(vectors[n]);
    build();
    for (long n = 0; n < rows; n++) heat[plane + n] = 1 + n % 7;
    for (int step = 0; step < steps; step++) solve();
    double sum = dot(heat, heat);
    if (rank == 0) printf("checksum %.6g\n", sum);
    MPI_Finalize();
    return 0;
}
