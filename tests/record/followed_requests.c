/* The table of requests, driven by lines: "put OWNER HANDLE WHERE MESSAGE ID" and "take OWNER HANDLE
 * WHERE MESSAGE", which prints the id of what was found and removed, or 0. */
#include <stdio.h>
#include <string.h>

#include "followed.h"

#define MOST_OWNERS 8
static int owners[MOST_OWNERS], owner;
#define burst_depth (owners[owner])
#include "followed.c"

struct burst_thread *burst_self(void) { return NULL; }
void burst_miss(struct burst_thread *thread) { (void)thread; }

static void take(unsigned long handle, unsigned long where, int is_message) {
    struct burst_stripe *stripe = burst_followed_locked(handle);
    struct burst_followed *found =
        burst_followed_sought(stripe, handle, (const void *)where, is_message);
    printf("%llu\n", found == NULL ? 0ULL : (unsigned long long)found->id);
    if (found != NULL) burst_followed_drop(stripe, found);
    pthread_mutex_unlock(&stripe->lock);
}

int main(void) {
    char what[8];
    unsigned long handle, where;
    int is_message;
    while (scanf("%7s %d %lu %lu %d", what, &owner, &handle, &where, &is_message) == 5) {
        unsigned long long id = 0;
        if (strcmp(what, "take") == 0) {
            take(handle, where, is_message);
        } else if (scanf("%llu", &id) == 1) {
            burst_followed_insert((struct burst_followed){
                .handle = handle,
                .where = (const void *)where,
                .id = id,
                .kind = is_message ? BURST_IS_MESSAGE : BURST_IS_SEND,
            });
        }
    }
    return 0;
}
