/* Counts how often each block was executed, and says it in the end. */
#include <stdint.h>
#include <stdio.h>

#define BLOCKS 4096

__thread uint64_t burst_work[16];
static unsigned long hits[BLOCKS];

void hit(int block) { ++hits[block]; }

__attribute__((destructor)) static void say(void) {
    for (int i = 0; i < BLOCKS; i++)
        if (hits[i]) printf("hit %d %lu\n", i, hits[i]);
}
