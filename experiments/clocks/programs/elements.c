/* Finite elements in a box: a sparse matrix is set up and solved by conjugate gradients, in the
 * phases of MiniFE. The second half of the ranks has three times the elements of the first.
 *
 *     elements SIDE LAYERS ITERATIONS
 *
 * Nodes lie in planes of SIDE x SIDE; a rank owns LAYERS planes, or three times as many. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PLAIN __attribute__((no_instrument_function)) /* too short to be recorded */
#define APART __attribute__((noinline))
enum { CORNERS = 8, NEIGHBOURS = 27 };

static int rank, ranks, side, layers, below, all_layers; /* planes of this rank, under it, of all */
static long plane, rows;
static long *begin;
static int *column;
static double *value;

PLAIN static int inside(int coordinate, int size) { return coordinate >= 0 && coordinate < size; }

PLAIN static double *zeros(long count) { return calloc(count, sizeof(double)); }

/* The columns of a node's row: its neighbours, by their number in the whole box. */
PLAIN static long add_row(long end, int z, int y, int x) {
    for (int k = 0; k < NEIGHBOURS; ++k) {
        int nz = below + z + k / 9 - 1, ny = y + k / 3 % 3 - 1, nx = x + k % 3 - 1;
        if (inside(nz, all_layers) && inside(ny, side) && inside(nx, side))
            column[end++] = (int)(nz * plane + (long)ny * side + nx);
    }
    return end;
}

APART static void add_line(int z, int y) {
    for (long row = z * plane + (long)y * side, end = row + side, x = 0; row < end; ++row, ++x)
        begin[row + 1] = add_row(begin[row], z, y, (int)x);
}

