/* Conjugate gradients on a banded matrix, on grids of several sizes in turn.
 * Rows of a rank are wider, the higher its number: ranks differ in work. */
#include <mpi.h>
#include <stdlib.h>

enum { SIZES = 6 };

typedef struct {
    int rank, size;
    long rows, width;
    long *column;
    double *value, *x, *direction, *residual, *product;
} Part;

static double dot(const double *a, const double *b, long rows) {
    double mine = 0, all;
    for (long i = 0; i < rows; i++) mine += a[i] * b[i];
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void exchange(Part *part) {
    int left = (part->rank + part->size - 1) % part->size, right = (part->rank + 1) % part->size;
    double *own = part->direction + 1;
    MPI_Request requests[4];
    MPI_Irecv(own - 1, 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(own + part->rows, 1, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(own, 1, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(own + part->rows - 1, 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void multiply(Part *part) {
    for (long i = 0; i < part->rows; i++) {
        double sum = 4 * part->direction[1 + i];
        for (long k = i * part->width; k < (i + 1) * part->width; k++)
            sum += part->value[k] * part->direction[1 + part->column[k]];
        part->product[i] = sum;
    }
}

static void solve(Part *part, int steps) {
    double *own = part->direction + 1;
    double before = dot(part->residual, part->residual, part->rows);
    for (int step = 0; step < steps && before > 0; step++) {
        exchange(part);
        multiply(part);
        double alpha = before / dot(own, part->product, part->rows);
        for (long i = 0; i < part->rows; i++) {
            part->x[i] += alpha * own[i];
            part->residual[i] -= alpha * part->product[i];
        }
        double now = dot(part->residual, part->residual, part->rows);
        for (long i = 0; i < part->rows; i++)
            own[i] = part->residual[i] + now / before * own[i];
        before = now;
    }
}

static void fill(Part *part) {
    part->column = malloc(part->rows * part->width * sizeof *part->column);
    part->value = malloc(part->rows * part->width * sizeof *part->value);
    double **vectors[] = {&part->x, &part->direction, &part->residual, &part->product};
    for (int v = 0; v < 4; v++) *vectors[v] = calloc(part->rows + 2, sizeof(double));
    for (long k = 0; k < part->rows * part->width; k++) {
        part->column[k] = (k * 7919 + part->rank) % part->rows;
        part->value[k] = -0.01;
    }
    for (long i = 0; i < part->rows; i++) part->residual[i] = part->direction[1 + i] = 1 + i % 5;
}

static void empty(Part *part) {
    void *all[] = {part->column, part->value, part->x, part->direction, part->residual,
                   part->product};
    for (int i = 0; i < 6; i++) free(all[i]);
}

int main(int argc, char **argv) {
    long scale = argc > 1 ? atol(argv[1]) : 1000;
    Part part;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &part.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &part.size);
    for (int turn = 0; turn < SIZES; turn++) {
        part.rows = scale * (1 + turn);
        part.width = 3 + 2 * ((part.rank + turn) % part.size);
        fill(&part);
        solve(&part, 25);
        empty(&part);
    }
    MPI_Finalize();
    return 0;
}
