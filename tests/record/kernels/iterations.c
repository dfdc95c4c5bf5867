/* Says how many iterations of OpenMP's loops each thread has counted and executed, by loop. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define OMP(directive) _Pragma(#directive)

extern __thread uint64_t burst_work[16];
static __thread uint64_t executed, counted_before, executed_before;

__attribute__((noinline)) static void one(void) {
    __asm__ volatile("" ::: "memory");
    executed++;
}

__attribute__((noinline)) static void report(const char *loop) {
    const uint64_t counted = burst_work[12];
    printf("%s %lu %lu\n", loop, (unsigned long)(counted - counted_before),
           (unsigned long)(executed - executed_before));
    counted_before = counted, executed_before = executed;
}

static void share(void) {
    OMP(omp for schedule(static))
    for (int i = 0; i < 100; i++) one();
    report("static");
    OMP(omp for schedule(static, 7))
    for (long i = 3; i < 98; i += 2) one();
    report("chunked");
    OMP(omp for schedule(static, 1))
    for (unsigned long i = 20; i > 3; i--) one();
    report("cyclic");
    OMP(omp for schedule(dynamic, 3))
    for (unsigned i = 0; i < 50; i++) one();
    report("dynamic");
    OMP(omp for schedule(guided) collapse(2))
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 5; j++) one();
    report("guided");
    OMP(omp for schedule(static) collapse(2) nowait)
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 3; j++) one();
    report("collapsed");
    OMP(omp for schedule(dynamic) nowait)
    for (int i = 0; i < 31; i++) one();
    report("unordered");
    OMP(omp for schedule(runtime))
    for (int i = 0; i < 13; i++) one();
    report("runtime");
    OMP(omp for schedule(static))
    for (int i = 0; i < 2; i++) one();
    report("few");
    OMP(omp for schedule(static))
    for (int i = 5; i < 5; i++) one();
    report("none");
}

static void nest(int threads) {
    OMP(omp parallel num_threads(2))
    {
        OMP(omp for schedule(static) nowait)
        for (int i = 0; i < 5; i++) one();
        report("outer");
        OMP(omp parallel num_threads(threads))
        {
            OMP(omp for schedule(static))
            for (int i = 0; i < 20; i++) one();
            report("inner");
            OMP(omp for schedule(dynamic, 2))
            for (int i = 0; i < 17; i++) one();
            report("innermost");
        }
    }
}

int main(int argc, char **argv) {
    const int threads = argc > 1 ? atoi(argv[1]) : 3;
    omp_set_dynamic(0);
    omp_set_max_active_levels(2);
    omp_set_schedule(omp_sched_guided, 2);
    OMP(omp parallel num_threads(threads))
    share();
    nest(threads);
    return 0;
}

/* Compilers ask for it from version 19 on, runtimes have it from then on. */
__attribute__((weak)) void __kmpc_dispatch_deinit(void *place, int thread) {
    (void)place, (void)thread;
}
