/* patient.c -- Lets ranks that wait in an MPI sleep: both spin, and keep others waiting. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

#define SPINS 20

static void sleep_a_little(void) { nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL); }

/* Open MPI calls it again and again. */
int sched_yield(void) {
    sleep_a_little();
    return 0;
}

/* MPICH calls it again and again; it gives how much came. */
unsigned ucp_worker_progress(void *worker) {
    static _Thread_local int spins;
    unsigned (*progress)(void *) = (unsigned (*)(void *))dlsym(RTLD_NEXT, __func__);
    const unsigned came = progress(worker);
    spins = came > 0 ? 0 : spins + 1;
    if (spins > SPINS) sleep_a_little();
    return came;
}
