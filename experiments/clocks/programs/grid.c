/* Heat in a plate, in the phases of TeaLeaf: implicit time steps, each solved by conjugate
 * gradients on a grid of five-point differences. Loops are short, and threads meet after each.
 *
 *     grid SIDE STEPS ITERATIONS
 *
 * The plate of SIDE x SIDE cells is divided among the ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PLAIN __attribute__((no_instrument_function)) /* too short to be recorded */
#define APART __attribute__((noinline))
enum { SIDES = 4 };

static int ranks, width, height, stride, beside[SIDES]; /* cells of this rank; left, right, down, up */
static MPI_Comm plate;
static double *heat, *direction, *product, *residual, *buffer[2 * SIDES];

PLAIN static int length(int k) { return k < 2 ? height : width; }

PLAIN static double *edge(double *field, int k, int i, int outside) {
    int far = k % 2 ? (k < 2 ? width : height) + outside : 1 - outside;
    return field + (k < 2 ? (i + 1) * stride + far : far * stride + i + 1);
}

APART static void update_halo(double *field) {
    MPI_Request request[2 * SIDES];
    int count = 0;
    for (int k = 0; k < SIDES; ++k)
        if (beside[k] != MPI_PROC_NULL)
            MPI_Irecv(buffer[k], length(k), MPI_DOUBLE, beside[k], k ^ 1, plate, &request[count++]);
    for (int k = 0; k < SIDES; ++k)
        if (beside[k] != MPI_PROC_NULL) {
            double *packed = buffer[SIDES + k];
#pragma omp parallel for schedule(static)
            for (int i = 0; i < length(k); ++i) packed[i] = *edge(field, k, i, 0);
            MPI_Isend(packed, length(k), MPI_DOUBLE, beside[k], k, plate, &request[count++]);
        }
    MPI_Waitall(count, request, MPI_STATUSES_IGNORE);
    for (int k = 0; k < SIDES; ++k)
        if (beside[k] != MPI_PROC_NULL) {
#pragma omp parallel for schedule(static)
            for (int i = 0; i < length(k); ++i) *edge(field, k, i, 1) = buffer[k][i];
        }
}

APART static double sum_of_all(double sum) {
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, plate);
    return sum;
}

APART static double cg_init(void) {
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int y = 1; y <= height; ++y)
        for (int x = 1; x <= width; ++x) {
            long i = (long)y * stride + x;
            double flow = heat[i - 1] + heat[i + 1] + heat[i - stride] + heat[i + stride] - 4 * heat[i];
            direction[i] = residual[i] = flow;
            sum += flow * flow;
        }
    return sum_of_all(sum);
}

APART static double cg_calc_w(void) {
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int y = 1; y <= height; ++y)
        for (int x = 1; x <= width; ++x) {
            const double *p = direction + (long)y * stride + x;
            double w = 5 * p[0] - p[-1] - p[1] - p[-stride] - p[stride];
            product[(long)y * stride + x] = w;
            sum += w * p[0];
        }
    return sum_of_all(sum);
}

APART static double cg_calc_ur(double alpha) {
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int y = 1; y <= height; ++y)
        for (int x = 1; x <= width; ++x) {
            long i = (long)y * stride + x;
            heat[i] += alpha * direction[i];
            residual[i] -= alpha * product[i];
            sum += residual[i] * residual[i];
        }
    return sum_of_all(sum);
}

APART static void cg_calc_p(double beta) {
#pragma omp parallel for schedule(static)
    for (int y = 1; y <= height; ++y)
        for (int x = 1; x <= width; ++x) {
            long i = (long)y * stride + x;
            direction[i] = residual[i] + beta * direction[i];
        }
}

APART static double solve(int iterations) {
    update_halo(heat);
    double size = cg_init();
    for (int step = 0; step < iterations; ++step) {
        update_halo(direction);
        double along = cg_calc_w(), next = cg_calc_ur(along > 0 ? size / along : 0);
        cg_calc_p(size > 0 ? next / size : 0);
        size = next;
    }
    return size;
}

/* Wall and CPU time in seconds. */
PLAIN static void tell(const char *phase) {
    static double last[2];
    double now[2] = {MPI_Wtime(), (double)clock() / CLOCKS_PER_SEC};
    if (phase) printf("phase %s %.6f %.6f\n", phase, now[0] - last[0], now[1] - last[1]);
    last[0] = now[0], last[1] = now[1];
}

int main(int count, char **words) {
    int provided, dimensions[2] = {0, 0}, apart[2] = {0, 0}, rank;
    MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 2, dimensions);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dimensions, apart, 0, &plate);
    MPI_Comm_rank(plate, &rank);
    for (int d = 0; d < 2; ++d) MPI_Cart_shift(plate, d, 1, &beside[2 * d], &beside[2 * d + 1]);
    width = atoi(words[1]) / dimensions[0], height = atoi(words[1]) / dimensions[1], stride = width + 2;
    double **fields[] = {&heat, &direction, &product, &residual}, last = 0;
    for (int k = 0; k < 4; ++k) *fields[k] = calloc((long)stride * (height + 2), sizeof(double));
    for (int k = 0; k < 2 * SIDES; ++k) buffer[k] = calloc(width + height, sizeof(double));
    if (rank == 0) heat[stride + 1] = 100;
    tell(NULL);
    for (int step = 0; step < atoi(words[2]); ++step) last = solve(atoi(words[3]));
    if (rank + 1 == ranks) tell("solve"), printf("result %g\n", last);
    MPI_Finalize();
    return 0;
}