/* By one thread. */
APART static void generate_matrix_structure(void) {
    long all;
    begin = calloc(rows + 1, sizeof *begin);
    column = malloc(rows * NEIGHBOURS * sizeof *column);
    for (int z = 0; z < layers; ++z)
        for (int y = 0; y < side; ++y) add_line(z, y);
    value = zeros(begin[rows]);
    MPI_Allreduce(&begin[rows], &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
}

/* Products of gradients, integrated over a cube of edge h by two Gauss points a dimension. */
PLAIN APART static void element_matrix(double h, double matrix[CORNERS][CORNERS]) {
    for (int i = 0; i < CORNERS * CORNERS; ++i) matrix[0][i] = 0;
    for (int point = 0; point < 8; ++point) {
        double gradient[CORNERS][3];
        for (int corner = 0; corner < CORNERS; ++corner) {
            double at[3];
            for (int d = 0; d < 3; ++d) {
                double gauss = (point >> d & 1 ? 1 : -1) / sqrt(3.0);
                at[d] = 0.5 * (1 + (corner >> d & 1 ? gauss : -gauss));
            }
            for (int d = 0; d < 3; ++d)
                gradient[corner][d] = (corner >> d & 1 ? 1 : -1) / h * at[(d + 1) % 3] * at[(d + 2) % 3];
        }
        for (int i = 0; i < CORNERS; ++i)
            for (int j = 0; j < CORNERS; ++j)
                for (int d = 0; d < 3; ++d)
                    matrix[i][j] += h * h * h / 8 * gradient[i][d] * gradient[j][d];
    }
}

/* Add an element's matrix to the rows of this rank. */
PLAIN APART static void sum_into_rows(int z, int y, int x, double matrix[CORNERS][CORNERS]) {
    for (int i = 0; i < CORNERS; ++i) {
        int rz = z + (i >> 2 & 1);
        if (!inside(rz, layers)) continue;
        long row = rz * plane + (long)(y + (i >> 1 & 1)) * side + x + (i & 1);
        for (int j = 0; j < CORNERS; ++j) {
            long other = (below + z + (j >> 2 & 1)) * plane + (long)(y + (j >> 1 & 1)) * side + x + (j & 1);
            long low = begin[row], high = begin[row + 1];
            while (high - low > 1) {
                long middle = (low + high) / 2;
                if (column[middle] <= other) low = middle;
                else high = middle;
            }
            value[low] += matrix[i][j];
        }
    }
}

/* Threads take layers of elements that share no node: every other one. */
APART static void assemble(void) {
    for (int first = -1; first < 1; ++first) {
#pragma omp parallel for schedule(static)
        for (int z = first; z < layers; z += 2) {
            if (!inside(below + z, all_layers) || below + z + 1 == all_layers) continue;
            for (int y = 0; y + 1 < side; ++y)
                for (int x = 0; x + 1 < side; ++x) {
                    double matrix[CORNERS][CORNERS];
                    element_matrix(1.0 / side, matrix);
                    sum_into_rows(z, y, x, matrix);
                }
        }
    }
}

/* The planes that neighbours own come behind the rows of a vector: the lower, then the upper. */
APART static void exchange(double *vector) {
    MPI_Request request[2];
    int count = 0, has[2] = {rank > 0, rank + 1 < ranks};
    for (int side_of = 0; side_of < 2; ++side_of)
        if (has[side_of])
            MPI_Irecv(vector + rows + side_of * plane, (int)plane, MPI_DOUBLE, rank + 2 * side_of - 1, 0,
                      MPI_COMM_WORLD, &request[count++]);
    for (int side_of = 0; side_of < 2; ++side_of)
        if (has[side_of])
            MPI_Send(vector + side_of * (rows - plane), (int)plane, MPI_DOUBLE, rank + 2 * side_of - 1, 0,
                     MPI_COMM_WORLD);
    MPI_Waitall(count, request, MPI_STATUSES_IGNORE);
}

/* By one thread: columns get numbers of this rank, fixed values on the boundary. */
APART static void make_local_matrix(double *vector) {
    long most = 0, first = below * plane;
    MPI_Allreduce(&rows, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    for (long row = 0; row < rows; ++row)
        for (long k = begin[row]; k < begin[row + 1]; ++k) {
            long local = column[k] - first;
            if (local == row) value[k] += 1;
            if (local < 0) local += rows + plane;
            else if (local >= rows) local += plane;
            column[k] = (int)local;
        }
    exchange(vector);
}

APART static double dot(const double *a, const double *b) {
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (long i = 0; i < rows; ++i) sum += a[i] * b[i];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

APART static void waxpby(double *w, double a, const double *x, double b, const double *y) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < rows; ++i) w[i] = a * x[i] + b * y[i];
}

APART static void matvec(double *product, double *vector) {
    exchange(vector);
#pragma omp parallel for schedule(static)
    for (long row = 0; row < rows; ++row) {
        double sum = 0;
        for (long k = begin[row]; k < begin[row + 1]; ++k) sum += value[k] * vector[column[k]];
        product[row] = sum;
    }
}

APART static double cg_solve(double *residual, int iterations) {
    double *direction = zeros(rows + 2 * plane), *product = zeros(rows), *solution = zeros(rows);
    double size = dot(residual, residual), former = size;
    for (int step = 0; step < iterations; ++step) {
        waxpby(direction, 1, residual, step ? size / former : 0, direction);
        matvec(product, direction);
        double length = size / dot(direction, product);
        waxpby(solution, 1, solution, length, direction);
        waxpby(residual, 1, residual, -length, product);
        former = size, size = dot(residual, residual);
    }
    return size + solution[0];
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
    side = atoi(words[1]), layers = atoi(words[2]) * (rank < ranks / 2 ? 1 : 3);
    plane = (long)side * side, rows = plane * layers;
    MPI_Allreduce(&layers, &all_layers, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Scan(&layers, &below, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    below -= layers;
    double *vector = zeros(rows + 2 * plane);
    for (long i = 0; i < rows; ++i) vector[i] = 1;
    tell(NULL);
    generate_matrix_structure();
    if (rank + 1 == ranks) tell("structure");
    assemble();
    make_local_matrix(vector);
    if (rank + 1 == ranks) tell("assembly");
    double last = cg_solve(vector, atoi(words[3]));
    if (rank + 1 == ranks) tell("solve"), printf("residual %g\n", last);
    MPI_Finalize();
    return 0;
}
