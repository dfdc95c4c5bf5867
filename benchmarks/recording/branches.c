/* branches.c -- What counting costs most: blocks of a statement or two with calls between them.
 *
 * branches DEPTH STEPS: prints the CPU time in s, and what it worked out. Calls keep counts out of
 * registers, and no block is executed as often as another one.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint32_t __attribute__((noinline)) wander(uint32_t number, int depth) {
    if (depth == 0) return number & 1;
    number = number * 1664525u + 1013904223u;
    if (number >> 31) {
        if (number >> 30 & 1) return wander(number ^ 5, depth - 1) + 1;
        return wander(number, depth - 1) ^ number;
    }
    if (number >> 29 & 1) number += wander(number + 3, depth - 1);
    if (number >> 28 & 1) return number - wander(number, depth - 1);
    return number;
}

static double cpu_s(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(int count, char **words) {
    if (count < 3) return 2;
    const int depth = atoi(words[1]), steps = atoi(words[2]);
    uint32_t all = 0;
    const double begin = cpu_s();
    for (int step = 0; step < steps; ++step) all ^= wander((uint32_t)step, depth);
    printf("%.6f %u\n", cpu_s() - begin, all);
    return 0;
}
