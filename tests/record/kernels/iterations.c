/* Says how many iterations of OpenMP's loops each thread has counted and executed. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>

extern __thread uint64_t burst_work[16];
static __thread uint64_t executed;

__attribute__((noinline)) static void one(void) {
    __asm__ volatile("" ::: "memory");
    executed++;
}

int main(void) {
    omp_set_num_threads(3);
    omp_set_dynamic(0);
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int i = 0; i < 100; i++) one();
#pragma omp for schedule(static, 7)
        for (long i = 3; i < 100; i += 2) one();
#pragma omp for schedule(dynamic, 3)
        for (unsigned i = 0; i < 50; i++) one();
#pragma omp for schedule(guided) collapse(2)
        for (int i = 0; i < 9; i++)
            for (int j = 0; j < 5; j++) one();
#pragma omp for schedule(static)
        for (int i = 0; i < 2; i++) one();
#pragma omp for schedule(static)
        for (int i = 5; i < 5; i++) one();
#pragma omp critical
        printf("%lu %lu\n", (unsigned long)burst_work[12], (unsigned long)executed);
    }
    return 0;
}

/* Compilers ask for it from version 19 on, runtimes have it from then on. */
__attribute__((weak)) void __kmpc_dispatch_deinit(void *place, int thread) {
    (void)place, (void)thread;
}
