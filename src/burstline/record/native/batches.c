/* batches.c -- Requests and statuses of completion calls. */
#include <stdlib.h>
#include <string.h>

#include "requests.h"

static int is_ignored(const MPI_Status* statuses) {
    return statuses == MPI_STATUSES_IGNORE || statuses == MPI_STATUS_IGNORE;
}

void burst_batch_open(struct burst_batch* batch, int follow, int count, const MPI_Request* requests,
                      MPI_Status* statuses) {
    batch->count = count;
    batch->requests = NULL;
    batch->statuses = statuses;
    batch->block = NULL;
    if (!follow || count <= 0) return;
    const size_t wanted = (size_t)count;
    const int ignored = is_ignored(statuses);
    if (count <= BURST_FEW) {
        batch->requests = batch->few_requests;
        if (ignored) batch->statuses = batch->few_statuses;
    } else {
        const size_t for_statuses = ignored ? wanted * sizeof(MPI_Status) : 0;
        batch->block = malloc(for_statuses + wanted * sizeof(MPI_Request));
        if (batch->block == NULL) {
            burst_miss(burst_self());
            return;
        }
        if (ignored) batch->statuses = batch->block;
        batch->requests = (MPI_Request*)((char*)batch->block + for_statuses);
    }
    batch->where = requests;
    memcpy(batch->requests, requests, wanted * sizeof *requests);
}

void burst_batch_one(struct burst_batch* batch, struct burst_thread* thread, int index,
                     const MPI_Status* status) {
    if (batch->requests == NULL || index < 0 || index >= batch->count) return;
    burst_completed(thread, batch->requests[index], &batch->where[index], status);
}

/* When a call fails, each status tells whether its request is complete. */
static int is_pending(const MPI_Status* status, int error) {
    return error != MPI_SUCCESS && status->MPI_ERROR == MPI_ERR_PENDING;
}

static int is_known(int error) { return error == MPI_SUCCESS || error == MPI_ERR_IN_STATUS; }

void burst_batch_all(struct burst_batch* batch, struct burst_thread* thread, int error) {
    if (batch->requests == NULL || !is_known(error)) return;
    for (int i = 0; i < batch->count; ++i)
        if (!is_pending(&batch->statuses[i], error))
            burst_completed(thread, batch->requests[i], &batch->where[i], &batch->statuses[i]);
}

void burst_batch_some(struct burst_batch* batch, struct burst_thread* thread, int count,
                      const int* indices, int error) {
    if (batch->requests == NULL || count == MPI_UNDEFINED || !is_known(error)) return;
    for (int i = 0; i < count; ++i) burst_batch_one(batch, thread, indices[i], &batch->statuses[i]);
}

void burst_batch_reported(struct burst_batch* batch, struct burst_thread* thread, int count,
                          const int* indices) {
    if (batch->requests == NULL) return;
    for (int i = 0; i < count; ++i) /* some: count may be MPI_UNDEFINED, which is negative */
        burst_reported(thread, batch->requests[indices == NULL ? i : indices[i]],
                       &batch->statuses[i]);
}

void burst_batch_shut(struct burst_batch* batch) { free(batch->block); }
