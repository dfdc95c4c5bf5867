/* signature.h -- Counted calls of a signature run, which is stopped as soon as it told enough.
 *
 * BURSTLINE_MODE=signature with BURSTLINE_PLAN=FILE. The program's deterministic calls are counted
 * as they are left, and hashed; nothing else is recorded. A plan says of each rank at which counts
 * it is to be timed, which hash it has there, and where it is cut: there it waits for the others,
 * and all end with status 0. What became of a rank stands in its file, which is mapped to memory:
 * it is on disk however the process ends.
 *
 * Both files are 64-bit words, little-endian.
 * Plan: BURST_PLAN_MAGIC, version, ranks (0: any number, none of which has boundaries), flags (bit
 * 0: partners and communicators are hashed, too); for each rank the number of its first boundary,
 * how many it has, and its cut (the last of them) or UINT64_MAX; boundaries: count and hash.
 * File of a rank: words as in enum burst_signed, three for each boundary that was reached, and the
 * first line of MPI's version in its last BURST_LIBRARY_BYTES.
 */
#ifndef BURSTLINE_SIGNATURE_H
#define BURSTLINE_SIGNATURE_H

#include "communicators.h"

#define BURST_PLAN_MAGIC "BURSTSIG"
#define BURST_SIGNED_MAGIC "BURSTSGR"
#define BURST_SIGNATURE_VERSION 1
#define BURST_LIBRARY_BYTES 256

enum burst_signed_state {
    BURST_COUNTING = 0,
    BURST_WAITING = 1, /* at its cut, for others */
    BURST_CUT = 2,
    BURST_FINALIZING = 3,  /* came to MPI_Finalize */
    BURST_DISAGREES = 4,   /* the hash at the boundary that follows the stamps */
    BURST_THREADED = 5,    /* refused: MPI_THREAD_MULTIPLE is provided */
    BURST_OTHER_WORLD = 6, /* refused: other ranks than planned, several programs, spawning */
    BURST_NO_PLAN = 7      /* refused: the plan or the rank's file cannot be used */
};

/* Partner of a token, where there is no rank. */
#define BURST_TO_NOBODY 0xffffffu
#define BURST_NO_PARTNER 0xfffffeu
#define BURST_TO_OTHERS 0xfffffdu /* on an intercommunicator */
#define BURST_PARTNER(offset, size) \
    (((uint64_t)(offset) & 0xffffffu) << 24 | ((uint64_t)(size) & 0xffffffu))

void burst_signature_begin(void);            /* MPI_Init is left */
/* The first session has begun, or that one is about to end, of a program with sessions only. */
void burst_signature_session(MPI_Session session);
void burst_signature_session_ending(MPI_Session session);
void burst_signature_boundary(void);         /* the count is that of the next boundary */
void burst_signature_finalizing(void);       /* MPI_Finalize is entered */
void burst_signature_refuse(void);           /* processes are about to be spawned or joined */
void burst_signature_window(MPI_Win handle); /* it was made */
void burst_signature_window_freed(MPI_Win handle);
#define BURST_EVERYBODY (-1)
void burst_signature_locked(MPI_Win handle, int target);
void burst_signature_unlocked(MPI_Win handle, int target);
uint64_t burst_sent_to(MPI_Comm comm, int dest);
uint64_t burst_among(MPI_Comm comm);

/* Behind the leave of a call: whether it counts. */
static inline int burst_counts(void) {
    return __builtin_expect(burst_signature.words != NULL, 0) && burst_depth == 0;
}

static inline void burst_count(uint64_t code, uint64_t partner) {
    uint64_t* words = burst_signature.words;
    const uint64_t count = words[BURST_SIGNED_COUNT] + 1;
    words[BURST_SIGNED_COUNT] = count;
    words[BURST_SIGNED_HASH] += burst_mixed((code << 48 | partner) + count * 0x9e3779b97f4a7c15u);
    if (__builtin_expect(count == burst_signature.next, 0)) burst_signature_boundary();
}

static inline void burst_count_alone(uint64_t code) {
    burst_count(code, burst_signature.is_full ? BURST_PARTNER(BURST_NO_PARTNER, 0) : 0);
}

static inline void burst_count_send(uint64_t code, MPI_Comm comm, int dest) {
    burst_count(code, burst_signature.is_full ? burst_sent_to(comm, dest) : 0);
}

static inline void burst_count_collective(uint64_t code, MPI_Comm comm) {
    burst_count(code, burst_signature.is_full ? burst_among(comm) : 0);
}

#endif
