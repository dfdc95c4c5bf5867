#include "blame.h"

#include <errno.h>
#include <time.h>

__attribute__((no_instrument_function)) void work(double units) {
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    const long long ns = end.tv_nsec + (long long)(units * 40e6);
    end.tv_sec += ns / 1000000000;
    end.tv_nsec = ns % 1000000000;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR) {}
}
