/* Heat in a plate, of which the part that is hot grows: steps become longer, unevenly.
 * Copies, divisions and square roots take turns: as many statements, other times. */
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int rank, size;
    long width, height;
    double *now, *next;
    float *colour;
} Plate;

static void exchange(Plate *plate) {
    int up = plate->rank > 0 ? plate->rank - 1 : MPI_PROC_NULL;
    int down = plate->rank + 1 < plate->size ? plate->rank + 1 : MPI_PROC_NULL;
    long width = plate->width, last = plate->height;
    MPI_Sendrecv(plate->now + width, (int)width, MPI_DOUBLE, up, 1,
                 plate->now + (last + 1) * width, (int)width, MPI_DOUBLE, down, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(plate->now + last * width, (int)width, MPI_DOUBLE, down, 2, plate->now,
                 (int)width, MPI_DOUBLE, up, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void relax(Plate *plate, long rows) {
    long w = plate->width;
    for (long y = 1; y <= rows; y++)
        for (long x = 1; x + 1 < w; x++) {
            double *at = plate->now + y * w + x;
            plate->next[y * w + x] = 0.25 * (at[-1] + at[1] + at[-w] + at[w]);
        }
}

static double radiate(Plate *plate, long rows) {
    double lost = 0;
    for (long i = plate->width; i < (rows + 1) * plate->width; i++) {
        double hot = plate->next[i];
        if (hot > 0.5) lost += sqrt(hot) / (1 + hot * hot);
    }
    return lost;
}

static void paint(Plate *plate, long rows) {
    for (long i = plate->width; i < (rows + 1) * plate->width; i++)
        plate->colour[i] = 0.5f * (float)plate->next[i] + 0.25f;
}

int main(int argc, char **argv) {
    long scale = argc > 1 ? atol(argv[1]) : 96;
    Plate plate = {.width = scale, .height = scale};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &plate.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &plate.size);
    long cells = (plate.height + 2) * plate.width;
    plate.now = calloc(cells, sizeof(double));
    plate.next = calloc(cells, sizeof(double));
    plate.colour = calloc(cells, sizeof(float));
    for (long i = 0; i < cells; i++) plate.now[i] = (double)((i * 31 + plate.rank) % 11);
    for (int step = 0; step < 120; step++) {
        long rows = 2 + (plate.height - 2) * (step + 10 * plate.rank) / 160;
        exchange(&plate);
        relax(&plate, rows);
        MPI_Barrier(MPI_COMM_WORLD);
        double lost = step % 3 ? radiate(&plate, rows) : 0, all;
        MPI_Allreduce(&lost, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (step % 4 == 0) paint(&plate, rows);
        MPI_Barrier(MPI_COMM_WORLD);
        memcpy(plate.now + plate.width, plate.next + plate.width,
               rows * plate.width * sizeof(double));
        MPI_Allreduce(&lost, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
