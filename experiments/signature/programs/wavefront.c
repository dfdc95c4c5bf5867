/* A wavefront through a box, in the manner of NPB's LU: a step relaxes five unknowns at each
 * point in the order of the points, forwards and then backwards. A point needs those before it,
 * so ranks work in a pipeline: a plane of the box at a time, with small messages in between.
 *
 *     wavefront SIZE STEPS
 *
 * The box has SIZE x SIZE x PLANES points, and ranks share its columns like a chessboard.
 * Which calls are made depends on ranks and STEPS alone. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { PLANES = 16, UNKNOWNS = 5, CHECKED = 50, WEST = 0, EAST = 1, NORTH = 2, SOUTH = 3 };

static int wide, high; /* points of this rank, in each plane */
static int beside[4];  /* ranks to the west, east, north and south, or MPI_PROC_NULL */
static double *field, *change, *edges[8];
static double coupling[UNKNOWNS][UNKNOWNS];
static MPI_Comm board;

/* Unknowns of a point; rows and columns of other ranks are at -1 and at the end. */
static double *point(double *values, int i, int j, int k) {
    return values + (((long)k * (high + 2) + j + 1) * (wide + 2) + i + 1) * UNKNOWNS;
}

/* Copies the points at a side of some planes to an edge, or those of other ranks from it. */
static int copy(double *edge, int side, int outside, int from, int to) {
    int across = side == WEST || side == EAST, length = across ? high : wide;
    int last = across ? wide : high, place = side % 2 ? last - 1 + outside : -outside;
    int count = 0;
    for (int k = from; k < to; k++)
        for (int n = 0; n < length; n++) {
            double *here = across ? point(field, place, n, k) : point(field, n, place, k);
            for (int m = 0; m < UNKNOWNS; m++, count++)
                if (outside) here[m] = edge[count];
                else edge[count] = here[m];
        }
    return count;
}

static void exchange_faces(void) {
    MPI_Request requests[8];
    for (int side = 0; side < 4; side++) {
        int count = (side < 2 ? high : wide) * PLANES * UNKNOWNS;
        MPI_Irecv(edges[side], count, MPI_DOUBLE, beside[side], side ^ 1, board, &requests[side]);
    }
    for (int side = 0; side < 4; side++) {
        int count = copy(edges[4 + side], side, 0, 0, PLANES);
        MPI_Isend(edges[4 + side], count, MPI_DOUBLE, beside[side], side, board,
                  &requests[4 + side]);
    }
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    for (int side = 0; side < 4; side++)
        if (beside[side] != MPI_PROC_NULL) copy(edges[side], side, 1, 0, PLANES);
}

static void right_hand_side(void) {
    for (int k = 0; k < PLANES; k++)
        for (int j = 0; j < high; j++)
            for (int i = 0; i < wide; i++) {
                double *here = point(field, i, j, k), *to = point(change, i, j, k);
                double *west = point(field, i - 1, j, k), *east = point(field, i + 1, j, k);
                double *north = point(field, i, j - 1, k), *south = point(field, i, j + 1, k);
                for (int m = 0; m < UNKNOWNS; m++) {
                    double flow = west[m] + east[m] + north[m] + south[m] - 4 * here[m];
                    to[m] = 1 + 0.05 * flow + 0.01 * here[m] * here[(m + 1) % UNKNOWNS];
                }
            }
}

/* Relaxes a plane: the sign is -1 where points before are the lower ones, and 1 where upper.
 * Unknowns of a point are relaxed one after another, each by what became of the one before. */
static void relax(int k, int sign) {
    for (int b = 0; b < high; b++)
        for (int a = 0; a < wide; a++) {
            int i = sign < 0 ? a : wide - 1 - a, j = sign < 0 ? b : high - 1 - b;
            int below = k + sign < 0 || k + sign >= PLANES ? k : k + sign;
            double *here = point(field, i, j, k), *to = point(change, i, j, k);
            double *x = point(field, i + sign, j, k), *y = point(field, i, j + sign, k);
            double *z = point(field, i, j, below);
            double before = here[UNKNOWNS - 1];
            for (int m = 0; m < UNKNOWNS; m++) {
                double sum = to[m], length = sqrt(here[m] * here[m] + before * before);
                for (int n = 0; n < UNKNOWNS; n++) sum += coupling[m][n] * (x[n] + y[n] + z[n]);
                before = here[m] += 0.5 * (sum / (1 + 0.1 * length) - here[m]);
            }
        }
}

static void sweep(int sign) {
    int before[2] = {sign < 0 ? NORTH : SOUTH, sign < 0 ? WEST : EAST};
    for (int turn = 0; turn < PLANES; turn++) {
        int k = sign < 0 ? turn : PLANES - 1 - turn;
        for (int n = 0; n < 2; n++) {
            int side = before[n], count = (side < 2 ? high : wide) * UNKNOWNS;
            if (beside[side] == MPI_PROC_NULL) continue;
            MPI_Recv(edges[side], count, MPI_DOUBLE, beside[side], 9, board, MPI_STATUS_IGNORE);
            copy(edges[side], side, 1, k, k + 1);
        }
        relax(k, sign);
        for (int n = 0; n < 2; n++) {
            int side = before[n] ^ 1;
            if (beside[side] == MPI_PROC_NULL) continue;
            int count = copy(edges[side], side, 0, k, k + 1);
            MPI_Send(edges[side], count, MPI_DOUBLE, beside[side], 9, board);
        }
    }
}

static double norm(void) {
    double sum = 0, all;
    for (int k = 0; k < PLANES; k++)
        for (int j = 0; j < high; j++)
            for (int i = 0; i < wide; i++) sum += fabs(*point(field, i, j, k));
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, board);
    return all;
}

int main(int count, char **words) {
    int size = count > 1 ? atoi(words[1]) : 128, steps = count > 2 ? atoi(words[2]) : 600;
    int rank, ranks, shape[2] = {0, 0}, open[2] = {0, 0}, here[2];
    MPI_Init(&count, &words);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 2, shape);
    MPI_Cart_create(MPI_COMM_WORLD, 2, shape, open, 0, &board);
    MPI_Comm_rank(board, &rank);
    MPI_Cart_coords(board, rank, 2, here);
    MPI_Cart_shift(board, 0, 1, &beside[NORTH], &beside[SOUTH]);
    MPI_Cart_shift(board, 1, 1, &beside[WEST], &beside[EAST]);
    high = size * (here[0] + 1) / shape[0] - size * here[0] / shape[0];
    wide = size * (here[1] + 1) / shape[1] - size * here[1] / shape[1];
    long values = (long)PLANES * (high + 2) * (wide + 2) * UNKNOWNS;
    field = malloc(values * sizeof *field);
    change = malloc(values * sizeof *change);
    for (int n = 0; n < 8; n++)
        edges[n] = malloc(PLANES * (size_t)(high > wide ? high : wide) * UNKNOWNS * sizeof(double));
    for (long n = 0; n < values; n++) field[n] = 1 + 1e-3 * (n % 11), change[n] = 0;
    for (int m = 0; m < UNKNOWNS; m++)
        for (int n = 0; n < UNKNOWNS; n++) coupling[m][n] = m == n ? 0.1 : 0.02 / (1 + abs(m - n));
    double sum = norm();
    for (int step = 1; step <= steps; step++) {
        exchange_faces();
        right_hand_side();
        sweep(-1);
        sweep(1);
        if (step % CHECKED == 0) sum = norm();
    }
    if (rank == 0) printf("checksum %.10g\n", sum);
    MPI_Finalize();
    return 0;
}
