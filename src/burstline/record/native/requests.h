/* requests.h -- Requests, followed from the call that makes them to the one that completes them.
 *
 * A handle may stand for several operations at once (libraries share one handle for all that is
 * complete at birth), and is used again after completion, by another thread even before this one
 * has come back: operations of the same handle are kept in the order they were started, and
 * complete in this order, first those that the completing thread started itself.
 */
#ifndef BURSTLINE_REQUESTS_H
#define BURSTLINE_REQUESTS_H

#include "followed.h"

/* Requests are followed even where their start is filtered out: a library may give one handle to
 * several, and each completion belongs to one of them. */
void burst_follow(MPI_Request request, MPI_Comm comm, struct burst_followed what);
/* Of a send and a receive. Where the library's status is not to be trusted, the receive is taken
 * to fill its buffer of so many bytes, and that from a wildcard is what the status says. */
void burst_follow_both(MPI_Request request, const uint64_t ids[2], MPI_Comm comm, int source,
                       int tag, uint64_t bytes);
void burst_follow_dup(MPI_Request request, uint64_t id, MPI_Comm* created, uint64_t name);

void burst_start(struct burst_thread* thread, MPI_Request request);
/* `where`: the handle was when the call was entered; the call may have cleared it. */
void burst_completed(struct burst_thread* thread, MPI_Request request, const MPI_Request* where,
                     const MPI_Status* status);
void burst_reported(struct burst_thread* thread, MPI_Request request, const MPI_Status* status);
void burst_released(struct burst_thread* thread, MPI_Request request);
void burst_cancelling(MPI_Request request);

/* Messages between Mprobe and Mrecv: one id for the probe, which decided what is received, for
 * the post and for the completion. */
struct burst_match {
    struct burst_comm* comm; /* NULL: unknown, or from nobody */
    uint64_t id;
};
void burst_matched(struct burst_thread* thread, MPI_Message message, MPI_Comm comm,
                   const MPI_Status* status);
/* Posts what is about to be received. */
struct burst_match burst_unmatched(struct burst_thread* thread, MPI_Message message,
                                   uint64_t bytes);
void burst_received_matched(struct burst_thread* thread, struct burst_match match,
                            const MPI_Status* status);
void burst_follow_matched(MPI_Request request, struct burst_match match);

/* batches.c: requests and statuses of a completion call: its own, because handles are overwritten
 * and statuses may be ignored. */
#define BURST_FEW 16
struct burst_batch {
    int count;
    MPI_Request* requests; /* NULL: no memory, or nothing to follow */
    const MPI_Request* where; /* the program has them */
    MPI_Status* statuses;
    void* block;
    MPI_Request few_requests[BURST_FEW];
    MPI_Status few_statuses[BURST_FEW];
};
void burst_batch_open(struct burst_batch* batch, int follow, int count, const MPI_Request* requests,
                      MPI_Status* statuses);
void burst_batch_all(struct burst_batch* batch, struct burst_thread* thread, int error);
void burst_batch_some(struct burst_batch* batch, struct burst_thread* thread, int count,
                      const int* indices, int error);
void burst_batch_one(struct burst_batch* batch, struct burst_thread* thread, int index,
                     const MPI_Status* status);
/* The first so many are complete and go on, or with indices those that they name. */
void burst_batch_reported(struct burst_batch* batch, struct burst_thread* thread, int count,
                          const int* indices);
void burst_batch_shut(struct burst_batch* batch);

#endif
