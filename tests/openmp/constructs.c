/* Every construct that the OpenMP tool knows, twice, on four threads. */
#include <omp.h>
#include <unistd.h>

static int sum, once;  /* nothing keeps a single construct and the lock apart */

static void constructs(omp_lock_t *lock) {
#pragma omp parallel num_threads(4)
    {
#pragma omp for schedule(static)
        for (int i = 0; i < 101; ++i) usleep(1);
#pragma omp for schedule(dynamic, 3)
        for (int i = 0; i < 50; ++i) usleep(1);
#pragma omp for schedule(static, 2)
        for (int i = 0; i < 37; ++i) usleep(1);
#pragma omp for schedule(guided)
        for (int i = 0; i < 60; ++i) usleep(1);
#pragma omp critical
        sum += 1;
#pragma omp barrier
        omp_set_lock(lock);
        sum += 2;
        omp_unset_lock(lock);
#pragma omp single
        once += 3;
    }
}

int main(void) {
    omp_lock_t lock;
    omp_init_lock(&lock);
    constructs(&lock);
    constructs(&lock);
    usleep(20000);
#pragma omp parallel num_threads(1)
    sum += 1;
    return sum + once != 31;
}
