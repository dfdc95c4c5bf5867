/* kernels.c -- Short loops of one kind of work each, which calibrate effort models.
 *
 * Compiled by `burstline cc`, so that each counts what it executes; timing.c times them. Of most
 * kinds of work there are several: some need each result for the next one, some do not.
 */
#include "kernels.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline))
#define SCALAR _Pragma("clang loop vectorize(disable) interleave(disable) unroll(disable)")
#define APPEARS(value) __asm__ volatile("" : "+r"(value)) /* so that nothing is left out */
#define FOR SCALAR for (long i = 0; i < n; ++i)
enum { SMALL = 1 << 11, LARGE = 1 << 18 };

static double a[LARGE], b[LARGE], c[LARGE];
static uint64_t words[LARGE], places[LARGE];

APART static uint64_t chained(long n) {
    uint64_t x = 88172645463325252u;
    FOR x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    return x;
}

APART static uint64_t independent(long n) {
    uint64_t x = 1, y = 2, z = 3, w = 4;
    FOR x = x * 3 + 1, y = (y << 1) ^ (uint64_t)i, z = z * 5 + 7, w = (w >> 1) ^ (uint64_t)i;
    return x ^ y ^ z ^ w;
}

APART static uint64_t loads(long n) {
    uint64_t sum = 0;
    FOR sum += words[i % SMALL];
    return sum;
}

APART static uint64_t far_loads(long n) {
    uint64_t sum = 0;
    FOR sum += words[places[i]];
    return sum;
}

APART static uint64_t followed(long n) {
    uint64_t place = 0;
    FOR place = places[place];
    return place;
}

APART static uint64_t stores(long n) {
    FOR words[i % SMALL] = (uint64_t)i;
    return words[n % SMALL];
}

APART static uint64_t copies(long n) {
    FOR words[i % SMALL] = places[i];
    return words[n % SMALL];
}

#define BRANCHES(name, condition)        \
    APART static uint64_t name(long n) { \
        uint64_t x = 0;                  \
        FOR {                            \
            if (condition) {             \
                APPEARS(x);              \
                x += 3;                  \
            } else {                     \
                APPEARS(x);              \
                x ^= 5;                  \
            }                            \
        }                                \
        return x;                        \
    }
BRANCHES(even_branches, i % 8 < 4)
BRANCHES(branches, places[i] & 1)

#define SUMS(name, value)                \
    APART static uint64_t name(long n) { \
        double sum = 0;                  \
        FOR sum += value;                \
        return (uint64_t)sum;            \
    }
SUMS(sums, b[i % SMALL] * c[i % SMALL])
SUMS(roots, sqrt(b[i % SMALL]))
SUMS(maxima, fmax(b[i % SMALL], 0.5))
SUMS(exponentials, exp(b[i % SMALL]))
SUMS(sines, sin(b[i % SMALL]))
SUMS(powers, pow(1 + b[i % SMALL], c[i % SMALL]))

APART static uint64_t triads(long n) {
    FOR a[i] = b[i] + 3 * c[i];
    return (uint64_t)a[n - 1];
}

APART static uint64_t polynomials(long n) {
    double x = 0, y = 1;
    FOR x = ((0.1 * y + 0.2) * y + 0.3) * y + 0.4, y = 0.5 * x;
    return (uint64_t)y;
}

APART static uint64_t divisions(long n) {
    FOR a[i % SMALL] = b[i % SMALL] / (1 + c[i % SMALL]);
    return (uint64_t)a[0];
}

APART static uint64_t wide_triads(long n) {
    for (long i = 0; i < n; ++i) a[i] = b[i] + 3 * c[i];
    return (uint64_t)a[n - 1];
}

APART static uint64_t wide_polynomials(long n) {
    for (long k = 0; k < n; k += SMALL)
        for (long i = 0; i < SMALL; ++i) a[i] = ((0.1 * b[i] + 0.2) * b[i] + 0.3) * b[i] + 0.4;
    return (uint64_t)a[0];
}

APART static uint64_t allocations(long n) {
    uint64_t sum = 0;
    FOR {
        char* room = malloc(64 + 16 * (size_t)(i % 8));
        APPEARS(room);
        sum += (uintptr_t)room;
        free(room);
    }
    return sum;
}

APART static uint64_t block_copies(long n) {
    FOR {
        memcpy(a, b, 256 + 64 * (size_t)(i % 8));
        __asm__ volatile("" ::: "memory");
    }
    return (uint64_t)a[0];
}

APART static uint64_t calls(long n) {
    uint64_t x = 1;
    FOR x = other(x);
    return x;
}

APART static uint64_t calls_by_pointer(long n) {
    uint64_t (*volatile by)(uint64_t) = other, x = 1;
    FOR x = by(x);
    return x;
}

#define KERNEL(name) {#name, name}
const struct kernel kernels[] = {
    KERNEL(chained), KERNEL(independent), KERNEL(loads), KERNEL(far_loads), KERNEL(followed),
    KERNEL(stores), KERNEL(copies), KERNEL(even_branches), KERNEL(branches), KERNEL(sums),
    KERNEL(triads), KERNEL(polynomials), KERNEL(divisions), KERNEL(wide_triads),
    KERNEL(wide_polynomials), KERNEL(roots), KERNEL(maxima), KERNEL(exponentials), KERNEL(sines),
    KERNEL(powers), KERNEL(allocations), KERNEL(block_copies), KERNEL(calls),
    KERNEL(calls_by_pointer)};
const unsigned long kernel_count = sizeof kernels / sizeof *kernels;

void set_up(void) {
    uint64_t x = 88172645463325252u;
    for (long i = 0; i < LARGE; ++i) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        places[i] = x % LARGE, words[i] = x, a[i] = 0;
        b[i] = (double)(x % 1000) / 1000, c[i] = 1 + b[i];
    }
}
