/* Runs each kernel and prints what it counted; is not instrumented itself. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

extern __thread uint64_t burst_work[16];

void triad(double *a, const double *b, const double *c, long n);
float dot(const float *a, const float *b, long n);
void multiply(const long *row, const int *column, const double *value, const double *x, double *y,
              long rows);
long odd(const long *a, long n);
long collatz(long n);
long found(const long *a, long n, long key);
void called(double *a, long n);

int other(void) { return 1; }

static uint64_t before[16];

static void start(void) { memcpy(before, burst_work, sizeof before); }

static void report(const char *name) {
    uint64_t now[16];
    memcpy(now, burst_work, sizeof now);
    now[11] = now[13] + now[14] + now[15], before[11] = before[13] + before[14] + before[15];
    fprintf(stderr, "%s", name);
    for (int i = 0; i < 16; i++) fprintf(stderr, " %llu", (unsigned long long)(now[i] - before[i]));
    fprintf(stderr, "\n");
}

#define MEASURE(name, call) (start(), (void)(call), report(name))
#define N 100

int main(void) {
    static double a[N], b[N], c[N], y[10];
    static float f[N], g[N];
    static long row[11], numbers[N];
    static int column[N];
    for (int i = 0; i < 11; i++) row[i] = 10 * i;
    for (int i = 0; i < N; i++) numbers[i] = i, column[i] = N - 1 - i;
    MEASURE("triad", triad(a, b, c, N));
    MEASURE("dot", dot(f, g, N));
    MEASURE("multiply", multiply(row, column, a, b, y, 10));
    MEASURE("odd", odd(numbers, N));
    MEASURE("collatz", collatz(27));
    MEASURE("found", found(numbers, N, 40));
    MEASURE("called", called(a, 10));
    return 0;
}
