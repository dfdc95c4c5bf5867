/* Every construct of OpenMP that is recorded, twice, between calls of MPI. */
#include <mpi.h>
#include <omp.h>

enum { THREADS = 3, TURNS = 2 };
static volatile double sink;
static int sum;
static omp_lock_t lock;
static omp_nest_lock_t nest;

static void work(int steps) {
    for (int i = 0; i < steps; ++i) sink = i;
}

static void share(void) {
#pragma omp for schedule(static)
    for (int i = 0; i < 101; ++i) work(100);
#pragma omp for schedule(static, 2)
    for (int i = 0; i < 37; ++i) work(100);
#pragma omp for schedule(dynamic, 3)
    for (int i = 0; i < 50; ++i) work(5000);
#pragma omp for schedule(guided) collapse(2)
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 10; ++j) work(1000);
#pragma omp for schedule(static) nowait
    for (int i = 0; i < 2; ++i) work(100);
}

static void exclude(void) {
#pragma omp critical
    sum += 1;
#pragma omp barrier
    omp_set_lock(&lock);
    omp_set_nest_lock(&nest);
    omp_set_nest_lock(&nest);
    sum += 1;
    omp_unset_nest_lock(&nest);
    omp_unset_nest_lock(&nest);
    omp_unset_lock(&lock);
#pragma omp for schedule(static) ordered
    for (int i = 0; i < 6; ++i) {
#pragma omp ordered
        sum += 1;
    }
}

static void divide(void) {
#pragma omp single
    {
        for (int k = 0; k < 4; ++k) {
#pragma omp task
            work(20000);
        }
#pragma omp taskwait
    }
#pragma omp sections
    {
#pragma omp section
        work(100);
#pragma omp section
        work(100);
    }
#pragma omp master
    sum += 1;
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
    for (int turn = 0; turn < TURNS; ++turn) {
#pragma omp parallel num_threads(THREADS)
        {
            share();
            exclude();
            divide();
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return sum != TURNS * (2 * THREADS + 6 + 1);
}
