/* The program that `burstline demo` explains: heat in an iron ring, divided among ranks.

   It is slow on purpose: relax() takes three times as long on rank 2. What functions take is
   waited for, not computed, so that it is the same on any machine, however many ranks share
   a processor there. It is recorded with its functions, and without counters, which
   say nothing of sleep:

     mpicc -g -O1 -finstrument-functions heat.c -o heat -lm
     burstline record --counters none -o heat.prv.gz -- mpirun -n 4 ./heat
*/
#include <math.h>
#include <mpi.h>
#include <time.h>

enum { CELLS = 64, STEPS = 44, STEPS_TO_CHECK = 10, SLOW_RANK = 2 };

static double ring[CELLS + 2];
static int rank, ranks;

/* Wait for some time: work that takes as long on any machine. */
__attribute__((no_instrument_function)) static void take(long ms) {
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += 1000000 * ms;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL)) {
    }
}

static void heat(void) {
    if (rank == 0) ring[CELLS / 2] = 100;
    take(1);
}

static void start_halo(MPI_Request halo[4]) {
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Irecv(&ring[0], 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &halo[0]);
    MPI_Irecv(&ring[CELLS + 1], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &halo[1]);
    MPI_Isend(&ring[CELLS], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &halo[2]);
    MPI_Isend(&ring[1], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &halo[3]);
}

static void finish_halo(MPI_Request halo[4]) {
    MPI_Waitall(4, halo, MPI_STATUSES_IGNORE);
}

static double relax(void) {
    double change = 0, before = ring[0];
    for (int i = 1; i <= CELLS; i++) {
        double now = (before + ring[i + 1]) / 2;
        change = fmax(change, fabs(now - ring[i]));
        before = ring[i];
        ring[i] = now;
    }
    take(rank == SLOW_RANK ? 15 : 5);
    return change;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int step = 1; step <= STEPS; step++) {
        MPI_Request halo[4];
        start_halo(halo);
        heat();
        finish_halo(halo);
        double change = relax();
        if (step % STEPS_TO_CHECK == 0)
            MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    MPI_Finalize();
}
