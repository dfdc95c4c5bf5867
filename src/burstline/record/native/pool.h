/* pool.h -- The two files of a process, and the windows before them; see pool.c. */
#ifndef BURSTLINE_POOL_H
#define BURSTLINE_POOL_H

#include "put.h"

struct burst_window { /* of one thread at a time, which hands it on */
    uint64_t *begin, *end; /* mapped, at the border of pages */
    uint64_t *at;          /* where records end, in one that no thread has */
    uint64_t *piece;       /* behind the last BURST_THREAD in it */
    uint64_t before;       /* records of that thread in pieces before */
    uint32_t number;       /* of that thread */
    uint8_t is_large;
    struct burst_window *next;
};

/* What may fail sets errno and returns 0 or NULL. */
struct burst_window *burst_take_window(int is_large);
uint32_t burst_number_thread(void);
int burst_append(const struct burst_window *window, const uint64_t *at, const uint64_t *last,
                 unsigned records);
int burst_append_whole(const uint64_t *records, unsigned count);
void burst_clear_window(struct burst_window *window, const uint64_t *at);
void burst_hand_on(struct burst_window *window, uint64_t *at);
void burst_retire_window(void);
void burst_write_library(void);
void burst_close_pool(void);
void burst_remove_files(void);
void burst_leave_pool(void); /* a child of fork */
const char *burst_raw_path(void);

#endif
