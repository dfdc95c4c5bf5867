/* Kernels whose work can be counted by hand. */
int other(void);

void triad(double *restrict a, const double *restrict b, const double *restrict c, long n) {
    for (long i = 0; i < n; i++) a[i] = b[i] + 3.0 * c[i];
}

float dot(const float *a, const float *b, long n) {
    float sum = 0;
    for (long i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

void multiply(const long *row, const int *column, const double *value, const double *x,
                     double *y, long rows) {
    for (long i = 0; i < rows; i++) {
        double sum = 0;
        for (long j = row[i]; j < row[i + 1]; j++) sum += value[j] * x[column[j]];
        y[i] = sum;
    }
}

long odd(const long *a, long n) {
    long count = 0;
    for (long i = 0; i < n; i++)
        if (a[i] & 1) *(volatile long *)&count = count + 1;
    return count;
}

long collatz(long n) {
    long steps = 0;
    while (n != 1) {
        n = n & 1 ? 3 * n + 1 : n / 2;
        steps++;
    }
    return steps;
}

long found(const long *a, long n, long key) {
    for (long i = 0; i < n; i++) {
        if (a[i] == key) return i;
        if (a[i] > key) break;
    }
    return -1;
}

void called(double *a, long n) {
    for (long i = 0; i < n; i++) {
        a[i] = a[i] / 2.0;
        if (other() < 0) break;
        a[i] = a[i] - 1.0;
    }
}
