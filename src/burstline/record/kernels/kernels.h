/* kernels.h -- What kernels.c and timing.c share. */
#ifndef BURST_KERNELS_H
#define BURST_KERNELS_H
#include <stdint.h>

struct kernel {
    const char* name;
    uint64_t (*run)(long);
};
extern const struct kernel kernels[];
extern const unsigned long kernel_count;

void set_up(void);
uint64_t other(uint64_t x); /* of another file, which is not counted */
#endif
