#include "blame.h"

void assemble(void) { work(2); }

void solve(void) {
#pragma omp parallel num_threads(2)
    work(1);
}
