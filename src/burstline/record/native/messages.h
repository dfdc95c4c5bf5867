/* messages.h -- Messages: what is sent, posted, received and found, and how many bytes that is. */
#ifndef BURSTLINE_MESSAGES_H
#define BURSTLINE_MESSAGES_H

#include "communicators.h"

uint64_t burst_bytes(MPI_Count count, MPI_Datatype type);
uint64_t burst_done_bytes(const MPI_Status* status);

/* Whether a receive that returned `error` took its message, of which there was no room for all. */
int burst_has_come(int error);

/* Of an operation that a later call completes; never 0. */
uint64_t burst_new_id(void);

/* `kind`: BURST_SEND, BURST_POST, or BURST_RECEIVE where the status is not to be trusted. Peers are
 * ranks of the communicator. `id` 0: blocking. */
void burst_message(struct burst_thread* thread, uint16_t kind, struct burst_comm* comm, int peer,
                   int tag, uint64_t bytes, uint64_t id);
/* `kind`: BURST_RECEIVE or BURST_PROBE. `from_nobody`: whatever the status says. */
void burst_status(struct burst_thread* thread, uint16_t kind, struct burst_comm* comm,
                  const MPI_Status* status, uint64_t id, int from_nobody);

#endif
