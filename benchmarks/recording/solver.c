/* solver.c -- Conjugate gradients on a 27-point stencil, as finite-element mini-apps do it.
 *
 * solver EDGE STEPS: prints the CPU time in s, and the residual.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct matrix {
    int rows, *begin, *column;
    double *value;
};

static struct matrix stencil(int edge) {
    const int rows = edge * edge * edge;
    struct matrix m = {rows, malloc(sizeof(int) * ((size_t)rows + 1)),
                       malloc(sizeof(int) * (size_t)rows * 27),
                       malloc(sizeof(double) * (size_t)rows * 27)};
    int at = 0;
    for (int row = 0; row < rows; ++row) {
        const int x = row % edge, y = row / edge % edge, z = row / edge / edge;
        m.begin[row] = at;
        for (int k = 0; k < 27; ++k) {
            const int u = x + k % 3 - 1, v = y + k / 3 % 3 - 1, w = z + k / 9 - 1;
            if (u < 0 || v < 0 || w < 0 || u >= edge || v >= edge || w >= edge) continue;
            m.column[at] = u + edge * (v + edge * w);
            m.value[at++] = k == 13 ? 27.0 : -1.0;
        }
    }
    m.begin[rows] = at;
    return m;
}

static void multiply(const struct matrix *m, const double *x, double *y) {
    for (int row = 0; row < m->rows; ++row) {
        double sum = 0;
        for (int i = m->begin[row]; i < m->begin[row + 1]; ++i)
            sum += m->value[i] * x[m->column[i]];
        y[row] = sum;
    }
}

static double dot(int n, const double *x, const double *y) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
}

/* y = a x + b y */
static void combine(int n, double a, const double *x, double b, double *y) {
    for (int i = 0; i < n; ++i) y[i] = a * x[i] + b * y[i];
}

static double solve(const struct matrix *m, double *x, int steps) {
    const int n = m->rows;
    double *r = malloc(sizeof *r * (size_t)n), *p = malloc(sizeof *p * (size_t)n);
    double *q = malloc(sizeof *q * (size_t)n);
    for (int i = 0; i < n; ++i) x[i] = 0, r[i] = p[i] = 1;
    double rest = dot(n, r, r);
    for (int step = 0; step < steps; ++step) {
        multiply(m, p, q);
        const double alpha = rest / dot(n, p, q), before = rest;
        combine(n, alpha, p, 1, x);
        combine(n, -alpha, q, 1, r);
        rest = dot(n, r, r);
        combine(n, 1, r, rest / before, p);
    }
    free(r), free(p), free(q);
    return rest;
}

static double cpu_s(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(int count, char **words) {
    if (count < 3) return 2;
    const struct matrix m = stencil(atoi(words[1]));
    double *x = malloc(sizeof *x * (size_t)m.rows);
    const double begin = cpu_s();
    const double rest = solve(&m, x, atoi(words[2]));
    printf("%.6f %.12g\n", cpu_s() - begin, rest);
    return 0;
}
