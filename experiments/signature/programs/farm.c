/* Uneven work: a master hands out tasks, and keeps a few for itself. Some tasks cost six times
 * as much as others, and which ones they are moves on from step to step, and comes back: work
 * wanders over the ranks. Who gets which task does not depend on who is fast.
 *
 *     farm SIZE STEPS
 *
 * A task of cost 1 takes SIZE steps along an equation; a step has TASKS tasks in ROUNDS rounds.
 * Which calls are made depends on ranks and STEPS alone. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 4, TASKS = 32, PERIOD = 60, MASTER = 0, ORDER = 8 };

typedef struct {
    double first, share; /* the first task, and how many */
    double place;        /* of the most expensive task */
    double scale;
} Batch;

static int rank, ranks, size;

/* The cost of a task: high near a place on a ring. */
static double cost(double task, double place) {
    double away = fabs(task - place);
    if (away > TASKS / 2.0) away = TASKS - away;
    return 1 + 5 * exp(-away * away / 16);
}

/* Follows an equation in steps that become finer with the cost of the task. */
static double work(Batch batch) {
    double sum = 0;
    for (int task = 0; task < (int)batch.share; task++) {
        double number = batch.first + task;
        long points = (long)(size * cost(number, batch.place));
        double width = 1.0 / points, slope = 0.1 * (1 + batch.scale * number);
        double y = 0;
        for (long n = 0; n < points; n++) { /* each step needs the one before it */
            double value = 0;
            for (int order = ORDER; order > 0; order--) value = (value + order) * y * slope;
            y += sqrt(1 + value * value) * width;
        }
        sum += y;
    }
    return sum;
}

/* The first task of a rank's share: the master has half of what workers have. */
static int first_task(int of) {
    return of == 0 ? 0 : TASKS * (2 * of - 1) / (2 * ranks - 1);
}

static Batch batch_for(int of, int step, int round, double scale) {
    double turned = (double)(step % PERIOD) / PERIOD + (double)round / (8 * ROUNDS);
    Batch batch = {first_task(of), first_task(of + 1) - first_task(of), 0, scale};
    batch.place = TASKS * fmod(turned, 1);
    return batch;
}

static double lead(int step, double scale) {
    double sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int worker = 1; worker < ranks; worker++) {
            Batch batch = batch_for(worker, step, round, scale);
            MPI_Send(&batch, 4, MPI_DOUBLE, worker, round, MPI_COMM_WORLD);
        }
        sum += work(batch_for(MASTER, step, round, scale));
        for (int worker = 1; worker < ranks; worker++) {
            double result;
            MPI_Recv(&result, 1, MPI_DOUBLE, worker, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            sum += result;
        }
    }
    return sum;
}

static void follow(void) {
    for (int round = 0; round < ROUNDS; round++) {
        Batch batch;
        MPI_Recv(&batch, 4, MPI_DOUBLE, MASTER, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double result = work(batch);
        MPI_Send(&result, 1, MPI_DOUBLE, MASTER, round, MPI_COMM_WORLD);
    }
}

int main(int count, char **words) {
    int steps = count > 2 ? atoi(words[2]) : 600;
    size = count > 1 ? atoi(words[1]) : 30000;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double sum = 0, scale = 1e-3;
    for (int step = 0; step < steps; step++) {
        if (rank == MASTER) sum += lead(step, scale);
        else follow();
        scale = 1e-3 / (1 + 1e-6 * sum);
        MPI_Bcast(&scale, 1, MPI_DOUBLE, MASTER, MPI_COMM_WORLD);
    }
    if (rank == MASTER) printf("checksum %.10g\n", sum);
    MPI_Finalize();
    return 0;
}
